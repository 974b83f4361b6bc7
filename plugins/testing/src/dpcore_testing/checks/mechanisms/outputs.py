"""Where to look at a density: outputs on the released grid, with the share of the line that each stands for."""

from __future__ import annotations

import math

import attrs
import numpy as np
import numpy.typing as npt

from dpcore_testing.checks.mechanisms.cases import Trial

Floats = npt.NDArray[np.float64]
_FAR = 1e12
"""How many times further out than what is near the tails are followed."""


@attrs.frozen(eq=False)
class Line:
    """Possible outputs of a release of one number, increasing, and the log-probability of each one's share.

    Args:
        outputs: on the released grid.
        edges: where each share ends; one more than there are outputs.
        log_mass: normalised.
    """

    outputs: Floats
    edges: Floats
    log_mass: Floats

    def cumulative(self, at: Floats) -> Floats:
        """P(output ≤ at), linear within a share."""
        sums = np.concatenate([[0.0], np.cumsum(np.exp(self.log_mass))])
        return np.asarray(np.interp(at, self.edges, sums / sums[-1]))


def outputs(trial: Trial, centres: list[float], *, fine: int, near: float, wider: float) -> Floats:
    """Outputs around some exact answers (in steps of the exact grid).

    Args:
        fine: how many to a scale, and no more than there are grid points;
        near: how many scales on either side; beyond, each is `wider` times further away than the last.
    """
    grid, unit = trial.grid, trial.unit()
    step = max(grid, grid * round(unit / fine / grid))
    reach = max(math.ceil(near * unit / step), 12)
    close = np.arange(-reach, reach + 1) * step
    far = close[-1] * wider ** np.arange(1, math.ceil(math.log(_FAR) / math.log(wider)))
    middle = grid * round(np.mean(centres) * trial.bound.grid / grid)
    ends = sorted(c * trial.bound.grid - middle for c in centres)
    between = np.arange(math.floor(ends[0] / step), math.ceil(ends[-1] / step) + 1) * step
    spread = np.concatenate([ends[0] - far[::-1], *(close + end for end in ends), between, ends[-1] + far])
    return np.unique(middle + np.rint(spread / grid) * grid)


def line(trial: Trial, exact: float, at: Floats, bound: object = None) -> Line:
    """The normalised distribution of a release of one exact answer, on some outputs."""
    log = np.array([trial.log_density(np.array([o]), np.array([exact]), bound) for o in at])  # type: ignore[arg-type]
    grid = trial.grid
    middles = (at[1:] + at[:-1]) / 2
    edges = np.concatenate([[at[0] - grid / 2], middles, [at[-1] + grid / 2]])
    with np.errstate(divide="ignore"):
        log = log + np.log(np.diff(edges))
    top = log.max()
    return Line(at, edges, log - top - math.log(np.exp(log - top).sum()))


def some_outputs(trial: Trial, exact: npt.NDArray[np.int64], draw: np.random.Generator, many: int) -> list[Floats]:
    """Outputs around a vector: what is drawn, the exact answer itself, and places up to many scales away."""
    grid, unit = trial.grid, trial.unit()
    centre = exact * trial.bound.grid
    found = [np.asarray(output, dtype=np.float64) for output in trial.releases(exact, draw, many // 4)]
    steps = np.array([0.0, 0.25, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0]) * unit
    steps = np.concatenate([steps, np.arange(1, 9) * trial.bound.grid])
    for _ in range(many):
        away = draw.choice(steps, size=exact.shape) * draw.choice([-1, 1], size=exact.shape)
        found.append(np.rint((centre + away) / grid) * grid)
    return found
