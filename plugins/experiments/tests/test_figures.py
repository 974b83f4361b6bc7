"""Every figure shows what its results hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpcore_experiments.drawing import style
from dpcore_experiments.experiment import Experiment
from dpcore_experiments.figures import all_figures, by_data
from dpcore_experiments.results import Results
from dpcore_experiments.running import run


def test_the_lines_are_the_means(results: Results) -> None:
    from matplotlib import pyplot as plt

    with style():
        panel = by_data(results).figure.axes[0]
    plt.close("all")
    first = panel.get_lines()[0]
    assert list(first.get_ydata()) == [results.summaries["iris", "bins", e].accuracy_mean for e in results.epsilons]
    assert panel.get_title(loc="left") == "iris"


def test_which_figures_there_are(results: Results, make: Callable[..., Experiment]) -> None:
    names = ["accuracy_by_data", "means", "wilcoxon", "boxes", "runtime"]
    assert [drawing.name for drawing in all_figures(results)] == names
    sizes = run(make(rows=(30, 0), repeats=1, learners=make().learners[:1]))
    assert [drawing.name for drawing in all_figures(sizes)] == [
        "accuracy_by_data", "accuracy_by_size", "means", "boxes", "runtime",
    ]  # fmt: skip


def test_no_figure_is_left_open(results: Results) -> None:
    from matplotlib import pyplot as plt

    for drawing in all_figures(results):
        assert np.isfinite(drawing.figure.get_size_inches()).all()
    assert plt.get_fignums() == []
