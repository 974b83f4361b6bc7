"""An experiment refuses what could not be run, and says what would be right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpcore.errors import InputError
from dpcore_experiments.experiment import Data, Experiment, Learner


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": ()}, "at least one data set"),
        ({"learners": ()}, "at least one learner"),
        ({"epsilon": (0.1, 0.1)}, "different values"),
        ({"epsilon": (-1.0,)}, "greater than 0"),
        ({"delta": 1.0}, "delta"),
        ({"adjacency": ("nobody",)}, "nobody"),
        ({"folds": 1}, "folds must be a whole number from 2"),
        ({"repeats": 0}, "repeats must be a whole number from 1"),
        ({"seed": 2**32}, "seed"),
        ({"rows": (1,)}, "rows must be"),
        ({"data": (Data("a", "iris"), Data("a", "wine"))}, "two data sets are called 'a'"),
        ({"learners": (Learner("a", "naive_bayes"), Learner("a", "cart"))}, "two learners are called 'a'"),
        ({"learners": (Learner("a", "naive_bayes"), Learner("b", "naive_bayes"))}, "the same but for their labels"),
        ({"learners": (Learner("a"),)}, "needs a name or an estimator"),
        ({"learners": (Learner("a", "b", "c:d"),)}, "and not both"),
        ({"learners": (Learner("a", estimator="c:d", encoding="raw"),)}, "onehot or ordinal"),
        ({"learners": (Learner("a", estimator="c:d", mechanism="laplace"),)}, "parameters only"),
        ({"learners": (Learner("a", "b", parameters={"c": float("inf")}),)}, "learner 'a': parameters must be finite"),
    ],
)
def test_what_is_wrong_is_named(make: Callable[..., Experiment], changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        make(**changes)


def test_units_cover_every_combination_once_and_keep_what_is_shared_together(make: Callable[..., Experiment]) -> None:
    units = make(rows=(20, 0), adjacency=("add-remove", "replace-one")).units()
    assert len(units) == len(set(units)) == 2 * 2 * 3 * 2
    assert [u.fold for u in units] == sorted(u.fold for u in units)


def test_a_part_is_chosen_by_label_or_name(make: Callable[..., Experiment]) -> None:
    assert [x.label for x in make().only(("moments",)).learners] == ["moments"]
    assert len(make().only(("naive_bayes",)).learners) == 2
    assert make().only() == make()
    with pytest.raises(InputError, match=r"has no 'svm'; it has: bins, moments"):
        make().only(("svm",))
    with pytest.raises(InputError, match=r"has no 'wine'; it has: iris"):
        make().only(data=("wine",))


def test_settings_do_not_depend_on_the_label_or_on_the_order_of_parameters() -> None:
    one = Learner("a", "naive_bayes", parameters={"bins": 4, "smoothing": 2.0})
    two = Learner("b", "naive_bayes", parameters={"smoothing": 2.0, "bins": 4})
    assert one.settings == two.settings
    assert one.settings != Learner("a", "naive_bayes", parameters={"bins": 5}).settings
