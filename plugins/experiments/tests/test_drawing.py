"""Drawings can stand in one page together, and come out the same each time."""

from __future__ import annotations

import re

from dpcore_experiments.drawing import Budgets, Drawing, line, style


def drawn(name: str) -> str:
    """A small figure as SVG."""
    from matplotlib import pyplot as plt

    with style():
        figure, axes = plt.subplots()
        axes.plot([0, 1], [0, 1], clip_on=True, **line(0))
        try:
            return Drawing(name, "t", "x", figure).svg()
        finally:
            plt.close(figure)


def test_identifiers_of_two_drawings_differ_and_every_reference_has_one() -> None:
    one, two = drawn("one"), drawn("two")
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (one, two)]
    assert not ids[0] & ids[1]
    for text, known in zip((one, two), ids, strict=True):
        assert set(re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', text)) <= known
    assert one == drawn("one")
    assert one.startswith("<svg")
    assert "<metadata>" not in one


def test_thirty_methods_look_different() -> None:
    looks = {(str(line(i)["color"]), line(i)["marker"], str(line(i)["linestyle"])) for i in range(30)}
    assert len(looks) == 30


def test_epsilons_far_apart_stand_at_equal_steps() -> None:
    assert Budgets((1e-11, 0.1, 1.0)).places() == [0.0, 1.0, 2.0]
    assert Budgets((0.01, 0.1, 1.0)).places() == [-2.0, -1.0, 0.0]
    assert not Budgets((0.5,)).stepped
