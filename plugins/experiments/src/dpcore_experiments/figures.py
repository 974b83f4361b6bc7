"""The figures of a report, drawn by matplotlib; it is imported when the first is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore_experiments.drawing import INK, QUIET, Budgets, Drawing, colour, grid, legend, line, style
from dpcore_experiments.experiment import ALL
from dpcore_experiments.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ASIDE = 0.16
"""How far the first and the last method stand apart, in steps between epsilons."""


def all_figures(results: Results) -> Iterator[Drawing]:
    """Every figure of a report, one at a time; each is closed when the next is asked for."""
    from matplotlib import pyplot as plt

    makers = [by_data, means, boxes, runtime]
    if len(results.whole) > 1:
        makers.insert(2, heat_map)
    if len(results.experiment.rows) > 1:
        makers.insert(1, by_size)
    for make in makers:
        with style():
            drawing = make(results)
            yield drawing
            plt.close(drawing.figure)


def by_data(results: Results) -> Drawing:
    """Accuracy against epsilon, one panel a data set."""
    figure, axes = grid(len(results.data))
    budgets = Budgets(tuple(results.epsilons))
    x = budgets.places()
    handles: list[Any] = []
    for i, (data, panel) in enumerate(zip(results.data, axes, strict=True)):
        handles = []
        for m, method in enumerate(results.whole):
            row = [results.summaries[data, method, e] for e in results.epsilons]
            y = [s.accuracy_mean for s in row]
            ends = [
                [s.accuracy_mean - max(0.0, s.accuracy_low) for s in row],
                [min(1.0, s.accuracy_high) - s.accuracy_mean for s in row],
            ]
            # beside each other, so that the intervals of methods that do alike can be told apart
            off = (m / max(1, len(results.whole) - 1) - 0.5) * _ASIDE * budgets.step * (len(results.whole) > 1)
            aside = [place + off for place in x]
            panel.errorbar(aside, y, ends, fmt="none", ecolor=colour(m), elinewidth=1, alpha=0.65, zorder=2)
            handles += panel.plot(aside, y, **line(m))
            if not math.isnan(row[0].non_private_accuracy):
                panel.axhline(
                    row[0].non_private_accuracy, color=colour(m), linewidth=1, linestyle=(0, (4, 3)), zorder=1
                )
        majority = results.summaries[data, results.whole[0], results.epsilons[0]].majority_accuracy
        handles.append(panel.axhline(majority, color=INK, linewidth=1, linestyle=":", zorder=1))
        panel.set_title(data)
        budgets.label(panel, words=i >= len(axes) - 3)
        if i % 3 == 0:
            panel.set_ylabel("accuracy")
    axes[0].set_ylim(*_limits(results))
    legend(figure, handles, [*results.whole, "majority class"], float(figure.get_size_inches()[0]))
    text = (
        "Lines: mean over folds and repeats; bars: 95% interval of the mean, corrected for the folds' overlap. Dashed "
        "lines of the same colour: the same method with exact answers."
    )
    return Drawing("accuracy_by_data", "Accuracy on each data set", text, figure)


def _limits(results: Results) -> tuple[float, float]:
    found = [s for s in results.summaries.values() if s.method in results.whole]
    low = min(min(s.accuracy_mean, s.majority_accuracy) for s in found)
    high = max(max(s.accuracy_mean, np.nan_to_num(s.non_private_accuracy)) for s in found)
    return max(0.0, low - 0.06), min(1.02, high + 0.04)


def by_size(results: Results) -> Drawing:
    """Accuracy against epsilon for several training sizes: a row of panels a method, a column a data set."""
    from matplotlib import colormaps
    from matplotlib import pyplot as plt

    learners = results.by_size()
    size = (max(2.1 * len(results.data), 6.4), 1.5 * len(learners) + 0.8)
    figure, axes = plt.subplots(
        len(learners), len(results.data), figsize=size, sharey=True, sharex=True, layout="constrained", squeeze=False
    )
    budgets = Budgets(tuple(results.epsilons))
    handles: list[Any] = []
    labels: list[str] = []
    for row, (learner, sizes) in zip(axes, learners.items(), strict=True):
        shades = colormaps["viridis"](np.linspace(0.08, 0.78, len(sizes)))
        for panel, data in zip(row, results.data, strict=True):
            handles, labels = [], []
            for s, (rows, method) in enumerate(sizes.items()):
                y = [results.summaries[data, method, e].accuracy_mean for e in results.epsilons]
                handles += panel.plot(budgets.places(), y, **{**line(s), "color": shades[s]})
                labels.append("all rows" if rows == ALL else f"{rows:,} rows")
            majority = results.summaries[data, results.whole[0], results.epsilons[0]].majority_accuracy
            handles.append(panel.axhline(majority, color=INK, linewidth=1, linestyle=":", zorder=1))
            budgets.label(panel, words=row is axes[-1])
        row[0].set_ylabel(learner, fontsize=8)
    for panel, data in zip(axes[0], results.data, strict=True):
        panel.set_title(data)
    legend(figure, handles, [*labels, "majority class"], size[0])
    text = (
        "Training rows are drawn from the fold's, smaller sets from larger ones; where a fold has fewer, all are "
        "taken. Vertical axis: accuracy."
    )
    return Drawing("accuracy_by_size", "Accuracy by size of the training set", text, figure)


def means(results: Results) -> Drawing:
    """Mean accuracy over the data sets, and its ratio to that without noise."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.9, 3.6), layout="constrained")
    budgets = Budgets(tuple(results.epsilons))
    x = budgets.places()
    handles = []
    for m, method in enumerate(results.whole):
        handles += left.plot(x, [results.mean(method, e) for e in results.epsilons], **line(m))
        right.plot(x, [results.mean(method, e, "ratio") for e in results.epsilons], **line(m))
    right.axhline(1.0, color=QUIET, linewidth=1, linestyle="--", zorder=1)
    for panel, title in ((left, "accuracy"), (right, "ratio to the same without noise")):
        panel.set_title(title)
        budgets.label(panel)
    legend(figure, handles, results.whole, 9.9)
    return Drawing(
        "means", "Mean over the data sets", "Each data set counts the same, whatever its size.", figure
    )  # fmt: skip


def heat_map(results: Results) -> Drawing:
    """p-values of the signed-rank test."""
    from matplotlib import pyplot as plt
    from matplotlib.colors import LogNorm

    methods = results.whole
    p = np.array([[1.0 if a == b else results.signed_ranks[a, b].p for b in methods] for a in methods])
    shown = np.ma.masked_where(np.eye(len(methods), dtype=bool), np.maximum(p, 1e-6))
    side = 0.85 * len(methods) + 1.2
    figure, axes = plt.subplots(figsize=(side + 2.4, side), layout="constrained")
    scale = LogNorm(1e-4, 1.0, clip=True)
    image = axes.imshow(shown, cmap="Blues_r", norm=scale)
    for i in range(len(methods)):
        for j in range(len(methods)):
            if i != j:
                light = INK if scale(p[i, j]) > 0.45 else "white"
                mark = results.signed_ranks[methods[i], methods[j]].mark
                axes.text(j, i, f"{p[i, j]:.2g} {mark}".strip(), ha="center", va="center", color=light, fontsize=9)
    axes.set_xticks(range(len(methods)), methods, rotation=35, ha="right", color=INK)
    axes.set_yticks(range(len(methods)), methods, color=INK)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, shrink=0.8, extend="min")
    bar.ax.axhline(0.05, color=colour(1), linewidth=2)
    bar.set_label("p-value (line: 0.05)")
    bar.outline.set_visible(False)
    text = "v: the row's method is significantly better than the column's over all data sets and epsilons; *: worse."
    return Drawing("wilcoxon", "Wilcoxon signed-rank test of each pair", text, figure)


def boxes(results: Results) -> Drawing:
    """The spread over methods and data sets at each epsilon, of accuracy and of the ratio."""
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9.9, 3.6), layout="constrained")
    for panel, title, of in zip(
        panels, ("accuracy", "ratio to the same without noise"), ("accuracy_mean", "ratio"), strict=True
    ):
        _box(panel, [[getattr(results.summaries[d, m, e], of) for d in results.data for m in results.whole]
                     for e in results.epsilons])  # fmt: skip
        panel.set_title(title)
        panel.set_xticks(range(len(results.epsilons)), [f"{e:g}" for e in results.epsilons], rotation=45, fontsize=7.5)
        panel.set_xlabel("epsilon of a whole fit")
    panels[1].axhline(1.0, color=QUIET, linewidth=1, linestyle="--", zorder=1)
    many = len(results.whole) * len(results.data)
    text = (
        f"Each box is over {many} means, one a method and data set: quartiles and median; whiskers reach to the "
        "farthest mean within 1.5 boxes."
    )
    return Drawing("boxes", "Spread over methods and data sets", text, figure)


def _box(panel: Axes, values: list[list[float]]) -> None:
    known = [[v for v in row if not math.isnan(v)] or [math.nan] for row in values]
    panel.boxplot(
        known, positions=range(len(known)), widths=0.6, patch_artist=True,
        boxprops={"facecolor": "#cfe3f1", "edgecolor": colour(0)}, medianprops={"color": colour(1), "linewidth": 1.8},
        whiskerprops={"color": colour(0)}, capprops={"color": colour(0)},
        flierprops={"marker": "o", "markersize": 3.5, "markerfacecolor": "none", "markeredgecolor": QUIET},
    )  # fmt: skip


def runtime(results: Results) -> Drawing:
    """CPU time of a fit."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    methods = results.whole
    figure, axes = grid(1, width=8.0, height=len(results.data) * (0.22 + 0.1 * len(methods)) + 0.5)
    panel = axes[0]
    for m, method in enumerate(methods):
        times = [1000 * results.over_epsilons(d, method, "fit_seconds_mean") for d in results.data]
        places = [i + (m - (len(methods) - 1) / 2) * 0.7 / len(methods) for i in range(len(times))]
        panel.plot(times, places, **{**line(m), "linestyle": "none", "markersize": 6}, label=method)
    panel.set_yticks(range(len(results.data)), results.data, color=INK)
    panel.set_ylim(len(results.data) - 0.5, -0.5)
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.set_xlabel("milliseconds of CPU time a fit (logarithmic)")
    handles, labels = panel.get_legend_handles_labels()
    legend(figure, handles, labels, 8.0)
    text = "Mean over the runs; exact answers of a fold are computed once and shared by all its fits."
    return Drawing("runtime", "Runtime", text, figure)
