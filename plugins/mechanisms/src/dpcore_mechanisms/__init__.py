"""Noise mechanisms: Laplace, geometric, Gaussian, discrete Gaussian, exponential, permute-and-flip,
perturbed empirical risk."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanisms of this package."""
    return [
        Component("laplace", "Laplace noise on a fine public grid", "dpcore_mechanisms.laplace:Laplace"),
        Component("geometric", "Laplace noise in whole steps, for counts", "dpcore_mechanisms.laplace:Geometric"),
        Component(
            "laplace_resampled",
            "Laplace noise drawn again until the answer is not negative: costs up to twice its epsilon",
            "dpcore_mechanisms.resampled:LaplaceResampled",
        ),
        Component(
            "gaussian", "Gaussian noise, exactly rounded to a fine public grid", "dpcore_mechanisms.gaussian:Gaussian"
        ),
        Component("discrete_gaussian", "Gaussian noise on the integers", "dpcore_mechanisms.gaussian:DiscreteGaussian"),
        Component(
            "exponential", "Pick a candidate with probability exp(rate · score)", "dpcore_mechanisms.choice:Exponential"
        ),
        Component(
            "permute_and_flip",
            "Pick a candidate by flipping coins in random order; never worse than exponential",
            "dpcore_mechanisms.choice:PermuteAndFlip",
        ),
        Component(
            "objective_perturbation",
            "The minimum of an empirical risk with a random linear term",
            "dpcore_mechanisms.objective:ObjectivePerturbation",
        ),
        Component(
            "objective_chaudhuri2011",
            "The same with the constants of its paper: safe, with more noise than needed",
            "dpcore_mechanisms.objective:Chaudhuri2011",
        ),
        Component(
            "output_perturbation",
            "The minimum of an empirical risk plus noise",
            "dpcore_mechanisms.output:OutputPerturbation",
        ),
    ]
