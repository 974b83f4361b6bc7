"""A learner that sets its noise by the rule of this package; its fault is the rule's."""

from __future__ import annotations

from typing import ClassVar

import attrs

from planted_ar_under_r1.tables import Tables


@attrs.frozen
class OneForBothTables(Tables):
    """Naive Bayes from noisy tables."""

    mechanisms: ClassVar[tuple[str, ...]] = ("geometric",)
    rule: ClassVar[str] = "ar_under_r1"
