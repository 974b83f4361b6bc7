"""What a fit is charged, in whole units: nano-epsilon, and deltas of 1e-18.

A number stands for the decimal that it prints as, so that ten fits of 0.1 are one of 1. Charges are rounded up to the
next unit and budgets down; sums of whole numbers are exact, so spending cannot hide in rounding.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

from dpcore.errors import BudgetError
from dpcore.ledger import Entry
from dpcore.privacy import Adjacency

NANO = 10**9
"""Units of epsilon in 1."""
ATTO = 10**18
"""Units of delta in 1."""
_DIGITS = Context(prec=40)
_HOPELESS = 700.0


def exact(number: float) -> Fraction:
    """The decimal that a float prints as."""
    return Fraction(repr(float(number)))


def up(number: Fraction, unit: int) -> int:
    """The number in units, rounded up."""
    return math.ceil(number * unit)


def down(number: Fraction, unit: int) -> int:
    """The number in units, rounded down."""
    return math.floor(number * unit)


def words(epsilon: int, delta: int) -> str:
    """Units as a person reads them."""
    return f"epsilon = {plain(epsilon, NANO)}, delta = {plain(delta, ATTO)}"


def plain(count: int, unit: int) -> str:
    """A count of units as a decimal text."""
    return f"{Decimal(count) / unit:g}".lower()


def number(count: int, unit: int) -> float:
    """A count of units as the nearest float."""
    return float(Fraction(count, unit))


def charge(entry: Entry, adjacency: Adjacency) -> tuple[int, int]:
    """Units of epsilon and delta that a fit costs in a ledger of this adjacency.

    The guarantee must hold for the ledger's neighbours. A row replaced is one row less and one more, so a guarantee for
    a row more or less holds for it twice over (group privacy): with P, P', P'' for the tables on the way,
    P ≤ e^epsilon P' + delta ≤ e^epsilon (e^epsilon P'' + delta) + delta, which is (2 epsilon, (1 + e^epsilon) delta).
    A guarantee for replaced rows says nothing about a row more or less: it lets the number of rows be public.

    Raises:
        BudgetError: if the fit has no finite epsilon, or none for these neighbours.
    """
    if not math.isfinite(entry.epsilon):
        raise BudgetError(f"the ledger refuses: {entry.learner} as planned has no finite epsilon, which nothing pays.")
    epsilon, delta = exact(entry.epsilon), exact(entry.delta)
    if entry.adjacency is not adjacency:
        if adjacency is Adjacency.ADD_REMOVE:
            raise BudgetError(
                f"the ledger refuses: it is kept for {adjacency} adjacency, and a fit under {entry.adjacency} promises "
                "nothing about a row more or less."
            )
        epsilon, delta = 2 * epsilon, (1 + _exp(entry.epsilon)) * delta
    return up(epsilon, NANO), up(delta, ATTO)


def _exp(epsilon: float) -> Fraction:
    """e^epsilon, rounded up; where that is beyond counting, enough that no delta of a unit or more could be paid."""
    value = Decimal(repr(min(epsilon, _HOPELESS))).exp(_DIGITS)  # correctly rounded in 40 digits
    return Fraction(value) * (1 + Fraction(1, 10**38))
