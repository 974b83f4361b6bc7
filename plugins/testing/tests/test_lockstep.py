"""One transcript: its loss is the log-ratio of the densities, and nothing else may differ."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

from dpcore import load_plugins
from dpcore.allocator import Step
from dpcore.classifier import Classifier, Task
from dpcore.curator import Curator
from dpcore.partition import Values
from dpcore.planning import make_plan
from dpcore.privacy import Adjacency
from dpcore.query import Counts
from dpcore.table import Rows
from dpcore_testing.lockstep import Replay, replay, rows_kept
from dpcore_testing.outputs import Central, Directed, Tilted
from dpcore_testing.pairs import Pair, pairs, schemas
from dpcore_testing.probe import ProbeModel

SCHEMA = schemas()["nominal"]
REGISTRY = load_plugins()


@attrs.frozen
class OneTable(Classifier):
    """Asks the class sizes; subclasses make one mistake each."""

    model_class = ProbeModel

    def steps(self, task: Task) -> list[Step]:
        return [Step("sizes", Counts(Values(task.schema.target)), mechanisms=("geometric",))]

    def learn(self, curator: Curator) -> Any:
        return ProbeModel(curator.task.schema, curator.ask("sizes"))


def run(learner: Classifier, pair: Pair, epsilon: float = 0.5, chooser: Any = None) -> Replay:
    plan = make_plan(learner, pair.schema, epsilon=epsilon, adjacency=pair.adjacency, registry=REGISTRY)
    return replay(plan, pair, chooser or Directed(), np.random.default_rng(0))


@pytest.mark.parametrize(("adjacency", "epsilon"), [("add-remove", 0.5), ("replace-one", 3.0)])
def test_a_directed_transcript_reaches_the_whole_epsilon_and_no_more(adjacency: str, epsilon: float) -> None:
    losses = []
    for pair in pairs(SCHEMA, Adjacency(adjacency)):
        for found in (run(OneTable(), pair, epsilon), run(OneTable(), pair.turned(), epsilon)):
            assert found.divergence is None
            assert found.releases == 1
            assert found.spent[0] == pytest.approx(epsilon)
            losses.append(found.loss)
    assert max(losses) == pytest.approx(epsilon)


def test_an_undirected_transcript_loses_less_but_is_a_transcript_all_the_same() -> None:
    pair = pairs(SCHEMA, Adjacency.ADD_REMOVE)[0]
    drawn = run(OneTable(), pair, chooser=Tilted(0.0))
    assert abs(drawn.loss) <= 0.5 * (1 + 1e-9)
    assert drawn.log_weight == pytest.approx(0.0)
    assert run(OneTable(), pair, chooser=Central()).loss == pytest.approx(0.5)


class Adds(OneTable):
    """Puts the exact sizes in the model."""

    def learn(self, curator: Curator) -> Any:
        curator.ask("sizes")
        exact = curator._table.answer(Counts(Values(curator.task.schema.target)))
        return ProbeModel(curator.task.schema, exact)


class Stops(OneTable):
    """Asks nothing of an empty table."""

    def learn(self, curator: Curator) -> Any:
        exact = curator._table.answer(Counts(Values(curator.task.schema.target)))
        return ProbeModel(curator.task.schema, curator.ask("sizes") if exact.sum() else np.zeros(2))


class Fails(OneTable):
    """Cannot work with an empty table, and says so."""

    def learn(self, curator: Curator) -> Any:
        if not curator._table.answer(Counts(Values(curator.task.schema.target))).sum():
            raise ValueError("no rows")
        return super().learn(curator)


class Hoards(OneTable):
    """Keeps the table where the model's JSON does not show it."""

    def learn(self, curator: Curator) -> Any:
        return Hidden(curator.task.schema, curator.ask("sizes"), curator._table)


@attrs.frozen(eq=False)
class Hidden(ProbeModel):
    """A model with something up its sleeve."""

    kept: Any = None


@pytest.mark.parametrize(
    ("learner", "what"), [(Adds, "model"), (Stops, "branch"), (Fails, "error branch"), (Hoards, "rows")]
)
def test_what_differs_though_the_answers_are_equal_is_named(learner: type[Classifier], what: str) -> None:
    pair = pairs(SCHEMA, Adjacency.ADD_REMOVE)[0]
    for one in (pair, pair.turned()):
        found = run(learner(), one)
        assert found.divergence is not None
        assert found.divergence.what in what.split()


class Twice(OneTable):
    """Asks again through a curator of its own."""

    def learn(self, curator: Curator) -> Any:
        task = curator.task
        plan = make_plan(OneTable(), task.schema, epsilon=task.epsilon, adjacency=task.adjacency, registry=REGISTRY)
        other = Curator(curator._table, task, plan.steps, plan.accountant(), curator._noise)
        return ProbeModel(task.schema, curator.ask("sizes") + other.ask("sizes"))


def test_a_curator_that_the_learner_makes_is_seen_too() -> None:
    found = run(Twice(), pairs(SCHEMA, Adjacency.ADD_REMOVE)[0])
    assert found.releases == 2
    assert found.loss == pytest.approx(1.0)
    assert found.spent[0] == pytest.approx(0.5)


def test_rows_are_found_wherever_a_model_hides_them() -> None:
    column = np.arange(6.0)
    rows = Rows(SCHEMA, {"colour": column}, 6)
    model = ProbeModel(SCHEMA, np.zeros(2))
    assert rows_kept(model, rows) == ""
    assert rows_kept(ProbeModel(SCHEMA, {"deep": [column[2:4]]}), rows) == "an array of the rows"
    assert rows_kept(ProbeModel(SCHEMA, lambda: rows), rows) == "a Rows"
    assert rows_kept(ProbeModel(SCHEMA, column.copy()), rows) == ""
