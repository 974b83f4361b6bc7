"""Fit time of the private SVM against scikit-learn's (and diffprivlib's) LogisticRegression on Adult, in one run.

Each measurement is a process of its own; CPU time is that of `fit` alone, from rows in memory: encoded rows for dpcore,
the same one-hot numbers as a sparse matrix (a dense one for diffprivlib) for the others. Fits are run in turn, and the
ratio is taken pair by pair. `again` is a second fit of the same rows with other noise.

    DPCORE_DATA=… python benchmarks/svm_fit.py                  # 5 rounds
    DPCORE_DATA=… python benchmarks/svm_fit.py --diffprivlib    # makes an environment of its own for diffprivlib
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EPSILON = 1.0
BINS = 16


def encoded(folder: str | None) -> Any:
    """Adult's rows as dpcore keeps them."""
    from dpcore.registry import load_plugins
    from dpcore.source import find_schema, read_rows

    if folder:
        os.environ["DPCORE_DATA"] = folder
    registry = load_plugins()
    schema = find_schema(None, "adult", registry)
    return schema, read_rows("adult", schema, registry)


def measure(which: str, arrays: str) -> dict[str, float]:
    """CPU seconds of one fit in this process, or of two."""
    import numpy as np

    if which == "dpcore":
        from dpcore.planning import make_plan
        from dpcore.release import fit
        from dpcore.table import MemoryTable

        schema, rows = encoded(None)
        plan = make_plan("svm", schema, epsilon=EPSILON)
        few = rows.take(np.arange(1000))
        fit(plan, MemoryTable(few), random_state=0)  # imports and first-use costs
        table = MemoryTable(rows)
        start = time.process_time()
        fit(plan, table, random_state=0)
        first = time.process_time()
        fit(plan, table, random_state=1)
        return {"cpu": first - start, "again": time.process_time() - first}
    held = np.load(arrays)
    places, labels, width = held["places"], held["labels"], int(held["width"])
    if which == "sklearn":
        from scipy.sparse import csr_array
        from sklearn.linear_model import LogisticRegression

        ends = np.arange(0, places.size + 1, places.shape[1], dtype=np.int32)
        matrix: Any = csr_array((np.ones(places.size), places.ravel(), ends), shape=(len(places), width))
        model: Any = LogisticRegression(max_iter=1000)
    else:
        from diffprivlib.models import LogisticRegression as Private

        matrix = np.zeros((len(places), width))
        np.put_along_axis(matrix, places.astype(np.intp), 1.0, axis=1)
        model = Private(epsilon=EPSILON, data_norm=float(np.sqrt(places.shape[1])), max_iter=1000)
    model.fit(matrix[:1000], labels[:1000])
    start = time.process_time()
    model.fit(matrix, labels)
    return {"cpu": time.process_time() - start}


def apart(python: str, which: str, arrays: str) -> dict[str, float]:
    """`measure` in a fresh process."""
    done = subprocess.run([python, __file__, "--one", which, arrays], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def environment(folder: str) -> str:
    """A virtual environment with diffprivlib, which needs scikit-learn 1.7 or older; its Python."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(Path(folder) / "bin" / "python")
    wanted = ["diffprivlib==0.6.6", "scikit-learn<=1.7"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
    return python


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--diffprivlib", action="store_true")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    import numpy as np

    from dpcore.features import FeatureMap, OneHot
    from dpcore.partition import EqualBins, Values
    from dpcore.schema import Nominal

    schema, rows = encoded(None)
    cells = [Values(a) if isinstance(a, Nominal) else EqualBins(a, BINS) for a in schema.attributes]
    features = FeatureMap([OneHot(c) for c in cells])
    places, _ = features.encode(rows.columns, rows.size)
    with tempfile.TemporaryDirectory() as folder:
        arrays = str(Path(folder) / "adult.npz")
        np.savez(arrays, places=places, labels=rows.columns[schema.target.name], width=features.width)
        peers = {"sklearn": sys.executable}
        if options.diffprivlib:
            peers["diffprivlib"] = environment(str(Path(folder) / "venv"))
        found: dict[str, list[dict[str, float]]] = {"dpcore": [], **{name: [] for name in peers}}
        for _ in range(options.rounds):
            found["dpcore"].append(apart(sys.executable, "dpcore", arrays))
            for name, python in peers.items():
                found[name].append(apart(python, name, arrays))
    print(f"Adult, {rows.size} rows × {features.width} numbers, {options.rounds} rounds: median (min to max), CPU s")
    for name, runs in found.items():
        for key in runs[0]:
            print(f"{name:<12} {key:<6} {_spread([run[key] for run in runs])}")
    for name in peers:
        ratios = [ours["cpu"] / theirs["cpu"] for ours, theirs in zip(found["dpcore"], found[name], strict=True)]
        print(f"dpcore / {name:<12} {_spread(ratios)}")


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):8.3f} ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
