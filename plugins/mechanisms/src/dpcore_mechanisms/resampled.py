"""Laplace noise drawn again until the answer is not negative, as Vaidya et al. (2013) publish it.

Not a harmless truncation: the redraw divides the density by Z(mu) = P(mu + noise ≥ 0) ≥ 1/2, which depends on
the exact answer mu. With Laplace noise of epsilon, a number that rises from mu by x / epsilon of the sensitivity
adds ln(Z(mu + …) / Z(mu)) ≤ g(x) = ln(2 − e^(−x)) to the loss, most at mu = 0; one that falls takes off. Where
only one number can rise (a histogram) the whole loss is at most epsilon + g(epsilon) = ln(2 e^epsilon − 1), reached
at mu = 0; where many can, it is at most epsilon + Σ g(x_i) ≤ 2 epsilon, since g(x) ≤ x. Clamping costs nothing;
this exists for comparison.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.errors import InputError
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost, Pure
from dpcore_mechanisms.laplace import Laplace


@attrs.frozen
class LaplaceResampled(Mechanism):
    """Laplace noise, drawn again while the answer is negative; a negative exact answer counts as 0.

    (To refuse it instead would tell that it is negative; max(·, 0) moves no further than the answer itself.)

    The cost is what is really spent: the noise is that of the epsilon' for which the loss above is the cost.
    """

    accepts: ClassVar[tuple[str, ...]] = ("l1",)
    costs: ClassVar[tuple[type[Cost], ...]] = (Pure,)
    citation: ClassVar[Citation | None] = Citation(
        key="vaidya2013differentially",
        author="Vaidya, J. and Shafiq, B. and Basu, A. and Hong, Y.",
        title="Differentially private naive Bayes classification",
        year=2013,
        venue="IEEE/WIC/ACM International Conferences on Web Intelligence",
        doi="10.1109/WI-IAT.2013.80",
    )
    notes: ClassVar[str] = (
        "Redrawing costs ln(2 e^epsilon − 1) instead of epsilon for the Laplace noise it uses; "
        "the noise is set so that the whole cost is what is charged. Clamping is free and better."
    )

    def inner(self, bound: Bound, cost: Cost) -> Pure:
        """The epsilon' that the noise is set for: ln((e^cost + 1) / 2), or cost / 2 where many may rise."""
        if not isinstance(cost, Pure):
            raise InputError("laplace_resampled needs a pure epsilon.")
        if bound.rises != 1:
            return Pure(cost.epsilon / 2)
        return Pure(math.log1p(math.expm1(cost.epsilon) / 2) if cost.epsilon < 700 else cost.epsilon - math.log(2))

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        return Laplace().calibrate(bound, self.inner(bound, cost))

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        exact, inner = np.maximum(exact, 0), self.inner(bound, cost)
        numbers = np.array(Laplace().release(exact, bound, inner, noise))
        while (again := numbers < 0).any():
            value = bound.value
            if isinstance(value, np.ndarray):
                value = np.broadcast_to(value, exact.shape)[again]
            part = attrs.evolve(bound, value=value)
            numbers[again] = Laplace().release(exact[again], part, inner, noise)
        return numbers

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        if (np.asarray(output) < 0).any():
            return -math.inf
        exact, inner = np.maximum(exact, 0), self.inner(bound, cost)
        body = Laplace().log_density(output, exact, bound, inner)
        values = np.broadcast_to(np.asarray(bound.value, dtype=np.float64), exact.shape).ravel()
        for value, one in zip(values.tolist(), exact.ravel().tolist(), strict=True):
            scale, out = Laplace().steps(value, inner, bound.grid)
            a, mu = math.exp(-1 / float(scale)), one * (bound.grid / out)
            # P(noise ≥ −mu) = 1 − a^(mu + 1) / (1 + a)
            body -= math.log1p(-(a ** (mu + 1)) / (1 + a))
        return body
