"""Global sensitivity: how far one person can move an answer, over all tables of any size.

A row falls into one cell of a partition. Under add-remove adjacency one cell changes; under replace-one the row
leaves one cell and enters another, or changes its value within one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import attrs

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.privacy import Adjacency
from dpcore.query import Choice, Counts, Deviations, Means, Query, Sums, Variances
from dpcore.risk import GradientBound, Minimiser
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.table import Table


@attrs.frozen
class Global(SensitivityRule):
    """The worst case over all pairs of neighbours.

    | query | add-remove, L1 = L2 | replace-one, L1 | replace-one, L2 |
    |---|---|---|---|
    | counts | 1 | 2 | √2 |
    | sums of z, \\|z\\| ≤ M | M | 2M | 2M (one cell, −M to M) |
    | sums of z², z² ≤ M | M | 2M | √2 M |
    | means | R/2 | R | R |
    | variances | R²/4 | R²/2 | R²/(2√2) |
    | deviations | R/2 | R | R/√2 |
    | gradient of an empirical risk, at any point, in L2 | 1 | | 2 |

    Means and the rest are bounded without regard to class sizes, which are private: a class of one row that gets
    another moves its mean by R/2 and its variance by R²/4; an empty class is defined as mean = middle and
    variance = R²/12, closer than that to any class of one. Noisy sums over noisy counts serve better.
    """

    kinds: ClassVar[tuple[str, ...]] = ("counts", "sums", "means", "variances", "deviations", "choice", "minimiser")
    norms: ClassVar[tuple[str, ...]] = ("l1", "l2", "score", "gradient")
    citation: ClassVar[Citation | None] = Citation(
        key="dwork2006calibrating",
        author="Dwork, C. and McSherry, F. and Nissim, K. and Smith, A.",
        title="Calibrating noise to sensitivity in private data analysis",
        year=2006,
        venue="Theory of Cryptography",
        doi="10.1007/11681878_14",
    )

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Table | None = None) -> Bound | None:
        if isinstance(query, Choice):
            if norm != "score":
                return None
            value, monotone = query.score.sensitivity(adjacency)
            return Bound(value, "score", monotone=monotone)
        if isinstance(query, Minimiser):
            return _gradient(query, adjacency) if norm == "gradient" else None
        if norm in ("score", "gradient"):
            return None
        if not isinstance(query, (Counts, Sums, Means, Variances, Deviations)):
            return None
        one, slack, signed = _one_row(query)
        value = one + slack
        if adjacency is Adjacency.REPLACE_ONE:
            value *= 2 if norm == "l1" or signed else math.sqrt(2)
        rises = 1 if isinstance(query, Counts) else None
        return Bound(value, norm, grid=query.grid, rises=rises)


def _gradient(query: Minimiser, adjacency: Adjacency) -> Bound:
    """A row's gradient is l'(m) y x, |l'| ≤ 1, ‖x‖ ≤ 1; its Hessian l''(m) x xᵀ, of size at most l'' ‖x‖².

    Of all classes at once: (p − e_y) ⊗ x, and (diag p − p pᵀ) ⊗ x xᵀ.
    """
    rows = 2.0 if adjacency is Adjacency.REPLACE_ONE else 1.0
    joint = query.classes > 1
    return GradientBound(
        rows * math.sqrt(2) if joint else rows,
        "gradient",
        l1=rows * query.features.longest_l1 * (2 if joint else 1),
        width=query.cells,
        curvature=1 - 1 / query.classes if joint else query.loss.curvature,
        strength=query.strength,
        lam=query.lam,
        classes=query.classes,
    )


def _one_row(query: Counts | Sums | Means | Variances | Deviations) -> tuple[float, float, bool]:
    """How far one row more moves an answer, the rounding to add, and whether another row in the same cell can
    move it as far the other way (so that replacing counts twice in one cell).

    Answers are rounded to the grid, which can add one step; sums round each term instead, and `units` holds that.
    Variances and deviations are clipped to their range after it.
    """
    match query:
        case Counts():
            return 1.0, 0.0, False
        case Sums(power=power):
            return query.units * query.grid, 0.0, power == 1
        case Means():
            # a mean of terms that were rounded, each at most `units` of the sums' coarser grid; its float
            # arithmetic may be a hair off before it is rounded itself: two steps are enough
            sums = Sums(query.attribute, query.by)
            return sums.units * sums.grid, 2 * query.grid, True
        case Variances() | Deviations():
            return query.scale, 2 * query.grid, False
