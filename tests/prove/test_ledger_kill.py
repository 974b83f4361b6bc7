"""Fits that are killed at random moments leave no model without its entry, and no half of anything.

`DPCORE_PROVE_KILLS` says how many fits are killed in the long form (1000). Two at a time are under way, so that a fit
may be killed while another is at the ledger, and the next one finds what a dead one left.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import attrs
import pytest

import forked
from dpcore import load_plugins, open_ledger
from dpcore.cli import main
from dpcore.release import Release

KILLS = int(os.environ.get("DPCORE_PROVE_KILLS", "1000"))
AT_ONCE = 2
ROWS = "fee,ward,outcome\n" + "7.5,east,home\n12.5,west,stay\n" * 30
SCHEMA = {
    "attributes": [
        {"name": "fee", "type": "numeric", "lower": 0, "upper": 100},
        {"name": "ward", "type": "nominal", "values": ["east", "west"]},
    ],
    "class": {"name": "outcome", "values": ["home", "stay"]},
}


def fit(number: int) -> int:
    """One whole command; the name of its rows tells its entry from the others'."""
    rows = f"rows{number}.csv"
    Path(rows).write_text(ROWS)
    words = ("--schema", "s.json", "--epsilon", "0.001", "--ledger", "x.ledger", "--out", f"m{number}.json")
    return main(("fit", "naive_bayes", rows, *words))


@attrs.define
class Doomed:
    """A fit under way, and when it is to be killed."""

    number: int
    process: int
    end: float

    @classmethod
    def start(cls, number: int, lifetime: float) -> Doomed:
        return cls(number, forked.start(lambda: fit(number), f"log{number}"), time.monotonic() + lifetime)

    def kill(self) -> int:
        """Wait for the moment, kill, and return how it ended."""
        time.sleep(max(0.0, self.end - time.monotonic()))
        os.kill(self.process, signal.SIGKILL)  # a process that has ended stays until it is waited for
        return forked.wait(self.process)


def duration() -> float:
    """Seconds that a forked fit takes when two of them are under way."""
    took = []
    for turn in range(5):
        begin = time.monotonic()
        pair = [forked.start(lambda n=n: fit(n), f"log{n}") for n in (-1 - 2 * turn, -2 - 2 * turn)]
        assert [forked.wait(child) for child in pair] == [0, 0]
        took.append(time.monotonic() - begin)
    return sorted(took)[2]


def ledger_facts() -> tuple[dict[str, int], dict[int, str]]:
    """Entry numbers by the name of the data, and hashes of models by entry."""
    rows: list[Any] = open_ledger("x.ledger").rows()  # type: ignore[attr-defined]
    bodies = [(row, json.loads(row.body)) for row in rows]
    entries = {body["data"]: row.entry for row, body in bodies if row.kind == "spend"}
    return entries, {row.entry: body["model"] for row, body in bodies if row.kind == "seal"}


def fate(number: int, entries: dict[str, int], seals: dict[int, str]) -> str:
    """How far a fit came; asserts that what it left belongs together."""
    model, entry = Path(f"m{number}.json"), entries.get(f"rows{number}.csv")
    if not model.exists():
        if entry is None:
            return "before the spending"
        return "after the seal, without a model" if entry in seals else "after the spending, without a model"
    assert entry is not None, f"model {number} has no entry"
    assert seals.get(entry) == hashlib.sha256(model.read_bytes()).hexdigest(), f"model {number} has no seal"
    assert Release.load(model).privacy["ledger"]["entry"] == entry
    return "after the model"


@pytest.mark.parametrize("kills", [20, pytest.param(KILLS, marks=pytest.mark.prove)], ids=["short", "long"])
def test_a_killed_fit_leaves_no_model_without_its_entry(
    kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.json").write_text(json.dumps(SCHEMA))
    load_plugins().get("ledger", "sqlite").create("x.ledger", "rows", 1e6)
    assert fit(-99) == 0  # this process now has loaded all that a fit needs
    longest, seed = duration(), random.SystemRandom().randrange(2**32)
    draw = random.Random(seed)
    under_way, ends = [], Counter[int]()
    for number in range(kills):
        under_way.append(Doomed.start(number, draw.uniform(0, longest)))
        under_way.sort(key=lambda doomed: doomed.end)
        if len(under_way) == AT_ONCE:
            ended = under_way.pop(0).kill()
            ends[ended] += 1
            # about one fit in ten may finish: then the moments cover a fit from its beginning to its end
            longest *= 0.96 if ended == 0 else 1.005
    for doomed in under_way:
        ends[doomed.kill()] += 1
    assert set(ends) <= {0, -signal.SIGKILL}, "a fit that was left alone failed, or one failed on what a dead one left"

    entries, seals = ledger_facts()
    tally = Counter(fate(number, entries, seals) for number in range(kills))
    models = [word for path in Path().glob("*.json") if path.name != "s.json" for word in ("--model", str(path))]
    assert main(("ledger", "verify", "x.ledger", *models)) == 0
    assert fit(-100) == 0  # and the ledger goes on
    leftovers = [path.name for path in Path().iterdir() if path.name.startswith(".")]
    assert not [name for name in leftovers if name.endswith(".json")], "a temporary file looks like a model"
    with capsys.disabled() if kills >= 1000 else contextlib.nullcontext():
        print(f"\n{kills} fits killed within {longest:.3f} s (seed {seed}); {ends[0]} of them were done before:")
        for what, many in sorted(tally.items()):
            print(f"{many:6} {what}")
        print(f"{len(leftovers):6} temporary files left behind")
