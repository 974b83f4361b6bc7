"""The main job on real rows, as a person would type it: list, plan, fit, predict, evaluate.

On Adult where $DPCORE_DATA has it, otherwise on a set that scikit-learn brings. Leaves `out/model.json` and
`out/accuracy.png`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path


def run(*words: str) -> None:
    """Show a command and run it."""
    print(f"\n$ dpcore {shlex.join(words)}", flush=True)
    subprocess.run([sys.executable, "-m", "dpcore.cli", *words], check=True)


def main() -> None:
    """Everything, in under a minute."""
    folder = os.environ.get("DPCORE_DATA", "")
    data = "adult" if folder and Path(folder, "adult.csv.gz").is_file() else "breast_cancer"
    if data != "adult":
        print("DPCORE_DATA is not set (a folder with adult.csv.gz): using scikit-learn's breast_cancer instead.")
    epsilons = "0.05,0.1,0.5,1" if data == "adult" else "0.5,1,5,20"
    epsilon = epsilons.split(",")[1]
    out = Path("out")
    out.mkdir(exist_ok=True)
    model, figure = str(out / "model.json"), str(out / "accuracy.png")
    run("list-plugins")
    run("plan", "naive_bayes", "--schema", data, "--epsilon", epsilon)
    run("fit", "naive_bayes", data, "--epsilon", epsilon, "--out", model)
    run("predict", model, data, "--proba", "--out", str(out / "predictions.csv"))
    run("evaluate", "naive_bayes", data, "--epsilon", epsilons, "--folds", "5", "--repeats", "3", "--figure", figure)
    print(f"\nThe released model is {model}; accuracy against epsilon is drawn in {figure}.")


if __name__ == "__main__":
    main()
