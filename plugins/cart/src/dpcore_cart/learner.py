"""Private decision trees: the learner and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs

from dpcore.allocator import Step
from dpcore.classifier import Classifier, Model, Task
from dpcore.component import Citation
from dpcore.curator import Curator
from dpcore.errors import CapabilityError, ParameterError
from dpcore.parameters import param
from dpcore.privacy import Adjacency
from dpcore.schema import Nominal, Schema
from dpcore_cart.forest import Forest
from dpcore_cart.gini import NoisyGini, binary_pool, published_cost, published_depth
from dpcore_cart.growing import Growth, depth_for, leaf_share_for
from dpcore_cart.model import TreeModel
from dpcore_cart.pool import pool_of

_MOST_NOISY = 12
"""Levels of noisy Gini at the most: all nodes are split, and their number doubles with each."""


@attrs.frozen
class Cart(Classifier):
    """A decision tree over nominal and numeric attributes, any number of classes, missing cells as values.

    `splitter="exponential"` chooses a split for every node of a level at the price of one choice, whatever the number
    of attributes; noisy counts of each level's leaves say which nodes are worth another split, and all of them
    together, made consistent, give the class probabilities. Counts of small nodes are drawn towards their parents'.
    `splitter="noisy_gini"` adds noise to all counts and chooses by these; `variant="lopuhaa2021"` does so as published.
    `splitter="random"` draws the structure of some trees from a public seed and spends all of epsilon on their leaves.

    Depth where none is given: round(6.5 + 0.8 log2(epsilon)) between 1 and 9, that is 6 at epsilon 0.5 and 1, 4 at 0.1,
    3 at 0.05, 1 at 0.01. The last counts get what one and a half levels get, at most half of the budget.
    """

    model_class: ClassVar[type[Model]] = TreeModel
    citation: ClassVar[Citation | tuple[Citation, ...] | None] = (
        Citation(
            key="friedman2010data",
            author="Friedman, A. and Schuster, A.",
            title="Data mining with differential privacy",
            year=2010,
            venue="KDD",
            doi="10.1145/1835804.1835868",
        ),
        Citation(
            key="lopuhaa2021comparing",
            author="Lopuhaä-Zwakenberg, M. and Alishahi, M. and Kivits, J. and Klarenbeek, J. and "
            "van der Velde, G.-J. and Zannone, N.",
            title="Comparing classifiers' performance under differential privacy",
            year=2021,
            venue="SECRYPT",
            doi="10.5220/0010519000500061",
        ),
        Citation(
            key="jagannathan2009practical",
            author="Jagannathan, G. and Pillaipakkamnatt, K. and Wright, R. N.",
            title="A practical differentially private random decision tree classifier",
            year=2009,
            venue="ICDM Workshops",
            doi="10.1109/ICDMW.2009.93",
        ),
    )
    notes: ClassVar[str] = (
        "Lopuhaä-Zwakenberg et al. divide epsilon by |A| (d + 1) where a row is counted d |A| − d (d − 1)/2 + 1 times: "
        "add-remove costs about 0.7 epsilon, their replace-one adjacency twice that; and they halve numeric attributes "
        "at the data's median, which is private (here: at the middle of the public bounds). "
        "The default spends exactly epsilon. Friedman and Schuster use half the rate that the max score allows under "
        "add-remove adjacency: all its scores move the same way."
    )
    published: ClassVar[tuple[Mapping[str, Any], ...]] = ({"variant": "lopuhaa2021"},)

    splitter: str = param(
        "exponential",
        choices=("exponential", "noisy_gini", "random"),
        help="private choices, noisy counts of everything, or random trees",
    )
    variant: str | None = param(
        None,
        type=str,
        choices=("lopuhaa2021",),
        help="a published procedure as published; says what it really spends",
    )
    depth: int | None = param(None, type=int, low=0, high=24, help="levels of splits; None: by epsilon")
    score: str = param(
        "balanced",
        choices=("balanced", "max", "gini"),
        help="what splits are chosen by: rows got right with the largest class weighed down, rows got right, or Gini",
    )
    selection: str = param(
        "permute_and_flip",
        choices=("permute_and_flip", "exponential"),
        help="the mechanism that chooses splits",
    )
    leaf_share: float | None = param(
        None, type=float, low=0.001, high=0.999, help="of the budget, for the last counts; None: by depth"
    )
    count_share: float = param(0.25, low=0.001, high=0.999, help="of the rest, for the counts of the levels above")
    taper: float = param(0.85, low=0.1, high=10.0, help="the budget of a level over that of the level above it")
    stop: float = param(0.5, low=0.0, high=1e9, help="nodes with fewer rows, in scales of the noise, are not split")
    resolution: int = param(32, low=2, high=4096, help="equal bins of a numeric attribute without cut points")
    multiway: int = param(0, low=0, high=256, help="splits into up to so many values at once; below 3 none")
    most_nodes: int = param(512, low=1, high=65536, help="nodes that one level may split")
    smoothing: float = param(1.0, low=0.0, closed="right", high=1e9, help="rows that a node's parent counts for")
    spread: float = param(
        0.7, low=0.0, closed="right", high=1e3, help="how far a node is thought to differ from its parent"
    )
    trees: int = param(8, low=1, high=1000, help="random: how many")
    seed: int = param(0, low=0, high=2**32, help="random: decides the trees' structure; public")

    def __attrs_post_init__(self) -> None:
        if self.variant is not None and self.splitter == "random":
            raise ParameterError("The 'variant' of Cart goes with splitter='noisy_gini', not with 'random'.")

    def check(self, schema: Schema) -> None:
        super().check(schema)
        if all(isinstance(a, Nominal) and a.cells < 2 for a in schema.attributes):
            raise CapabilityError("Cart needs an attribute with at least two values.")

    def steps(self, task: Task) -> Sequence[Step]:
        return self._way(task).steps(task)

    def learn(self, curator: Curator) -> TreeModel:
        found = self._way(curator.task).learn(curator)
        return TreeModel(curator.task.schema.classes, found if isinstance(found, tuple) else (found,))

    def warning(self, task: Task) -> str:
        if self.variant is None:
            return ""
        way = self._noisy(task)
        asks = sum(step.times for step in way.steps(task))
        spent = asks * published_cost(task, way.pool, way.depth).epsilon
        if task.adjacency is Adjacency.ADD_REMOVE:
            return ""
        return (
            f"lopuhaa2021 spends epsilon = {spent:.4g} where it claims {task.epsilon:.4g} under {task.adjacency} "
            f"adjacency: a replaced row changes two cells of every table of counts."
        )

    def _way(self, task: Task) -> Growth | NoisyGini | Forest:
        """How this task is done, from public facts."""
        depth = depth_for(task.epsilon) if self.depth is None else self.depth
        leaf_share = self.leaf_share or leaf_share_for(depth)
        if self.variant is not None or self.splitter == "noisy_gini":
            return self._noisy(task)
        pool = pool_of(task.schema, self.resolution, multiway=self.multiway)
        if self.splitter == "random":
            return Forest(pool, self.trees, depth, self.seed, self.smoothing, self.spread)
        return Growth(
            pool=pool,
            depth=depth,
            score=self.score,
            selection=self.selection,
            leaf_share=leaf_share,
            count_share=self.count_share,
            taper=self.taper,
            stop=self.stop,
            most=self.most_nodes,
            smoothing=self.smoothing,
            spread=self.spread,
        )

    def _noisy(self, task: Task) -> NoisyGini:
        pool, published = binary_pool(task.schema), self.variant is not None
        depth = self.depth
        if depth is None:
            depth = published_depth(pool) if published else min(4, depth_for(task.epsilon))
        depth = min(depth, len(pool.splits), _MOST_NOISY)
        leaf_share = self.leaf_share or leaf_share_for(depth)
        return NoisyGini(pool, depth, published, leaf_share, self.smoothing, self.spread)
