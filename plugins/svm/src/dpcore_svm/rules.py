"""The default choices: functions of public facts and noisy class sizes, found on many data sets.

What decides is the detail nu = epsilon · n / (parts + 1): about how many rows stand for each unit of noise in a weight,
since a row of that many entries moves the gradient's L1 norm by √(parts + 1), and each entry by 1/√(parts + 1).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

SIZES = 0.02
"""What the class sizes get of the budget."""
SHARE = 0.85
"""What the counts of a centre get of the rest: the less that is left, the more the centre has to be right."""
FEWEST, MOST = 8, 32
"""Bins of a numeric attribute."""
_FINER = 100.0
_SPREAD = 0.52
_NOISY = 8.0
_STRONGEST = 10.0
_CENTRED = 14.0


def rows(sizes: npt.NDArray[np.float64], scale: float) -> float:
    """How many rows there are, from noisy class sizes and their scale: rather too few than too many."""
    return max(0.0, float(sizes.sum()) - scale)


def detail(epsilon: float, n: float, parts: int) -> float:
    """nu."""
    return epsilon * n / (parts + 1)


def bins(nu: float) -> int:
    """Equal bins of a numeric attribute: finer ones follow the data more closely and drown sooner in noise."""
    return FEWEST if nu < _FINER else FEWEST * 2 if nu < 32 * _FINER else MOST


def strength(parts: int, nu: float) -> float:
    """What lam is multiplied by (see `dpcore.risk.Minimiser`), where weights are drawn to 0.

    Noise of scale √(parts + 1) / epsilon in every entry wants a lam that grows with it, as prior variance and noise
    variance weigh against each other. Where nu is small all weights are noise: lam grows until the minimum is the
    gradient at 0 itself, the differences between the classes' counts, where the entry that all rows share, and with it
    the classes' sizes, comes first.
    """
    return _SPREAD * math.sqrt(parts + 1) * min(_STRONGEST, 1 + (_NOISY / max(nu, 1e-9)) ** 2)


def strength_centred(parts: int) -> float:
    """The same where weights are drawn to a centre that has most of the budget: they should leave it for good reason
    only."""
    return _CENTRED * _SPREAD * math.sqrt(parts + 1)
