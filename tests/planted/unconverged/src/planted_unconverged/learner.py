"""Learners that ask the mechanisms of this package; their fault is the mechanisms'."""

from __future__ import annotations

from typing import ClassVar

import attrs

from planted_unconverged.logistic import Logistic


@attrs.frozen
class Unconverged(Logistic):
    """Logistic regression on the first numeric attribute."""

    mechanism: ClassVar[str] = "one_step"
    rule: ClassVar[str] = "one_step_rule"


@attrs.frozen
class UnconvergedBelieved(Logistic):
    """Logistic regression on the first numeric attribute."""

    mechanism: ClassVar[str] = "one_step_believed"
    rule: ClassVar[str] = "one_step_rule"
