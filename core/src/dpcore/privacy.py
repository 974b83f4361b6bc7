"""What privacy means here: adjacency, costs and guarantees, as typed values that must match."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import attrs

from dpcore.errors import InputError


class Adjacency(StrEnum):
    """Which two tables count as neighbours.

    `ADD_REMOVE`: one holds one row more than the other; the number of rows is private.
    `REPLACE_ONE`: one row has other values; the number of rows is public.
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @classmethod
    def parse(cls, value: str | Adjacency) -> Adjacency:
        """The adjacency of that name.

        Raises:
            InputError: for another name.
        """
        try:
            return cls(value)
        except ValueError:
            names = " or ".join(a.value for a in cls)
            raise InputError(f"adjacency must be {names}. Got {value!r}.") from None


@attrs.frozen
class Pure:
    """The cost of an epsilon-differentially private release; epsilon ≥ 0."""

    epsilon: float = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen
class ZCDP:
    """The cost of a rho-zCDP release (Bun & Steinke 2016); rho ≥ 0."""

    rho: float = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen
class GDP:
    """The cost of a mu-Gaussian differentially private release (Dong, Roth & Su 2022); `square` is mu²."""

    square: float = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen
class Approximate:
    """The cost of an (epsilon, delta)-differentially private release under basic composition; a pure release may be
    charged as one."""

    epsilon: float = attrs.field(validator=attrs.validators.ge(0))
    delta: float = attrs.field(validator=[attrs.validators.ge(0), attrs.validators.lt(1)])


Cost = Pure | ZCDP | GDP | Approximate


def pure_epsilon(cost: Cost) -> float:
    """The largest epsilon of a pure release that fits the cost.

    epsilon-DP implies epsilon²/2-zCDP (Bun & Steinke 2016, Proposition 1.4), and mu-GDP with
    mu = 2 Φ⁻¹(e^epsilon / (1 + e^epsilon)): the trade-off function of epsilon-DP is two straight lines that meet
    at (a, a), a = 1 / (1 + e^epsilon); that of mu-GDP is convex, ends where they end, and for this mu goes
    through (a, a), so it lies on or under both lines.
    """
    if isinstance(cost, (Pure, Approximate)):
        return cost.epsilon
    if isinstance(cost, ZCDP):
        return math.sqrt(2 * cost.rho)
    half = math.sqrt(cost.square) / 2
    if half < 1:  # log(Φ(half) / Φ(−half)) without loss of digits
        return 2 * math.atanh(math.erf(half / math.sqrt(2)))
    from scipy.special import log_ndtr

    return float(log_ndtr(half) - log_ndtr(-half))


def in_terms_of(cost: Cost, kind: type[ZCDP] | type[GDP]) -> Cost:
    """What a cost amounts to under zCDP or GDP accounting; a pure cost is converted as in `pure_epsilon`.

    Raises:
        TypeError: for a zCDP cost under GDP or the reverse, since neither implies the other tightly; and for an
            (epsilon, delta) cost, which implies neither.
    """
    if isinstance(cost, kind):
        return cost
    if not isinstance(cost, Pure):
        raise TypeError("costs in zCDP, in GDP and in (epsilon, delta) cannot be added")
    if kind is ZCDP:
        return ZCDP(cost.epsilon**2 / 2)
    if cost.epsilon > 700:
        return GDP(math.inf)
    from scipy.special import erfinv, ndtri

    if cost.epsilon < 1:  # 2 Φ⁻¹(e^epsilon / (1 + e^epsilon)) without loss of digits
        half = math.sqrt(2) * float(erfinv(math.tanh(cost.epsilon / 2)))
    else:
        half = -float(ndtri(1 / (1 + math.exp(cost.epsilon))))
    return GDP((2 * half) ** 2)


@attrs.frozen
class Guarantee:
    """What a released model guarantees.

    Args:
        epsilon, delta: (epsilon, delta)-differential privacy; epsilon is inf where there is none.
        adjacency: for which neighbours.
        note: what a reader must know besides.
    """

    epsilon: float
    delta: float
    adjacency: Adjacency
    note: str = ""

    @property
    def kind(self) -> str:
        """`pure`, `approximate` or `none`."""
        if math.isinf(self.epsilon):
            return "none"
        return "approximate" if self.delta > 0 else "pure"


def check_budget(epsilon: Any, delta: Any) -> tuple[float, float]:
    """The budget as floats.

    Raises:
        InputError: unless epsilon is a finite number above 0 and delta lies in [0, 1).
    """
    try:
        eps, dlt = float(epsilon), float(delta)
    except (TypeError, ValueError):
        raise InputError(f"epsilon and delta must be numbers. Got {epsilon!r} and {delta!r}.") from None
    if not (math.isfinite(eps) and eps > 0):
        raise InputError(f"epsilon must be a finite number greater than 0. Got {epsilon!r}.")
    if not 0 <= dlt < 1:
        raise InputError(f"delta must lie in [0, 1). Got {delta!r}.")
    return eps, dlt
