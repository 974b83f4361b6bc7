"""The statistical audit of a classifier from elsewhere, in scikit-learn's style: what it claims to lose, tested by
fitting it again and again on neighbouring tables.

Tables have two numeric attributes within public bounds and two classes. Class values are taken as public, since such
estimators have no way of being told them: both classes stand in both tables. What is looked at is all that a fitted
estimator shows: its public attributes (`name_`) and its predictions at probe points.
"""

from __future__ import annotations

import inspect
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import numpy as np

from dpcore.errors import InputError
from dpcore.privacy import Adjacency
from dpcore_testing.bins import Floats
from dpcore_testing.blackbox import CONFIDENCE
from dpcore_testing.features import Outcome, attempt
from dpcore_testing.loading import defaults_of, load, name_of
from dpcore_testing.trials import Case, Finding, audit_cases, finding

TRIALS = 20_000
BOUNDS = ((100.0, 101.0), (0.0, 1.0))
"""Ranges of the attributes: far from zero, where a sensitivity that forgets the offset shows, and at zero."""
_WIDTH = 2


def audit_estimator(
    estimator: str | Callable[..., Any],
    *,
    parameters: Mapping[str, Any] | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    bounds: Sequence[tuple[float, float]] | None = None,
    adjacency: str = "both",
    trials: int = TRIALS,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> list[Finding]:
    """Bound the loss of a classifier from elsewhere from below.

    Args:
        estimator: `module:Class`, or the class.
        parameters: what to make it with. Where it takes `bounds` or `data_norm` and none is given here, it gets those
            of the tables.
        epsilon, delta: what it claims; by default its parameters of that name.
        bounds: ranges of the attributes to try, each (lower, upper); by default its parameter `bounds`, or `BOUNDS`.
        adjacency: `replace-one` (a label flipped, a value moved), `add-remove` (a row removed), or `both`.
        trials: fits a side on the pair that tells most.
        confidence: of each finding.
        seed: of how scores are learned; the estimator draws its own noise.

    Returns:
        one finding an adjacency.

    Raises:
        InputError: for a wrong argument, no claim, a fixed `random_state`, or an estimator whose fits all fail.
    """
    made = load(estimator) if isinstance(estimator, str) else estimator
    given, defaults = dict(parameters or {}), defaults_of(made)
    if given.get("random_state") is not None:
        raise InputError("random_state makes every fit the same, and an audit needs fresh noise: leave it out.")
    claim = _claim("epsilon", epsilon, given, defaults)
    if claim is None:
        raise InputError(f"{name_of(made)} has no parameter 'epsilon': say which epsilon it claims.")
    slack = _claim("delta", delta, given, defaults) or 0.0
    ranges = list(bounds or _ranges(given.get("bounds")) or BOUNDS)
    if not all(math.isfinite(low) and math.isfinite(high) and low < high for low, high in ranges):
        raise InputError(f"bounds must be pairs of numbers, the lower first. Got {ranges!r}.")
    findings = []
    for one in list(Adjacency) if adjacency == "both" else [Adjacency.parse(adjacency)]:
        start, rng = time.monotonic(), np.random.default_rng(seed)
        cases = [case for low, high in ranges for case in _cases(made, given, defaults, one, (low, high))]
        worst, shown = audit_cases(cases, trials, delta=slack, confidence=confidence, rng=rng)
        about = {
            "name": name_of(made), "kind": "estimator", "adjacency": str(one), "epsilon": claim, "delta": slack,
            "charged": claim, "pairs": len(cases), "trials": trials, "seed": seed,
        }  # fmt: skip
        findings.append(finding(worst, shown, paid=claim, start=start, **about))
    return findings


def _claim(name: str, said: float | None, given: Mapping[str, Any], defaults: Mapping[str | None, Any]) -> float | None:
    value = said if said is not None else given.get(name, defaults.get(name))
    if value is None or value is inspect.Parameter.empty:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise InputError(f"the claimed {name} must be a number of at least 0. Got {value!r}.")
    return float(value)


def _ranges(bounds: Any) -> list[tuple[float, float]]:
    """The one range that covers an estimator's own bounds, (lower, upper), each a number or one an attribute."""
    if bounds is None:
        return []
    try:
        low, high = (np.asarray(end, dtype=np.float64) for end in bounds)
    except (TypeError, ValueError):
        raise InputError(f"bounds must be a lower and an upper bound. Got {bounds!r}.") from None
    return [(float(low.min()), float(high.max()))]


@attrs.frozen(eq=False)
class _Data:
    """A table for an estimator."""

    x: Floats
    y: np.ndarray[Any, np.dtype[np.int64]]


def _tables(low: float, high: float) -> Iterator[tuple[str, _Data]]:
    """Tables whose last row can change, or go, without a class vanishing."""
    middle = (low + high) / 2
    yield "5 rows of each class, one at each end", _data([(low, 0)] * 5 + [(high, 1)] * 5)
    yield "10 rows at the lower bounds, half of each class", _data([(low, 0), (low, 1)] * 5)
    yield "10 rows in the middle and one at the upper bounds", _data([(middle, 0), (middle, 1)] * 5 + [(high, 1)])
    yield (
        "8 rows of the first class all over and 2 of the last",
        _data([(low + (high - low) * i / 7, 0) for i in range(8)] + [(low, 1), (high, 1)]),
    )


def _data(rows: Sequence[tuple[float, int]]) -> _Data:
    return _Data(np.array([[value] * _WIDTH for value, _ in rows]), np.array([label for _, label in rows]))


def _changed(data: _Data, adjacency: Adjacency, low: float, high: float) -> Iterator[tuple[str, _Data]]:
    x, y = data.x, data.y
    if adjacency is Adjacency.ADD_REMOVE:
        yield "the last row removed", _Data(x[:-1], y[:-1])
        return
    yield "the last row's label flipped", _Data(x, np.append(y[:-1], 1 - y[-1]))
    moved = np.where(x[-1] == high, low, high)
    yield "the last row moved to the other bounds", _Data(np.vstack([x[:-1], moved]), y)
    one = np.append(moved[:1], x[-1, 1:])
    yield "the first value of the last row moved to its other bound", _Data(np.vstack([x[:-1], one]), y)


def _cases(
    made: Callable[..., Any],
    given: Mapping[str, Any],
    defaults: Mapping[str | None, Any],
    adjacency: Adjacency,
    bounds: tuple[float, float],
) -> Iterator[Case]:
    low, high = bounds
    own = {"bounds": (low, high), "data_norm": math.sqrt(_WIDTH) * max(abs(low), abs(high))}
    settings = {**{key: value for key, value in own.items() if key in defaults}, **given}
    probes = np.array([[a, b] for a in (low, high) for b in (low, high)] + [[(low + high) / 2] * _WIDTH])
    for words, data in _tables(low, high):
        for change, other in _changed(data, adjacency, low, high):
            sides = [partial(_fits, made, settings, side, probes) for side in (data, other)]
            yield Case(f"{words}; {change}", sides[0], sides[1], f"bounds [{low:g}, {high:g}]")


def _fits(
    made: Callable[..., Any], settings: Mapping[str, Any], data: _Data, probes: Floats, trials: int
) -> list[Outcome]:
    """What many fits on one table show."""

    def once() -> Any:
        fitted = made(**settings)
        fitted.fit(data.x.copy(), data.y.copy())
        return shown(fitted, probes)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [attempt(once) for _ in range(trials)]


def shown(fitted: Any, probes: Floats) -> dict[str, Any]:
    """All that a fitted estimator shows: attributes whose names end in `_`, and what it says of some points."""
    seen = {key: value for key, value in vars(fitted).items() if key.endswith("_") and not key.startswith("_")}
    for method in ("predict_proba", "decision_function", "predict"):
        if hasattr(fitted, method):
            return {**seen, method: np.asarray(getattr(fitted, method)(probes))}
    return seen
