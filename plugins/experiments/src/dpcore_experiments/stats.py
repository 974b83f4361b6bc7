"""The tests of a comparison, on plain numbers.

A method's figure on a fold is its mean over the repeats, since new noise on the same fold is no new training set. Folds
share training rows, so their figures are not independent: the corrected resampled t-test of Nadeau & Bengio (2003) adds
test/train to 1/folds in the variance of a mean. Over data sets and epsilons, the Wilcoxon signed-rank test is used as
in Demšar (2006), half of the zero differences counted to either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import InputError

Floats = npt.NDArray[np.float64]
LEVEL = 0.05
"""A difference with a p-value of at most this is called significant."""


@attrs.frozen
class Test:
    """A two-sided test of "no difference".

    Args:
        difference: the mean of first − second.
        statistic: t, or z of the signed-rank test.
        p: the p-value.
    """

    __test__ = False  # pytest takes classes of this name for tests

    difference: float
    statistic: float
    p: float

    @property
    def mark(self) -> str:
        """Weka's: `v` where the first is significantly better, `*` where it is significantly worse."""
        if not self.p <= LEVEL:
            return ""
        return "v" if self.difference > 0 else "*"


def corrected_t(first: Sequence[float] | Floats, second: Sequence[float] | Floats, test_by_train: float) -> Test:
    """The corrected paired t-test: t = mean(d) / √((1/k + test/train) var(d)), with k − 1 degrees of freedom.

    Args:
        first, second: one figure a fold, of the same folds.
        test_by_train: test rows over training rows. Without it the test would find far too much.

    Raises:
        InputError: for fewer than two folds, unequal numbers of them, or a ratio that is not positive.
    """
    from scipy.stats import t as student

    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or len(x) < 2:
        raise InputError("a paired test needs the same folds of both, at least two.")
    differences = x - y
    mean, error = float(differences.mean()), _standard_error(differences, test_by_train)
    if error == 0:
        statistic = 0.0 if mean == 0 else math.copysign(math.inf, mean)
        return Test(mean, statistic, 1.0 if mean == 0 else 0.0)
    statistic = mean / error
    return Test(mean, statistic, float(2 * student.sf(abs(statistic), len(x) - 1)))


def interval(values: Sequence[float] | Floats, test_by_train: float, confidence: float = 0.95) -> tuple[float, float]:
    """A confidence interval of a mean over folds, with the same correction.

    Raises:
        InputError: for fewer than two folds, or a ratio that is not positive.
    """
    from scipy.stats import t as student

    x = np.asarray(values, dtype=np.float64)
    if len(x) < 2:
        raise InputError("an interval needs at least two folds.")
    half = float(student.ppf((1 + confidence) / 2, len(x) - 1)) * _standard_error(x, test_by_train)
    return float(x.mean()) - half, float(x.mean()) + half


def _standard_error(values: Floats, test_by_train: float) -> float:
    if not 0 < test_by_train < math.inf:
        raise InputError(f"the correction needs test rows over training rows, above 0. Got {test_by_train!r}.")
    spread = float(values.var(ddof=1))
    # equal numbers must have no spread, whatever is left of rounding
    if spread <= (1e-12 * max(1.0, float(np.abs(values).max()))) ** 2:
        return 0.0
    return math.sqrt((1 / len(values) + test_by_train) * spread)


def signed_rank(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> Test:
    """The Wilcoxon signed-rank test by its normal approximation, ranks of zero differences split.

    Args:
        first, second: one figure a combination of data set and epsilon, in the same order.

    Raises:
        InputError: for unequal numbers of them, or none.
    """
    from scipy.stats import wilcoxon

    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or len(x) == 0:
        raise InputError("a signed-rank test needs the same cases of both, at least one.")
    difference = float((x - y).mean())
    if not (x - y).any():
        return Test(0.0, 0.0, 1.0)
    found: Any = wilcoxon(x, y, zero_method="zsplit", correction=False, method="approx")
    return Test(difference, float(found.zstatistic), float(found.pvalue))


@attrs.frozen
class Standing:
    """How often a method is significantly better and worse than the others."""

    method: str
    wins: int
    losses: int

    @property
    def balance(self) -> int:
        """Wins minus losses: what the ranking goes by."""
        return self.wins - self.losses


def ranking(methods: Sequence[str], tests: Sequence[tuple[str, str, Test]]) -> list[Standing]:
    """Weka's ranking, best first: over all cases and pairs, who is significantly better than whom.

    Args:
        methods: all of them.
        tests: (first, second, test) of each pair in each case.
    """
    wins, losses = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0)
    for first, second, test in tests:
        better, worse = (first, second) if test.mark == "v" else (second, first)
        if test.mark:
            wins[better] += 1
            losses[worse] += 1
    found = [Standing(method, wins[method], losses[method]) for method in methods]
    return sorted(found, key=lambda one: (-one.balance, -one.wins, methods.index(one.method)))
