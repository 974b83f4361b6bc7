"""Accountants: compose the costs of releases and refuse the one that would exceed the total.

They live in the core, not in a plugin, because they are what every other rule rests on.
Sums are exact (rationals), so no overspending hides in rounding.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dpcore.errors import BudgetError, InputError
from dpcore.privacy import GDP, ZCDP, Approximate, Cost, Pure, check_budget, in_terms_of

_SHY = 1 - 2.0**-46
"""Fractions of a budget are taken a hair short, so that their rounded products cannot sum to more."""


class Accountant(ABC):
    """Turns fractions of a budget into costs, and keeps the sum of what was charged."""

    name: str

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        self.epsilon, self.delta = check_budget(epsilon, delta)

    @abstractmethod
    def cost(self, fraction: float) -> Cost:
        """The cost that is this fraction of the whole budget, 0 < fraction ≤ 1."""

    @abstractmethod
    def charge(self, cost: Cost) -> None:
        """Record a cost.

        Raises:
            BudgetError: if the sum would exceed the budget; nothing is then recorded.
        """

    @abstractmethod
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) of all that was charged."""


class PureAccountant(Accountant):
    """Basic composition: epsilons add up, and so do deltas (Dwork & Roth 2014, Theorem 3.16)."""

    name = "pure"

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        super().__init__(epsilon, delta)
        self._sum, self._deltas = Fraction(0), Fraction(0)

    def cost(self, fraction: float) -> Pure | Approximate:
        share = fraction * _SHY
        if self.delta > 0:
            return Approximate(self.epsilon * share, self.delta * share)
        return Pure(self.epsilon * share)

    def charge(self, cost: Cost) -> None:
        if not isinstance(cost, Pure) and not (isinstance(cost, Approximate) and (self.delta or not cost.delta)):
            raise BudgetError("a pure epsilon budget cannot pay for a release that is not pure.")
        after = self._sum + exactly(cost.epsilon)
        if after > Fraction(self.epsilon):
            raise BudgetError(f"the budget refuses: {float(after):.6g} would be spent of epsilon = {self.epsilon:.6g}.")
        deltas = self._deltas + (Fraction(cost.delta) if isinstance(cost, Approximate) else 0)
        if deltas > Fraction(self.delta):
            raise BudgetError(f"the budget refuses: {float(deltas):.3g} would be spent of delta = {self.delta:.3g}.")
        self._sum, self._deltas = Fraction(after), deltas

    def spent(self) -> tuple[float, float]:
        return float(self._sum), float(self._deltas)


class _Additive(Accountant):
    """Accounting by one number that adds up, turned into (epsilon, delta) at the end."""

    kind: type[ZCDP] | type[GDP]

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        super().__init__(epsilon, delta)
        if self.delta == 0:
            raise InputError(f"accounting by {self.name} needs delta > 0.")
        self._total = self.budget(self.epsilon, self.delta)
        self._sum = Fraction(0)

    @staticmethod
    @abstractmethod
    def budget(epsilon: float, delta: float) -> float:
        """The largest number that implies (epsilon, delta)-DP."""

    @staticmethod
    @abstractmethod
    def epsilon_of(number: float, delta: float) -> float:
        """The smallest epsilon that a number implies at this delta."""

    def cost(self, fraction: float) -> Cost:
        return self.kind(self._total * fraction * _SHY)

    def charge(self, cost: Cost) -> None:
        after = self._sum + exactly(number_of(cost, self.kind))
        if after > Fraction(self._total):
            raise BudgetError(
                f"the budget refuses: {float(after):.6g} would be spent of {self._total:.6g} ({self.name} of "
                f"epsilon = {self.epsilon:.6g}, delta = {self.delta:.3g})."
            )
        self._sum = Fraction(after)

    def spent(self) -> tuple[float, float]:
        number = float(self._sum)
        # within the budget by construction; the search from above must not say otherwise
        return (min(self.epsilon_of(number, self.delta), self.epsilon) if number > 0 else 0.0), self.delta


def exactly(number: float) -> Fraction | float:
    """The number as a rational; infinity, which no budget can pay, as it is."""
    return number if math.isinf(number) else Fraction(number)


def number_of(cost: Cost, kind: type[ZCDP] | type[GDP]) -> float:
    """The number that adds up: rho, or mu²; infinity for a cost with a delta, which implies neither."""
    if isinstance(cost, Approximate):
        cost = Pure(cost.epsilon if cost.delta == 0 else math.inf)
    same = in_terms_of(cost, kind)
    return same.rho if isinstance(same, ZCDP) else same.square if isinstance(same, GDP) else math.inf


class ZcdpAccountant(_Additive):
    """(epsilon, delta) through zero-concentrated differential privacy: rhos add up (Bun & Steinke 2016)."""

    name = "zcdp"
    kind = ZCDP

    @staticmethod
    @lru_cache(maxsize=1024)
    def budget(epsilon: float, delta: float) -> float:
        return largest(lambda rho: zcdp_delta(rho, epsilon) <= delta, epsilon + math.log(1 / delta))

    @staticmethod
    @lru_cache(maxsize=1024)
    def epsilon_of(number: float, delta: float) -> float:
        top = number + 2 * math.sqrt(number * math.log(1 / delta))
        return smallest(lambda epsilon: zcdp_delta(number, epsilon) <= delta, top)


class GdpAccountant(_Additive):
    """(epsilon, delta) through Gaussian differential privacy: mu² adds up (Dong, Roth & Su 2022).

    For a plan whose steps are all Gaussian this is exact: it is one Gaussian mechanism with the analytic
    calibration of Balle & Wang (2018).
    """

    name = "gdp"
    kind = GDP

    @staticmethod
    @lru_cache(maxsize=1024)
    def budget(epsilon: float, delta: float) -> float:
        top = 4.0
        while gdp_delta(top, epsilon) <= delta:
            top *= 4
        return largest(lambda square: gdp_delta(square, epsilon) <= delta, top)

    @staticmethod
    @lru_cache(maxsize=1024)
    def epsilon_of(number: float, delta: float) -> float:
        top = 1.0
        while gdp_delta(number, top) > delta:
            top *= 2
        return smallest(lambda epsilon: gdp_delta(number, epsilon) <= delta, top)


def largest(fits: Callable[[float], bool], top: float) -> float:
    """The largest number in (0, top) that fits (to 1e-9, from below), for a test that fails from there on."""
    low, high = 0.0, top
    while high - low > 1e-9 * high and high > 1e-300:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def smallest(fits: Callable[[float], bool], top: float) -> float:
    """The smallest number in (0, top) that fits (to 1e-9, from above), for a test that holds from there on."""
    low, high = 0.0, top
    while high - low > 1e-9 * high and high > 1e-300:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def gdp_delta(square: float, epsilon: float) -> float:
    """The delta for which mu-GDP, mu² = `square`, is (epsilon, delta)-DP: exact (Balle & Wang 2018, Theorem 8).

    Φ(mu/2 − epsilon/mu) − e^epsilon Φ(−mu/2 − epsilon/mu).
    """
    from scipy.special import log_ndtr

    mu = math.sqrt(square)
    if mu == 0:
        return 0.0
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    return max(0.0, -math.exp(first) * math.expm1(second - first))


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The delta for which rho-zCDP implies (epsilon, delta)-DP.

    inf over alpha > 1 of exp((alpha − 1)(alpha rho − epsilon)) / (alpha − 1) · (1 − 1/alpha)^alpha
    (Canonne, Kamath & Steinke 2020, Corollary 13). Every alpha gives a valid bound, so the search
    need not be exact.
    """
    from scipy.optimize import minimize_scalar

    def log_delta(log_order: float) -> float:
        less_one = math.exp(log_order)
        alpha = 1 + less_one
        body = less_one * (alpha * rho - epsilon) - log_order
        return body + alpha * math.log1p(-1 / alpha)

    # the best order is near (epsilon / rho + 1) / 2, or 1 / √(2 rho) where epsilon is small beside √rho
    centre = math.log(max(epsilon / (2 * rho), 1 / math.sqrt(2 * rho), 1e-3))
    found = minimize_scalar(log_delta, bounds=(centre - 8, centre + 8), method="bounded")
    return min(1.0, math.exp(min(0.0, float(found.fun))))


def accountant(name: str, epsilon: float, delta: float) -> Accountant:
    """The accountant of that name: `pure`, `zcdp` or `gdp`.

    Raises:
        InputError: for another name, or delta = 0 where delta > 0 is needed.
    """
    kinds: dict[str, type[Accountant]] = {a.name: a for a in (PureAccountant, ZcdpAccountant, GdpAccountant)}
    if name not in kinds:
        raise InputError(f"accounting must be one of auto, {', '.join(kinds)} or pld. Got {name!r}.")
    return kinds[name](epsilon, delta)
