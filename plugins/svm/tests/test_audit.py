"""An exact audit finds no more than was charged, whatever the settings."""

from __future__ import annotations

from typing import Any

import pytest

from dpcore.schema import Nominal, Numeric, Schema
from dpcore_testing.audit import audit

ATTRIBUTES = (Nominal("v", ("p", "q"), missing=True), Numeric("x", 0, 4))


@pytest.mark.parametrize(
    ("adjacency", "classes", "settings"),
    [
        ("add-remove", 2, {}),
        ("replace-one", 2, {"encoding": "scaled"}),
        ("replace-one", 3, {"share": 0.3, "bins": 4}),
    ],
    ids=str,
)
def test_no_neighbours_show_a_larger_loss_than_epsilon(
    registry: Any, adjacency: str, classes: int, settings: dict[str, Any]
) -> None:
    schema = Schema(ATTRIBUTES, Nominal("class", tuple("abc"[:classes])))
    reports = audit(
        "svm", epsilon=1.0, adjacency=adjacency, parameters=settings, seconds=1, schema=schema, registry=registry
    )
    for report in reports:
        assert report.verdict == "ok", report
        assert report.loss > 0.8
