"""The sound learner with the noise and the rule of its own package."""

from __future__ import annotations

from typing import ClassVar

import attrs

from planted_control_tables.tables import Tables


@attrs.frozen
class ControlTables(Tables):
    """Naive Bayes from noisy tables, by the mechanism and the rule of this package."""

    mechanisms: ClassVar[tuple[str, ...]] = ("control_noise",)
    rule: ClassVar[str] = "control_rule"
