"""Fit time and memory of naive Bayes against scikit-learn's GaussianNB, in one run.

Each measurement is a process of its own, so that peak memory means something; CPU time is that of `fit` alone, memory
is the process's peak. The two are run in turn, and the ratio is taken pair by pair.

    python benchmarks/naive_bayes_fit.py                # 1e6 rows × 20 attributes, 5 pairs
    python benchmarks/naive_bayes_fit.py --growth       # dpcore alone, 1e4 to 1e7 rows
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time

ATTRIBUTES = 20


def measure(which: str, rows: int) -> dict[str, float]:
    """CPU seconds of one fit and the process's peak memory in MiB, in this process."""
    import numpy as np
    from sklearn.naive_bayes import GaussianNB

    from dpcore import DPClassifier, Nominal, Numeric, Schema

    draw = np.random.default_rng(0)
    matrix = np.empty((rows, ATTRIBUTES))
    for start in range(0, rows, 100_000):
        matrix[start : start + 100_000] = draw.normal(size=(min(100_000, rows - start), ATTRIBUTES))
    labels = (matrix[:, 0] + draw.normal(size=rows) > 0).astype(np.int64)
    schema = Schema([Numeric(f"x{i}", -6, 6) for i in range(ATTRIBUTES)], Nominal("y", ["0", "1"]))
    model = GaussianNB() if which == "sklearn" else DPClassifier("naive_bayes", epsilon=1.0, schema=schema)
    model.fit(matrix[:1000], labels[:1000])  # imports and first-use costs
    start_cpu = time.process_time()
    model.fit(matrix, labels)
    cpu = time.process_time() - start_cpu
    return {"cpu": cpu, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def apart(which: str, rows: int) -> dict[str, float]:
    """`measure` in a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", which, str(rows)], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return
    if options.growth:
        print(f"{'rows':>10}  {'CPU s':>8}  {'ns a value':>10}  {'peak MiB':>8}")
        for rows in (10_000, 100_000, 1_000_000, 10_000_000):
            found = apart("dpcore", rows)
            each = found["cpu"] / rows / ATTRIBUTES * 1e9
            print(f"{rows:>10}  {found['cpu']:>8.3f}  {each:>10.2f}  {found['peak']:>8.0f}")
        return
    pairs = [(apart("dpcore", int(options.rows)), apart("sklearn", int(options.rows))) for _ in range(options.pairs)]
    print(f"{int(options.rows)} rows × {ATTRIBUTES} numeric attributes, {options.pairs} pairs: median (min to max)")
    for key, unit in (("cpu", "s"), ("peak", "MiB")):
        for name, place in (("dpcore naive_bayes", 0), ("sklearn GaussianNB", 1)):
            values = [pair[place][key] for pair in pairs]
            print(f"{key:>5} {name:<20} {_spread(values)} {unit}")
        print(f"{key:>5} {'ratio':<20} {_spread([ours[key] / theirs[key] for ours, theirs in pairs])}")


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):8.3f} ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
