"""Processor time of `dpcore --help` and `dpcore list-plugins` over bare Python, median of runs in turn."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path

DPCORE = str(Path(sys.executable).with_name("dpcore"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "dpcore --help": [DPCORE, "--help"],
    "dpcore list-plugins": [DPCORE, "list-plugins"],
}


def cpu(command: list[str]) -> float:
    """User and system milliseconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main(runs: int = 21) -> None:
    """Measure and print."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for name, command in COMMANDS.items():
        cpu(command)  # the first run fills the caches
        times[name] = []
    for _ in range(runs):
        for name, command in COMMANDS.items():
            times[name].append(cpu(command))
    bare = statistics.median(times["python -c pass"])
    for name, values in times.items():
        middle = statistics.median(values)
        spread = f"({min(values):.0f} to {max(values):.0f})"
        print(f"{name:<20} {middle:6.0f} ms {spread}, {middle - bare:4.0f} over bare Python")


if __name__ == "__main__":
    main()
