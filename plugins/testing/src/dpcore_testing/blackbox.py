"""The statistical backstop: a lower bound on epsilon from nothing but draws of outputs on two neighbouring inputs.

The draws of each side are cut in halves. On the first half a score and a threshold are learned, that is one event E and
a direction; on the second half E is counted. If the mechanism is (epsilon, delta)-private then P(E | left) ≤
e^epsilon P(E | right) + delta, and the other way round. Clopper-Pearson bounds give p_low ≤ P(E | likelier side) and
q_high ≥ P(E | other side), so epsilon ≥ log((p_low − delta) / q_high).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import InputError
from dpcore_testing.bins import Floats, halvings
from dpcore_testing.scores import Score, learn

CONFIDENCE = 0.999
_LEARNS = 0.6
"""Of the first half: what scores are learned from; the rest chooses among them."""
_THRESHOLDS = 1000
_FEWEST = 20


@attrs.frozen
class Witness:
    """A lower bound on epsilon, and the event that shows it.

    Args:
        epsilon: at least this much is lost (at this delta, with this confidence); 0 where nothing was shown.
        event: in words.
        likelier: the side on which the event comes more often, `left` or `right`.
        hits: held-out draws in the event, left and right.
        trials: held-out draws, left and right.
    """

    epsilon: float
    event: str
    likelier: str
    hits: tuple[int, int]
    trials: tuple[int, int]
    delta: float
    confidence: float

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return attrs.asdict(self)


@attrs.frozen(eq=False)
class Event:
    """An event learned on the first half: the score is at least, or below, a threshold."""

    score: Score
    threshold: float
    above: bool
    likelier: str

    def hits(self, outputs: Floats) -> int:
        """How many outputs are in the event."""
        inside = int(np.count_nonzero(self.score.of(outputs) >= self.threshold))
        return inside if self.above else len(outputs) - inside


def lower_bound(
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    *,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
    rng: np.random.Generator,
    names: Sequence[str] = (),
    thorough: bool = True,
) -> Witness:
    """The largest epsilon that these draws show to be lost.

    Whatever the scores, a mechanism that is (epsilon, delta)-private gets a bound above epsilon with probability at
    most 1 − confidence. Proof: given the first half, E and its direction are fixed, and the second half consists of
    independent draws, so the counts of E are binomial with p = P(E | likelier side) and q = P(E | other side). Each
    Clopper-Pearson bound fails with probability at most (1 − confidence) / 2, so both hold with probability at least
    `confidence`; then p_low ≤ p ≤ e^epsilon q + delta ≤ e^epsilon q_high + delta, which is the claim. Only one
    event is counted: other events, and the other direction, were given up on the first half and share nothing.

    Args:
        left, right: independent draws, shape (trials,) or (trials, features); any floats, NaN and infinities too.
        delta: of the (epsilon, delta) that is claimed.
        confidence: that epsilon is at least what is returned.
        rng: halves the draws and learns; the guarantee does not depend on it.
        names: what to call the features.
        thorough: try all scores that there are, not only the quick ones.

    Raises:
        InputError: for fewer than 20 draws a side, shapes that do not match, or a confidence or delta out of range.
    """
    one, two = _matrix(left), _matrix(right)
    _check(one, two, delta, confidence)
    halves = [np.array_split(rng.permutation(len(x)), 2) for x in (one, two)]
    first, second = ([x[h[i]] for x, h in zip((one, two), halves, strict=True)] for i in (0, 1))
    called = names or (["output"] if one.shape[1] == 1 else [f"number {j + 1}" for j in range(one.shape[1])])
    cuts = [int(_LEARNS * len(x)) for x in first]
    scores = learn(first[0][: cuts[0]], first[1][: cuts[1]], called, rng, thorough=thorough)
    event = _Chooser(delta, confidence).best(scores, first[0][cuts[0] :], first[1][cuts[1] :])
    trials = (len(second[0]), len(second[1]))
    if event is None:
        return Witness(0.0, "none: all outputs are the same", "left", (0, 0), trials, delta, confidence)
    hits = (event.hits(second[0]), event.hits(second[1]))
    p, q = (0, 1) if event.likelier == "left" else (1, 0)
    fails = (1 - confidence) / 2
    low = clopper_pearson(hits[p], trials[p], fails)[0]
    high = clopper_pearson(hits[q], trials[q], fails)[1]
    epsilon = max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
    words = event.score.describe(event.threshold, above=event.above)
    return Witness(epsilon, words, event.likelier, hits, trials, delta, confidence)


def clopper_pearson(hits: int, trials: int, fails: float) -> tuple[float, float]:
    """Bounds on a probability from below and above, each wrong with probability at most `fails`."""
    from scipy.stats import beta

    low = 0.0 if hits == 0 else float(beta.ppf(fails, hits, trials - hits + 1))
    high = 1.0 if hits == trials else float(beta.isf(fails, hits + 1, trials - hits))
    return low, high


def _matrix(draws: npt.ArrayLike) -> Floats:
    array = np.asarray(draws, dtype=np.float64)
    array = np.atleast_1d(array)
    return array.reshape(len(array), math.prod(array.shape[1:]))


def _check(left: Floats, right: Floats, delta: float, confidence: float) -> None:
    if left.shape[1] != right.shape[1] or left.shape[1] == 0:
        raise InputError(f"both sides must have the same features. Got {left.shape[1]} and {right.shape[1]}.")
    if min(len(left), len(right)) < _FEWEST:
        raise InputError(f"an audit needs at least {_FEWEST} trials a side. Got {min(len(left), len(right))}.")
    if not 0 < confidence < 1 or not 0 <= delta < 1:
        raise InputError(f"confidence must lie in (0, 1) and delta in [0, 1). Got {confidence:g} and {delta:g}.")


@attrs.frozen
class _Chooser:
    """Finds the event that promises the largest bound, on the first half alone."""

    delta: float
    confidence: float

    def best(self, scores: Sequence[Score], left: Floats, right: Floats) -> Event | None:
        """The best event of all scores; None without scores."""
        found = [self.threshold(score, left, right) for score in scores]
        return max(found, key=lambda pair: pair[1])[0] if found else None

    def threshold(self, score: Score, left: Floats, right: Floats) -> tuple[Event, float]:
        """The best threshold on one score, and what it promises."""
        a, b = np.sort(score.of(left)), np.sort(score.of(right))
        both = np.sort(np.concatenate([a, b]))
        values = np.unique(both)
        if len(values) > _THRESHOLDS:
            even = np.arange(_THRESHOLDS) * len(both) // _THRESHOLDS
            values = np.unique(both[np.concatenate([even, halvings(len(both))])])
        values = _between(values)
        p, q = 1 - np.searchsorted(a, values) / len(a), 1 - np.searchsorted(b, values) / len(b)
        size = (len(a), len(b))
        promises = np.array(
            [
                self._promise(p, q, size),
                self._promise(q, p, size[::-1]),
                self._promise(1 - p, 1 - q, size),
                self._promise(1 - q, 1 - p, size[::-1]),
            ]
        )
        case, place = np.unravel_index(int(np.argmax(promises)), promises.shape)
        event = Event(score, float(values[place]), above=bool(case < 2), likelier="right" if case % 2 else "left")
        return event, float(promises[case, place])

    def _promise(self, p: Floats, q: Floats, trials: tuple[int, int]) -> Floats:
        """About the bound that an event will give: Wilson's intervals, quicker than Clopper-Pearson's."""
        from scipy.special import ndtri

        z = -ndtri((1 - self.confidence) / 2)
        low, high = _wilson(p, trials[0], -z) - self.delta, _wilson(q, trials[1], z)
        return np.where(low > 0, np.log(np.maximum(low, 1e-300) / high), -np.inf)


def _between(values: Floats) -> Floats:
    """Thresholds that part increasing values as they do themselves, in the middle of the gaps where there is one."""
    with np.errstate(invalid="ignore"):
        middle = values[:-1] / 2 + values[1:] / 2
    middle[np.isneginf(values[:-1])] = np.nextafter(-np.inf, 0)  # minus infinity stays alone
    part = np.isfinite(middle) & (middle > values[:-1]) & (middle < values[1:])
    return np.append(values[:1], np.where(part, middle, values[1:]))


def _wilson(p: Floats, trials: int, z: float) -> Floats:
    share = z * z / trials
    return np.asarray((p + share / 2 + z * np.sqrt(p * (1 - p) / trials + share / (4 * trials))) / (1 + share))
