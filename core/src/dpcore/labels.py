"""Which class labels there are, privately, over every label there could be.

Every possible label x has a count, nearly all of them 0. Discrete Laplace noise is added to each, and x is released
if the sum reaches a public threshold T (Cormode, Procopiuc, Srivastava & Tran 2012; Balcer & Vadhan 2018). One person
changes one count by 1 (add-remove) or two (replace-one), so this is the geometric mechanism on a histogram over a
public, finite universe, followed by post-processing: epsilon-DP, with no delta. Labels that no row has cannot be
visited one by one, there are too many; how many of them come before the next one that passes is a geometric
variable, which is drawn instead (to 2^-1000). T is such that none of them passes except with probability 2^-40.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.accounting import Accountant
from dpcore.errors import InputError
from dpcore.noise import NoiseSource
from dpcore.privacy import Adjacency, Pure

_BYTES = 32
_WHOLE = 2**63
_PASS = 40
_PRECISION = 1200


def find_labels(
    labels: npt.NDArray[Any], epsilon: float, bank: Accountant, adjacency: Adjacency, noise: NoiseSource
) -> list[str]:
    """The labels that are common enough, as text, in order.

    Args:
        labels: whole numbers within 64 bits, booleans, or texts of at most 32 bytes in UTF-8.
        epsilon: what this costs; charged to `bank` first.
        bank: the accountant.
        adjacency: for which neighbours.
        noise: where randomness comes from.

    Returns:
        at least two labels; a label that no row has is among them only with probability 2^-40.

    Raises:
        InputError: if a label is of another form, or fewer than two stand out of the noise.
    """
    universe = _Universe(labels)
    bank.charge(Pure(epsilon))
    changes = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    scale = Fraction(changes) / Fraction(epsilon)
    threshold = math.ceil(float(scale) * (math.log(2) * _PASS + universe.log_size)) + 1
    counts = universe.counts(labels)
    noisy = noise.discrete_laplace(scale, len(counts))
    found = {x for (x, n), z in zip(counts.items(), noisy, strict=True) if n + int(z) >= threshold}
    found |= {x for x in universe.absent(scale, threshold, noise) if x not in counts}
    if len(found) < 2:
        raise InputError(
            f"fewer than two classes stand out of the noise (a class needs about {threshold} rows at this epsilon): "
            "name the classes in a schema, or spend more."
        )
    return [universe.text(x) for x in sorted(found)]


class _Universe:
    """All labels of one type, numbered from 0."""

    def __init__(self, labels: npt.NDArray[Any]) -> None:
        kind = labels.dtype.kind
        self.whole = kind in "iufb"
        self.truth = kind == "b"
        self.size = 2 if self.truth else 2 * _WHOLE if self.whole else 256**_BYTES
        self.log_size = math.log(self.size)

    def counts(self, labels: npt.NDArray[Any]) -> dict[int, int]:
        """Number of a label -> its rows."""
        distinct, rows = np.unique(labels if self.whole else labels.astype(str), return_counts=True)
        return {self._number(x): int(n) for x, n in zip(distinct, rows, strict=True)}

    def _number(self, label: Any) -> int:
        if not self.whole:
            # one byte of length would be wasted on texts that end in zero bytes: those are refused
            raw = str(label).encode()
            if len(raw) > _BYTES or raw.endswith(b"\0"):
                raise InputError(f"class labels found privately must be texts of at most {_BYTES} bytes.")
            return int.from_bytes(raw.ljust(_BYTES, b"\0"), "big")
        if self.truth:
            return int(label)
        if label != int(label) or not -_WHOLE <= int(label) < _WHOLE:
            raise InputError("class labels found privately must be whole numbers within 64 bits.")
        return int(label) + _WHOLE

    def text(self, number: int) -> str:
        """The label of a number."""
        if self.truth:
            return str(bool(number))
        if self.whole:
            return str(number - _WHOLE)
        return number.to_bytes(_BYTES, "big").rstrip(b"\0").decode(errors="replace")

    def absent(self, scale: Fraction, threshold: int, noise: NoiseSource) -> Iterator[int]:
        """The numbers whose noise alone reaches the threshold."""
        import mpmath

        context = mpmath.MPContext()
        context.prec = _PRECISION
        a = context.exp(-context.mpf(scale.denominator) / scale.numerator)
        # P(noise ≥ T) = a^T / (1 + a)
        log_fail = context.log1p(-(a**threshold) / (1 + a))
        at = -1
        while True:
            drawn = (context.mpf(int(noise.integers(2**_PRECISION, 1)[0])) + 1) / context.mpf(2) ** _PRECISION
            gap = self.size if log_fail == 0 else context.floor(context.log(drawn) / log_fail)
            at += 1 + int(gap)
            if at >= self.size:
                return
            yield at
