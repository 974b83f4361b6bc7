"""The tables of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from dpcore_experiments.cells import Cell, Table, budget, figure, word
from dpcore_experiments.results import Results


def accuracy(results: Results) -> Table:
    """Accuracy of each method, data set and epsilon, marked against the first method as Weka does."""
    base, *others = results.whole
    return _compared(results, base, others, "accuracy", "Accuracy: mean over folds and repeats")


def by_size(results: Results, learner: str) -> Table:
    """Accuracy of one method by the size of its training set, marked against the largest."""
    base, *others = results.by_size()[learner].values()
    return _compared(results, base, others, f"by_size_{learner}", f"{learner}: accuracy by size of the training set")


def _compared(results: Results, base: str, others: Sequence[str], name: str, caption: str) -> Table:
    methods = [base, *others]
    rows = []
    counts = {method: {"v": 0, "": 0, "*": 0} for method in others}
    for data in results.data:
        for epsilon in results.epsilons:
            row = [results.summaries[data, method, epsilon] for method in methods]
            best = max(s.accuracy_mean for s in row)
            marks = {m: results.test(data, epsilon, m, base).mark for m in others}
            for method, mark in marks.items():
                counts[method][mark] += 1
            cells = [
                figure(
                    s.accuracy_mean,
                    mark=marks.get(s.method, ""),
                    best=len(row) > 1 and s.accuracy_mean == best,
                    hint=_spread(s),
                )
                for s in row
            ]
            rows.append((word(data), budget(epsilon), *cells))
    note = ""
    if others:
        wins = [word(f"({n['v']}/{n['']}/{n['*']})") for n in counts.values()]
        rows.append((word("(v/ /*)"), word(""), word(""), *wins))
        note = (
            f"v and * mark what is significantly better and worse than {base} (corrected paired t-test, two-sided, "
            "5%), (v/ /*) counts them. The best of each row is bold."
        )
    return Table(name, caption, ("data set", "epsilon", *methods), tuple(rows), 1, note)


def _spread(s: Any) -> str:
    return f"sd {s.accuracy_sd:.4f}, 95% interval {s.accuracy_low:.4f} to {s.accuracy_high:.4f}, {s.runs} runs"


def details(results: Results, data: str) -> Table:
    """Everything about one data set."""
    rows = []
    for method in results.methods:
        for epsilon in results.epsilons:
            s = results.summaries[data, method, epsilon]
            interval = Cell(f"{s.accuracy_low:.4f} to {s.accuracy_high:.4f}", s.accuracy_low)
            spent = word(s.guarantee) if s.guarantee in ("none", "claimed") else budget(s.guarantee_epsilon)
            numbers = (s.ratio, s.non_private_accuracy, s.balanced_accuracy_mean, s.auc_mean, s.log_loss_mean)
            rows.append(
                (
                    word(method), budget(epsilon), figure(s.accuracy_mean), figure(s.accuracy_sd), interval,
                    *map(figure, numbers), spent, Cell(str(s.runs), s.runs),
                )
            )  # fmt: skip
    return Table(
        f"details_{data}",
        f"{data}: every figure",
        (
            "method", "epsilon", "accuracy", "sd", "95% interval", "ratio", "non-private", "balanced accuracy", "AUC",
            "log-loss", "spends", "runs",
        ),
        tuple(rows),
        1,
        "sd is over all runs; the interval is of the mean over folds, corrected for their overlap. 'spends' is the "
        "epsilon of the guarantee that a fit really has.",
    )  # fmt: skip


def means(results: Results) -> Table:
    """Mean over the data sets, for each epsilon."""
    rows = []
    for epsilon in results.epsilons:
        row = [results.mean(method, epsilon) for method in results.whole]
        rows.append((budget(epsilon), *(figure(x, best=x == max(row)) for x in row)))
    over = [
        sum(results.over_epsilons(d, m) for d in results.data) / len(results.data) for m in results.whole
    ]  # fmt: skip
    rows.append((word("mean"), *(figure(x, best=x == max(over)) for x in over)))
    return Table("means", "Accuracy: mean over the data sets", ("epsilon", *results.whole), tuple(rows), 0)


def overview(results: Results) -> Table:
    """Table 2 of Lopuhaä-Zwakenberg et al. (2021): mean over the epsilons, without noise, and their ratio."""
    published = results.experiment.published
    rows = []
    for method in results.whole:
        private = [results.over_epsilons(d, method) for d in results.data]
        bare = [results.over_epsilons(d, method, "non_private_accuracy") for d in results.data]
        ratio = [results.over_epsilons(d, method, "ratio") for d in results.data]
        lines = [("without noise", bare, published.non_private), ("mean over epsilons", private, published.private)]
        for words, ours, theirs in lines:
            rows.append(_line(method, words, ours))
            given = theirs.get(method)
            if given:
                notes = published.notes.get(method, {}) if words == "without noise" else {}
                shown = [given.get(d, math.nan) for d in results.data]
                rows.append(_line(method, f"{words}, published", shown, [notes.get(d, "") for d in results.data]))
        rows.append(_line(method, "ratio", ratio))
    return Table(
        "overview",
        "Mean over the epsilons, without noise, and their ratio",
        ("method", "figure", *results.data, "mean"),
        tuple(rows),
        2,
        "† marks a published figure that cannot be right or not be compared; the reasons stand below."
        if published.notes
        else "",
    )


def _line(method: str, words: str, values: Sequence[float], notes: Sequence[str] = ()) -> tuple[Cell, ...]:
    hints = notes or [""] * len(values)
    cells = [
        attrs.evolve(figure(v), mark="†" if h else "", hint=h) for v, h in zip(values, hints, strict=True)
    ]  # fmt: skip
    return (word(method), word(words), *cells, figure(sum(values) / len(values)))


def doubts(results: Results) -> list[tuple[str, str, str]]:
    """(method, data set, why a published figure cannot be right)."""
    notes = results.experiment.published.notes
    return [(m, d, notes[m][d]) for m in results.whole if m in notes for d in results.data if d in notes[m]]


def majority(results: Results) -> Table:
    """The data sets: rows, classes, and what always saying the commonest class comes to."""
    rows = []
    for data in results.data:
        part = results.frame[results.frame["data"] == data]
        size = int(part.groupby("fold")["test_rows"].first().sum())
        s = results.summaries[data, results.whole[0], results.epsilons[0]]
        digest = str(part["data_hash"].iloc[0])
        rows.append((word(data), Cell(f"{size:,}", size), figure(s.majority_accuracy), word(digest)))
    return Table(
        "data", "The data sets", ("data set", "rows", "majority class", "hash of rows and schema"), tuple(rows)
    )


def signed_ranks(results: Results) -> Table:
    """p-values of the signed-rank test for each pair."""
    rows = []
    for first in results.whole:
        cells = []
        for second in results.whole:
            if first == second:
                cells.append(word("–"))
                continue
            test = results.signed_ranks[first, second]
            sign = "better" if test.difference > 0 else "worse"
            hint = f"{first} is {sign} by {abs(test.difference):.4f} on average; z = {test.statistic:.2f}"
            cells.append(Cell(f"{test.p:.2g}", test.p, test.mark, hint=hint))
        rows.append((word(first), *cells))
    return Table(
        "wilcoxon",
        "Wilcoxon signed-rank test over all data sets and epsilons: p-values",
        ("method", *results.whole),
        tuple(rows),
        1,
        "v: the row's method is significantly better than the column's; *: worse.",
    )


def ranks(results: Results) -> Table:
    """Weka's ranking."""
    rows = [
        (Cell(str(s.balance), s.balance), Cell(str(s.wins), s.wins), Cell(str(s.losses), s.losses), word(s.method))
        for s in results.ranking
    ]
    return Table(
        "ranking",
        "Ranking by significant wins and losses",
        (">-<", ">", "<", "Resultset"),
        tuple(rows),
        0,
        "Over all pairs of methods, data sets and epsilons, by the corrected paired t-test: wins minus losses, wins, "
        "losses. Methods need not spend the same: see the guarantees.",
    )


def runtime(results: Results) -> Table:
    """CPU time of a fit, and of classifying the test rows."""
    rows = []
    for method in results.whole:
        for words, of in (("fit", "fit_seconds_mean"), ("classify a fold", "predict_seconds_mean")):
            times = [1000 * results.over_epsilons(d, method, of) for d in results.data]
            rows.append((word(method), word(words), *(figure(t, 2) for t in times)))
    return Table(
        "runtime",
        "CPU time, milliseconds",
        ("method", "", *results.data),
        tuple(rows),
        2,
        "Mean over the runs. Exact answers of a fold are computed once and shared by all its fits; equal test rows are "
        "classified once.",
    )


def guarantees(results: Results) -> Table:
    """What each method promises, and what it spends."""
    rows = []
    for method in results.whole:
        for epsilon in (results.epsilons[0], results.epsilons[-1]):
            found = {(s.guarantee, s.guarantee_epsilon) for s in _all(results, method, epsilon)}
            kinds = ", ".join(sorted({kind for kind, _ in found}))
            most = max(spent for _, spent in found)
            spends = word(f"{most:g} (claimed)") if kinds == "claimed" else budget(most)
            rows.append((word(method), budget(epsilon), word(kinds), spends))
    return Table(
        "guarantees",
        "What is asked for, and what a fit really spends",
        ("method", "epsilon", "guarantee", "spends at most"),
        tuple(dict.fromkeys(rows)),
        1,
        "pure and approximate guarantees are enforced; 'none' protects nothing; 'claimed' is what an estimator from "
        "elsewhere says of itself.",
    )


def _all(results: Results, method: str, epsilon: float) -> Iterable[Any]:
    return (results.summaries[data, method, epsilon] for data in results.data)


def all_tables(results: Results) -> list[Table]:
    """Every table of a report."""
    sizes = [by_size(results, learner) for learner in results.by_size()] if len(results.experiment.rows) > 1 else []
    return [
        overview(results), accuracy(results), means(results), ranks(results), signed_ranks(results), runtime(results),
        guarantees(results), majority(results), *sizes, *(details(results, data) for data in results.data),
    ]  # fmt: skip
