"""Optimal composition of pure releases, through privacy loss distributions (an option; needs dp-accounting).

Of all epsilon_i-DP releases, randomised response with epsilon_i composes worst (Kairouz, Oh & Viswanath 2015), so the
composition of its privacy loss distributions bounds any plan of pure steps. Where delta > 0 and the mechanism is
Laplace noise or a choice, this buys less noise than adding epsilons up; for a plan of Gaussian noise, GDP is exact
and better.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from dpcore.accounting import Accountant
from dpcore.errors import BudgetError, InputError
from dpcore.privacy import Cost, Pure

_STEPS = 2000
"""How finely one release's loss is cut up; rounding is always to the worse side."""


class PldAccountant(Accountant):
    """(epsilon, delta) for a plan that is known whole.

    Args:
        epsilon, delta: the budget; delta > 0.
        asks: the pure epsilon of every ask of the plan, once for every time that it is asked.
        scale: what a fraction of the budget is multiplied by in `cost`.

    Raises:
        InputError: if delta is 0, or dp-accounting is not installed.
    """

    name = "pld"

    def __init__(self, epsilon: float, delta: float, asks: Iterable[float], scale: float = 1.0) -> None:
        super().__init__(epsilon, delta)
        if self.delta == 0:
            raise InputError("accounting by pld needs delta > 0.")
        self._scale = scale
        self._left = Counter(asks)
        self._charged: Counter[float] = Counter()

    @classmethod
    def for_shares(cls, epsilon: float, delta: float, shares: Iterable[float]) -> PldAccountant:
        """For asks that are to get these fractions of the budget, all of them scaled up as far as it allows."""
        asks = [epsilon * share for share in shares]
        scale = 1.0 if delta == 0 else _largest_scale(epsilon, delta, Counter(asks))
        return cls(epsilon, delta, [ask * scale for ask in asks], scale)

    def cost(self, fraction: float) -> Pure:
        return Pure(self.epsilon * fraction * self._scale)

    def charge(self, cost: Cost) -> None:
        """Record one of the planned asks.

        Raises:
            BudgetError: for a cost that is not in the plan, or is charged more often than planned.
        """
        if not isinstance(cost, Pure) or not self._left[cost.epsilon]:
            raise BudgetError("the budget refuses: this release is not in the plan that the budget was set for.")
        self._left[cost.epsilon] -= 1
        self._charged[cost.epsilon] += 1

    def spent(self) -> tuple[float, float]:
        return (composed(self._charged, self.delta) if self._charged else 0.0), self.delta


def composed(asks: Mapping[float, int], delta: float) -> float:
    """The epsilon, at this delta, of so many releases of each pure epsilon; never more than their sum."""
    if math.inf in asks:
        return math.inf
    module, parameters = _dp_accounting()
    grid = max(asks) / _STEPS
    total = None
    for epsilon, times in asks.items():
        one = module.from_privacy_parameters(parameters(epsilon, 0.0), value_discretization_interval=grid)
        many = one.self_compose(times)
        total = many if total is None else total.compose(many)
    found = math.inf if total is None else float(total.get_epsilon_for_delta(delta))
    return min(found, math.fsum(epsilon * times for epsilon, times in asks.items()))


def _largest_scale(epsilon: float, delta: float, asks: Mapping[float, int]) -> float:
    """The largest factor on all asks that keeps the plan within the budget; 1 is basic composition."""
    low, high = 1.0, epsilon / max(asks)
    while high - low > 1e-4 * low:
        middle = (low + high) / 2
        fits = composed({ask * middle: times for ask, times in asks.items()}, delta) <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    return low


def _dp_accounting() -> tuple[Any, Any]:
    try:
        from dp_accounting.pld import privacy_loss_distribution as module
        from dp_accounting.pld.common import DifferentialPrivacyParameters
    except ImportError:
        raise InputError("accounting by pld needs dp-accounting: pip install dpcore[pld].") from None
    return module, DifferentialPrivacyParameters
