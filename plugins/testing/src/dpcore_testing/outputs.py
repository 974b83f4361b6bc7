"""Which output to force on both runs: the one that tells most, or one drawn so that rare losses are seen often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.errors import PluginError
from dpcore.mechanism import Answer, Mechanism
from dpcore.noise import SeededNoise
from dpcore.privacy import Cost

Exact = npt.NDArray[Any]

_FAR = (-4.0, -0.5, 0.25, 0.5, 1.0, 2.0, 4.0, 40.0)
"""How far past the exact answer, in scales of the noise: the loss of Laplace noise is whole anywhere past it, that of
heavy tails is largest within a few scales, and where the rows set the scale it may be on the other side."""
_ENOUGH = 128


@attrs.frozen(eq=False)
class Side:
    """One run's exact answer and bound at one release."""

    exact: Exact
    bound: Bound


@attrs.frozen(eq=False)
class Chosen:
    """An output, and how likely the way it was chosen was (0 where that does not matter)."""

    output: Answer
    log_proposal: float = 0.0


def log_density(mechanism: Mechanism, output: Answer, side: Side, cost: Cost) -> float:
    """The mechanism's log-density; minus infinity for an impossible output.

    Raises:
        PluginError: if it is not a number.
    """
    with np.errstate(divide="ignore"):
        value = float(mechanism.log_density(output, side.exact, side.bound, cost))
    if np.isnan(value) or value == np.inf:
        raise PluginError(f"{type(mechanism).__name__}.log_density gives {value}, which is no log-density.")
    return value


def log_ratio(first: float, second: float) -> float:
    """first − second, where first is possible; infinite where the second is not."""
    return np.inf if second == -np.inf else first - second


class Directed:
    """For pure guarantees: of many possible outputs the one whose log-ratio is largest.

    A pure guarantee bounds the ratio at every output, and a sequence of possible outputs is a possible output of the
    whole: the sum of the largest ratios is a true loss.
    """

    def choose(self, mechanism: Mechanism, here: Side, there: Side, cost: Cost, rng: np.random.Generator) -> Chosen:
        best, most = None, -np.inf
        for output in _candidates(mechanism, here, there, cost, int(rng.integers(2**62))):
            possible = log_density(mechanism, output, here, cost)
            if possible == -np.inf:
                continue
            ratio = log_ratio(possible, log_density(mechanism, output, there, cost))
            if best is None or ratio > most:
                best, most = output, ratio
        if best is None:
            raise PluginError(f"{type(mechanism).__name__} drew an output that its own log_density calls impossible.")
        return Chosen(best)


def _candidates(mechanism: Mechanism, here: Side, there: Side, cost: Cost, seed: int) -> Iterator[Answer]:
    if here.bound.norm == "score":
        yield from _choices(here.exact, there.exact)
        return
    # with the same noise on both sides, their difference is the way in which the output moves
    drawn = mechanism.release(here.exact, here.bound, cost, SeededNoise(seed))
    yield drawn
    other = mechanism.release(there.exact, there.bound, cost, SeededNoise(seed))
    yield other
    if isinstance(drawn, int) or isinstance(other, int) or drawn.shape != other.shape:
        return
    way = drawn - other
    if not way.any():
        return
    if drawn.shape != here.exact.shape:  # not noise added to the answer: go along the line, in both directions
        yield from (drawn + sign * 2.0**k * way for k in range(-2, 11) for sign in (1, -1))
        return
    scale, grid = _scale(mechanism, here, cost, drawn)
    ways = [(here.exact * here.bound.grid, far) for far in _FAR]
    for start, far in [*ways, (drawn, _FAR[-1]), (drawn, -_FAR[-1])]:
        output = start + np.sign(way) * np.sign(far) * np.maximum(np.round(abs(far) * scale / grid), 1.0) * grid
        yield output
        if (output < 0).any():  # what a mechanism that gives out no negative numbers can give out
            yield np.maximum(output, 0.0)


def _choices(here: Exact, there: Exact) -> Iterator[Answer]:
    """On either side of the largest changes, and the best of each; where scores are a matrix, one row at a time."""
    if here.ndim == 1:
        order = np.argsort(there - here, kind="stable")
        some = [*order[: _ENOUGH // 2], *order[-_ENOUGH // 2 :], np.argmax(here), np.argmax(there)]
        yield from sorted({int(i) for i in some})
        return
    fallen = np.argmax(here - there, axis=1)
    for start in (fallen, np.argmin(here - there, axis=1), np.argmax(here, axis=1), np.argmax(there, axis=1)):
        yield start.astype(np.float64)
    for row in np.flatnonzero((here != there).any(axis=1)):  # one or two: a person is in few rows
        for index in _choices(here[row], there[row]):
            output = fallen.astype(np.float64)
            output[row] = index
            yield output


def _scale(mechanism: Mechanism, side: Side, cost: Cost, drawn: npt.NDArray[np.float64]) -> tuple[Any, float]:
    """The noise's scale and grid; where the mechanism has no single one, the size of what it drew."""
    calibration = mechanism.calibrate(side.bound, cost)
    grid = calibration.grid or side.bound.grid
    if calibration.scale is not None:
        return calibration.scale, grid
    return np.maximum(np.abs(drawn - side.exact * side.bound.grid), grid), grid


@attrs.frozen
class Tilted:
    """For approximate guarantees: outputs drawn around an answer moved on by `tilt` times the difference.

    Losses that are rare under the true answer become common, and `log_proposal` says by how much, so that their
    probability can be estimated (importance sampling).
    """

    tilt: float = 0.0

    def choose(self, mechanism: Mechanism, here: Side, there: Side, cost: Cost, rng: np.random.Generator) -> Chosen:
        centre = here.exact
        if centre.dtype != object and centre.shape == there.exact.shape:  # an answer that is no number is not moved
            move = self.tilt * (here.exact - there.exact).astype(np.float64)
            whole = np.issubdtype(centre.dtype, np.integer)
            centre = centre + (np.rint(move).astype(centre.dtype) if whole else move)
        output = mechanism.release(centre, here.bound, cost, SeededNoise(int(rng.integers(2**62))))
        return Chosen(output, log_density(mechanism, output, Side(centre, here.bound), cost))


class Central:
    """No noise: the loss at the exact answer itself, half of mu² for Gaussian noise; to compare pairs by."""

    def choose(self, mechanism: Mechanism, here: Side, there: Side, cost: Cost, rng: np.random.Generator) -> Chosen:
        drawn = mechanism.release(here.exact, here.bound, cost, SeededNoise(int(rng.integers(2**62))))
        output: Answer
        if here.bound.norm == "score":
            fallen = np.argmax(here.exact - there.exact, axis=-1)
            output = int(fallen) if fallen.ndim == 0 else fallen.astype(np.float64)
        else:
            output = drawn if here.exact.dtype == object else here.exact * here.bound.grid
        if isinstance(drawn, np.ndarray) and drawn.shape != np.shape(output):
            output = drawn
        return Chosen(output, log_density(mechanism, output, here, cost))


Chooser = Directed | Tilted | Central
