"""A budget shared by several fits: what any of them spends is gone for all of them."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any, NoReturn

from dpcore.accounting import exactly
from dpcore.errors import BudgetError, InputError
from dpcore.privacy import check_budget


class Budget:
    """A ceiling on the sum of what several fits spend on the same rows, by basic composition.

    Copies are the same budget: `sklearn.clone`, `copy.deepcopy` and cross-validation all spend from
    the one ceiling. It cannot be sent to another process (use a ledger file for that).

    Args:
        epsilon: finite, > 0.
        delta: in [0, 1).
    """

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        self.epsilon, self.delta = check_budget(epsilon, delta)
        self._spent = [Fraction(0), Fraction(0)]
        self._lock = threading.Lock()

    def reserve(self, epsilon: float, delta: float = 0.0) -> None:
        """Take a fit's whole cost before its first release; it is never given back.

        Raises:
            BudgetError: if not enough is left; nothing is then taken.
            InputError: if a number is negative or not a number.
        """
        if not (epsilon >= 0 and delta >= 0):
            raise InputError(f"a fit cannot cost epsilon = {epsilon!r}, delta = {delta!r}.")
        with self._lock:
            after = [self._spent[0] + exactly(epsilon), self._spent[1] + exactly(delta)]
            if after[0] > Fraction(self.epsilon) or after[1] > Fraction(self.delta):
                left, left_delta = self.remaining()
                raise BudgetError(
                    f"the shared budget refuses: this fit costs epsilon = {epsilon:.6g}, delta = {delta:.3g}, "
                    f"and epsilon = {left:.6g}, delta = {left_delta:.3g} are left."
                )
            self._spent = [Fraction(number) for number in after]

    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) spent so far."""
        return float(self._spent[0]), float(self._spent[1])

    def remaining(self) -> tuple[float, float]:
        """(epsilon, delta) left."""
        return float(Fraction(self.epsilon) - self._spent[0]), float(Fraction(self.delta) - self._spent[1])

    def __repr__(self) -> str:
        return f"Budget(epsilon={self.epsilon!r}, delta={self.delta!r})"

    def __copy__(self) -> Budget:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Budget:
        return self

    def __sklearn_clone__(self) -> Budget:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Budget cannot be copied to another process: what is spent there would not count here.")
