"""Whatever is wrong in an experiment file is one line that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore.errors import InputError
from dpcore_experiments.reading import load

GOOD = """
title = "t"
datasets = ["iris", { source = "rows/mine.csv", schema = "mine.json", label = "own" }]
epsilon = [0.1, 1]
adjacency = "replace-one"
folds = 5
repeats = 20
rows = [50, "all"]

[[learner]]
name = "naive_bayes"
parameters = { bins = 4 }

[[learner]]
label = "trees"
name = "cart"
repeats = 10
delta = 1e-6

[short]
datasets = ["iris"]
repeats = 3

[published]
source = "A paper"
private.naive_bayes = { iris = 0.5 }
notes.naive_bayes = { iris = "too low" }
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A good file."""
    found = tmp_path / "e.toml"
    found.write_text(GOOD)
    return found


def test_a_file_says_all_that_an_experiment_is(path: Path) -> None:
    found = load(path)
    assert [d.label for d in found.data] == ["iris", "own"]
    assert found.data[1].source == str(path.parent / "rows/mine.csv")
    assert found.data[1].schema == str(path.parent / "mine.json")
    assert (found.epsilon, found.adjacency, found.rows) == ((0.1, 1.0), ("replace-one",), (50, 0))
    assert [x.label for x in found.learners] == ["naive_bayes", "trees"]
    assert [found.repeats_of(x) for x in found.learners] == [20, 10]
    assert [found.delta_of(x) for x in found.learners] == [0.0, 1e-6]
    assert found.published.private["naive_bayes"]["iris"] == 0.5


def test_the_short_form_changes_what_it_says_and_never_makes_a_learner_longer(path: Path) -> None:
    found = load(path, short=True)
    assert [d.label for d in found.data] == ["iris"]
    assert [found.repeats_of(x) for x in found.learners] == [3, 3]
    assert found.folds == 5


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("folds = 5", "fold = 5", r"e\.toml: the experiment has no 'fold'; nearest: 'folds'"),
        ("folds = 5", "folds = 'five'", "folds must be a whole number. Got 'five'"),
        ("folds = 5", "folds = true", "folds must be a whole number. Got True"),
        ("epsilon = [0.1, 1]", "epsilon = ['x']", "epsilon must be a number"),
        ("epsilon = [0.1, 1]", "epsilon = []", "at least one epsilon"),
        ('rows = [50, "all"]', 'rows = ["some"]', "whole numbers or 'all'"),
        ('adjacency = "replace-one"', "adjacency = 3", "adjacency must be texts"),
        ("parameters = { bins = 4 }", "parametres = {}", "learner 'naive_bayes' has no 'parametres'; nearest"),
        ("parameters = { bins = 4 }", "parameters = 4", "parameters must be a table"),
        ("[[learner]]\nname", "[learner]\nname", "no TOML file"),
        ('name = "cart"', "", "needs a name or an estimator"),
        ('datasets = ["iris"]', "dataset = []", r"\[short\] has no 'dataset'; nearest: 'datasets'"),
        ('schema = "mine.json"', 'shema = "mine.json"', "a data set has no 'shema'; nearest: 'schema'"),
        ("private.naive_bayes = { iris", "private.naive_bay = { iris", "nearest: 'naive_bayes'"),
        ("private.naive_bayes = { iris", "private.naive_bayes = { irs", "nearest: 'iris'"),
        ("private.naive_bayes = { iris = 0.5 }", "private.naive_bayes = 0.5", "must be a table"),
        ('datasets = ["iris",', "datasets = [3,", "datasets must be names"),
        ("folds = 5", "folds =", "no TOML file"),
    ],
)
def test_every_error_is_one_line_that_names_what_is_wrong(path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError, match=words) as caught:
        load(path, short=True)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_missing_short_form_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the experiment"):
        load(tmp_path / "none.toml")
    path = tmp_path / "e.toml"
    path.write_text('datasets = ["iris"]\n[[learner]]\nname = "naive_bayes"\n')
    with pytest.raises(InputError, match=r"no table \[short\]"):
        load(path, short=True)
