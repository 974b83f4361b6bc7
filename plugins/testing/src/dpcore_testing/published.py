"""What published procedures claim, and what they spend: derived by their plans, and witnessed by the audit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dpcore.errors import CapabilityError
from dpcore.parameters import build
from dpcore.planning import make_plan
from dpcore.privacy import Adjacency
from dpcore.schema import Schema
from dpcore_testing.audit import both_ways
from dpcore_testing.lockstep import replay
from dpcore_testing.outputs import Directed
from dpcore_testing.pairs import eight_nominal, pairs, schemas

if TYPE_CHECKING:
    from dpcore.registry import Registry

EPSILON = 0.1


@attrs.frozen
class Published:
    """One published procedure on one kind of data, under one adjacency.

    Args:
        claimed: the epsilon that the paper states.
        derived: the epsilon that the plan says it spends; infinite where nothing finite holds.
        witnessed: the largest loss that was found; a true epsilon is at least this.
        witnessed_on: the pair of tables, in words.
    """

    learner: str
    settings: str
    data: str
    adjacency: str
    claimed: float
    derived: float
    witnessed: float
    witnessed_on: str

    def to_json(self) -> dict[str, Any]:
        """One object of `dpcore audit --published --json`."""
        return attrs.asdict(self)


def published(
    registry: Registry, *, learner: str | None = None, epsilon: float = EPSILON, seed: int = 0
) -> Iterator[Published]:
    """A row for every published procedure of every learner (`Classifier.published`), data and adjacency.

    Args:
        registry: where learners are found.
        learner: the one to look at; all, if None.
        epsilon: what the papers are asked for.
        seed: decides the outputs.
    """
    data = {"8 nominal attributes": eight_nominal(), "nominal and numeric": schemas()["mixed"]}
    for name in registry.names("classifier") if learner is None else [learner]:
        found = registry.get("classifier", name)
        for settings in found.published:
            for title, schema in data.items():
                for adjacency in map(Adjacency, found.adjacency):
                    try:
                        yield _one(
                            registry, name, settings, (title, schema), adjacency=adjacency, epsilon=epsilon, seed=seed
                        )
                    except CapabilityError:
                        continue


def _one(
    registry: Registry,
    name: str,
    settings: Mapping[str, Any],
    data: tuple[str, Schema],
    *,
    adjacency: Adjacency,
    epsilon: float,
    seed: int,
) -> Published:
    title, schema = data
    learner = build(registry.get("classifier", name), settings)
    plan = make_plan(learner, schema, epsilon=epsilon, adjacency=adjacency, registry=registry)
    rng = np.random.default_rng(seed)
    worst, words = -math.inf, ""
    for pair in both_ways(pairs(schema, adjacency)):
        found = replay(plan, pair, Directed(), rng)
        if found.loss > worst:
            worst, words = found.loss, pair.words
    text = ", ".join(f"{key}={value}" for key, value in settings.items())
    return Published(name, text, title, str(adjacency), epsilon, plan.total[0], worst, words)
