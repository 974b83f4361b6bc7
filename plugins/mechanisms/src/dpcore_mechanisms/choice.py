"""Picking one candidate by its score: the exponential mechanism and permute-and-flip, drawn exactly.

With a score that one person moves by at most Delta, both use the rate r = epsilon / (2 Delta); where a person
moves all scores the same way (monotone), r = epsilon / Delta (McSherry & Talwar 2007; McKenna & Sheldon 2020).

A matrix of scores is one choice a row (see `dpcore.query.Choices`): drawn independently, one index each.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.privacy import GDP, ZCDP, Cost, Pure, pure_epsilon


class _Choice(Mechanism):
    accepts: ClassVar[tuple[str, ...]] = ("score",)
    costs: ClassVar[tuple[type[Cost], ...]] = (Pure, ZCDP, GDP)

    def epsilon(self, cost: Cost) -> float:
        """The pure epsilon that the cost pays for."""
        return pure_epsilon(cost)

    def rate(self, bound: Bound, cost: Cost) -> float:
        """What scores are multiplied by."""
        return self.epsilon(cost) / (bound.scalar() * (1 if bound.monotone else 2))

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        # the scale is the drop in score that makes a candidate e times less likely
        return Calibration(1 / self.rate(bound, cost), 0.0, None)

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        rate = Fraction(self.rate(bound, cost))
        if exact.ndim == 1:
            return self.pick(exact, rate, noise)
        return np.array([self.pick(row, rate, noise) for row in exact], dtype=np.float64)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        scores = np.atleast_2d(np.asarray(exact, dtype=np.float64))
        logits = self.rate(bound, cost) * (scores - scores.max(axis=1, keepdims=True))
        chosen = np.atleast_1d(np.asarray(output)).astype(np.intp)
        return math.fsum(self.log_probability(int(i), row) for i, row in zip(chosen, logits, strict=True))

    @abstractmethod
    def pick(self, scores: npt.NDArray[Any], rate: Fraction, noise: NoiseSource) -> int:
        """One choice."""

    @abstractmethod
    def log_probability(self, index: int, logits: npt.NDArray[np.float64]) -> float:
        """Of choosing that candidate; the logits are rate · (score − best)."""


@attrs.frozen
class Exponential(_Choice):
    """Candidate i with probability proportional to exp(rate · score_i)."""

    citation: ClassVar[Citation | None] = Citation(
        key="mcsherry2007mechanism",
        author="McSherry, F. and Talwar, K.",
        title="Mechanism design via differential privacy",
        year=2007,
        venue="FOCS",
        doi="10.1109/FOCS.2007.66",
    )
    notes: ClassVar[str] = (
        "Its loss has range epsilon, so it costs epsilon²/8 zCDP (Cesar & Rogers 2021), a quarter of what "
        "other pure mechanisms do."
    )

    def epsilon(self, cost: Cost) -> float:
        return math.sqrt(8 * cost.rho) if isinstance(cost, ZCDP) else pure_epsilon(cost)

    def pick(self, scores: npt.NDArray[Any], rate: Fraction, noise: NoiseSource) -> int:
        return int(noise.exponential_choice(scores, rate))

    def log_probability(self, index: int, logits: npt.NDArray[np.float64]) -> float:
        return float(logits[index] - np.log(np.sum(np.exp(logits))))


@attrs.frozen
class PermuteAndFlip(_Choice):
    """Go through the candidates in random order; take one with probability exp(rate · (score − best))."""

    citation: ClassVar[Citation | None] = Citation(
        key="mckenna2020permute",
        author="McKenna, R. and Sheldon, D.",
        title="Permute-and-flip: a new mechanism for differentially private selection",
        year=2020,
        venue="NeurIPS",
        url="https://arxiv.org/abs/2010.12603",
    )
    notes: ClassVar[str] = "Never a larger expected error than the exponential mechanism, up to twice smaller."

    def pick(self, scores: npt.NDArray[Any], rate: Fraction, noise: NoiseSource) -> int:
        return int(noise.permute_and_flip(scores, rate))

    def log_probability(self, index: int, logits: npt.NDArray[np.float64]) -> float:
        return _log_win(index, logits.tobytes())


@lru_cache(maxsize=4096)
def _log_win(index: int, logits: bytes) -> float:
    """The log-probability that permute-and-flip chooses a candidate.

    Put the candidates in order of independent uniform times. Candidate i wins at its time u if all that come before
    fail: p_i ∫ Π_{j ≠ i} (1 − u p_j) du, a polynomial that Gauss-Legendre integrates exactly.
    """
    exponents = np.frombuffer(logits)
    nodes, weights = _gauss(len(exponents) // 2 + 1)
    u = (nodes + 1) / 2
    others = np.delete(np.exp(exponents), index)
    integral = np.sum(weights / 2 * np.prod(1 - np.outer(u, others), axis=1))
    return float(exponents[index] + np.log(integral))


@lru_cache(maxsize=64)
def _gauss(degree: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Nodes and weights of Gauss and Legendre; finding them takes longer than using them."""
    return np.polynomial.legendre.leggauss(degree)
