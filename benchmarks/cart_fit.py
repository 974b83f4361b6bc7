"""Fit time of the private tree against scikit-learn's tree on Adult, in one run.

Each measurement is a process of its own; CPU time is that of `fit` alone, on rows that are encoded before: codes and
numbers for dpcore, ordinal or one-hot columns for scikit-learn. The learners are run in turn, and the ratio is taken
run by run.

    DPCORE_DATA=folder python benchmarks/cart_fit.py                # 5 runs, epsilon 1
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

OTHERS = {
    "sklearn ordinal, same depth": ("ordinal", True),
    "sklearn ordinal, unlimited": ("ordinal", False),
    "sklearn one-hot, same depth": ("onehot", True),
    "sklearn one-hot, unlimited": ("onehot", False),
}
OURS = "dpcore cart"


def measure(which: str, epsilon: float, seeded: bool) -> float:
    """CPU seconds of one fit, in this process."""
    import numpy as np
    import pandas as pd

    from dpcore.encode import encode
    from dpcore.planning import make_plan
    from dpcore.release import fit
    from dpcore.schema import Schema
    from dpcore.table import MemoryTable, Rows

    folder = Path(os.environ["DPCORE_DATA"])
    schema = Schema.load(folder / "adult.schema.json")
    frame = pd.read_csv(folder / "adult.csv.gz", dtype=str, keep_default_na=False)
    for attribute in schema.numeric():
        frame[attribute.name] = pd.to_numeric(frame[attribute.name])
    rows = encode(frame, schema)
    plan = make_plan("cart", schema, epsilon=epsilon)
    few = rows.take(np.arange(1000))

    def ours(some: Rows) -> None:
        fit(plan, MemoryTable(some), random_state=0 if seeded else None)

    def theirs(some: Rows) -> None:
        tree.fit(matrix[: some.size], labels[: some.size])

    run = ours
    if which != OURS:
        from sklearn.tree import DecisionTreeClassifier

        encoding, limited = OTHERS[which]
        depth = sum(p.step.query.kind == "choice" for p in plan.steps)
        columns = pd.DataFrame({name: rows.columns[name] for name in schema.names})
        nominal = [a.name for a in schema.nominal()]
        table = pd.get_dummies(columns, columns=nominal) if encoding == "onehot" else columns
        matrix, labels = table.to_numpy(dtype="float32"), rows.columns[schema.target.name]
        tree = DecisionTreeClassifier(max_depth=depth if limited else None, random_state=0)
        run = theirs
    run(few)  # imports and first-use costs
    start = time.process_time()
    run(rows)
    return time.process_time() - start


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeded", action="store_true", help="seeded noise, as in experiments, instead of exact")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if "DPCORE_DATA" not in os.environ:
        parser.error("DPCORE_DATA must name the folder of adult.csv.gz and adult.schema.json.")
    if options.one:
        print(json.dumps(measure(options.one, options.epsilon, options.seeded)))
        return
    found: dict[str, list[float]] = {name: [] for name in (OURS, *OTHERS)}
    for _ in range(options.runs):
        for name, times in found.items():
            command = [sys.executable, __file__, "--one", name, "--epsilon", str(options.epsilon)]
            done = subprocess.run(
                [*command, *["--seeded"] * options.seeded], check=True, capture_output=True, text=True
            )
            times.append(json.loads(done.stdout))
    print(f"Adult, 48842 rows, {options.runs} runs: CPU seconds of fit, and ours over theirs; median (min to max)")
    for name, times in found.items():
        ratio = "" if name == OURS else f"  {_spread([a / b for a, b in zip(found[OURS], times, strict=True)])}"
        print(f"{name:<28} {_spread(times)}{ratio}")


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):6.3f} ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
