"""The sets that scikit-learn carries need neither a folder nor a network."""

from __future__ import annotations

import pytest

from dpcore_datasets import bundled

COUNTS = {
    "Iris": {"setosa": 50, "versicolor": 50, "virginica": 50},
    "Wine": {"class_0": 59, "class_1": 71, "class_2": 48},
    "Digits": dict(zip("0123456789", (178, 182, 177, 183, 181, 182, 181, 179, 174, 180), strict=True)),
    "BreastCancer": {"malignant": 212, "benign": 357},
}


@pytest.mark.usefixtures("no_network", "cache")
@pytest.mark.parametrize("factory", COUNTS)
def test_rows_need_no_network(factory, monkeypatch):
    monkeypatch.delenv("DPCORE_DATA", raising=False)
    frame = getattr(bundled, factory)().frame()
    assert frame.iloc[:, -1].value_counts().to_dict() == COUNTS[factory]
    assert not frame.isna().any(axis=None)


@pytest.mark.parametrize("factory", COUNTS)
def test_no_bound_is_the_least_or_greatest_value_of_the_rows(factory):
    """A bound may touch the data only where it is a natural zero or documented (digits 0..16)."""
    dataset = getattr(bundled, factory)()
    frame = dataset.frame()
    for attribute in dataset.schema().numeric():
        if factory != "Digits":
            assert attribute.upper > frame[attribute.name].max()
            assert attribute.lower == 0 or attribute.lower < frame[attribute.name].min()


def test_digits_are_the_test_part_of_optdigits(data_folder):
    from dpcore_datasets.uci import Optdigits

    assert (bundled.Digits().frame().to_numpy() == Optdigits().frame().tail(1797).to_numpy()).all()
