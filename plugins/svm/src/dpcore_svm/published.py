"""The SVM of Lopuhaä-Zwakenberg et al. (2021), Algorithm 2, with what it really costs.

They add noise b with density ∝ e^(−epsilon'' ‖b‖ / 2) as if every row had norm at most 1, and never shorten rows:
nominal values become whole numbers. With B the longest row that the schema allows, w' = B w turns their objective into
one over rows x / B in the unit ball, with lam / B² and noise b / B. So what they spend is what the mechanism needs for
noise of scale 2 / (B epsilon'') and regularisation n Lambda' / B²: about B times the claim.

Numeric values are taken to be scaled to [−1, 1] by their public bounds. Their n is the private number of rows; here it
is a public parameter. More than two classes are told from all others, with equal shares.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.component import Citation
from dpcore.curator import Curator
from dpcore.features import FeatureMap
from dpcore.losses import HuberHinge
from dpcore.privacy import Pure
from dpcore.risk import Minimiser
from dpcore_svm.encoding import Encoding
from dpcore_svm.model import SvmModel

CHAUDHURI = Citation(
    key="chaudhuri2011differentially",
    author="Chaudhuri, K. and Monteleoni, C. and Sarwate, A.",
    title="Differentially private empirical risk minimization",
    year=2011,
    venue="Journal of Machine Learning Research",
    type="article",
)
LOPUHAA = Citation(
    key="lopuhaa2021comparing",
    author="Lopuhaä-Zwakenberg, M. and Alishahi, M. and Kivits, J. and Klarenbeek, J. and "
    "van der Velde, G.-J. and Zannone, N.",
    title="Comparing classifiers' performance under differential privacy",
    year=2021,
    venue="SECRYPT",
    doi="10.5220/0010519000500061",
)
H = 0.05
LAMBDA = 10**-2.5
_COVER = 1 / 250
"""What the mechanism keeps of its epsilon for the error of the minimum."""


def constants(epsilon: float, n: int) -> tuple[float, float]:
    """epsilon'' and the sum form's n Lambda' (equations 17 to 19)."""
    lam, curvature = n * LAMBDA, 1 / (2 * H)
    left = epsilon - math.log(1 + 2 * curvature / lam + (curvature / lam) ** 2)
    if left > 0:
        return left, lam
    return epsilon / 2, curvature / math.expm1(epsilon / 4)


def spent(features: FeatureMap, epsilon: float, n: int) -> float:
    """What one problem really costs at the most."""
    left, lam = constants(epsilon, n)
    longest = features.longest
    return (longest * left + 2 * math.log1p(longest**2 / (2 * H) / lam)) / (1 - _COVER)


def _encoding() -> Encoding:
    return Encoding("codes", 1)


def steps(task: Task, n: int) -> list[Step]:
    """One question for each class (for the second of two), with the cost that it really has."""
    features = _encoding().features(task.schema)
    classes = len(task.schema.classes)
    codes = [1] if classes == 2 else range(classes)
    epsilon = task.epsilon / len(codes)
    cost = Pure(spent(features, epsilon, n))
    lam = constants(epsilon, n)[1] / features.longest**2
    return [
        Step(
            f"weights of {task.schema.classes[code]}",
            Minimiser(features, task.schema.target, positive=code, loss=HuberHinge(H), lam=lam),
            mechanisms=("objective_chaudhuri2011",),
            group="weights",
            cost=cost,
            claimed=cost,
        )
        for code in codes
    ]


def learn(curator: Curator) -> SvmModel:
    """Ask, and put the model together."""
    task = curator.task
    names = [f"weights of {name}" for name in task.schema.classes]
    if len(names) == 2:
        names = names[1:]
    weights = np.stack([np.asarray(curator.ask(name)) for name in names], axis=1)
    return SvmModel(task.schema, _encoding(), "huber", H, weights)


def warning(task: Task, n: int) -> str:
    """One line: what is really spent, and why."""
    features = _encoding().features(task.schema)
    problems = 1 if len(task.schema.classes) == 2 else len(task.schema.classes)
    epsilon = problems * spent(features, task.epsilon / problems, n)
    return (
        f"lopuhaa2021 claims epsilon = {task.epsilon:g} and may spend {epsilon:.4g}: its noise is for rows of norm 1, "
        f"and rows are as long as {features.longest:.3g}."
    )
