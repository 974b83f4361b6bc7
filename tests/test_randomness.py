"""No two processes and no two threads draw the same noise; what a seed repeats, it repeats on purpose.

Each test draws up to 4,000 numbers of 62 bits: that any two agree by chance has probability below 1e-11.
"""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import forked
from dpcore import load_plugins
from dpcore import plan as make_plan
from dpcore.noise import ExactNoise, NoiseSource, SeededNoise, noise_source
from dpcore.release import fit
from dpcore.source import dataset, read_rows
from dpcore.table import MemoryTable

WIDE = 1 << 62
PROCESSES = 8
DRAWS = 400


def draw(source: NoiseSource) -> list[int]:
    """Numbers so wide that none comes twice by chance: of every kind of draw that is made of many bits."""
    uniform = source.integers(WIDE, DRAWS // 4)
    laplace = source.discrete_laplace(Fraction(WIDE), DRAWS // 4)
    gaussian = source.gaussian(Fraction(WIDE), DRAWS // 4)
    discrete = source.discrete_gaussian(Fraction(WIDE) ** 2, DRAWS // 4)
    return [int(x) for part in (uniform, laplace, gaussian, discrete) for x in part]


def assert_distinct(found: list[list[int]]) -> None:
    every = [number for one in found for number in one]
    assert len(every) == len(found) * DRAWS
    assert len(set(every)) == len(every)


def in_forks(work: Callable[[], Any], folder: Path, many: int = PROCESSES) -> list[Any]:
    """What one piece of work gives in each of many forked processes that start at the same moment."""
    ready, go = os.pipe()

    def child(number: int) -> None:
        os.close(go)
        os.read(ready, 1)  # returns when the parent closes its end
        (folder / f"{number}.json").write_text(json.dumps(work()))

    started = [forked.start(lambda n=n: child(n), folder / f"{n}.log") for n in range(many)]
    os.close(ready)
    os.close(go)
    assert [forked.wait(one) for one in started] == [0] * many, [
        log.read_text() for log in folder.glob("*.log") if log.stat().st_size
    ]
    return [json.loads((folder / f"{n}.json").read_text()) for n in range(many)]


def in_threads(work: Callable[[], Any], many: int = PROCESSES) -> list[Any]:
    """What one piece of work gives in each of many threads that start at the same moment."""
    gate = threading.Barrier(many)

    def begin() -> Any:
        gate.wait()
        return work()

    with ThreadPoolExecutor(many) as pool:
        futures = [pool.submit(begin) for _ in range(many)]
        return [future.result() for future in futures]


# -- the system's randomness ----------------------------------------------------------------------


def test_forked_processes_with_one_source_never_draw_the_same(tmp_path):
    source = noise_source()
    before = draw(source)  # whatever a source might keep, it keeps by now
    children = in_forks(lambda: draw(source), tmp_path)
    assert_distinct([before, *children, draw(source)])


def test_forked_processes_with_sources_of_their_own_never_draw_the_same(tmp_path):
    assert_distinct(in_forks(lambda: draw(noise_source()), tmp_path))


def test_a_fork_of_a_fork_draws_anew(tmp_path):
    source = noise_source()

    def parent() -> list[Any]:
        folder = tmp_path / str(os.getpid())
        folder.mkdir()
        return [draw(source), *in_forks(lambda: draw(source), folder, 2)]

    assert_distinct([one for family in in_forks(parent, tmp_path, 2) for one in family])


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_workers_of_a_pool_that_are_handed_one_source_never_draw_the_same(method):
    source = ExactNoise()
    with multiprocessing.get_context(method).Pool(2) as pool:
        pending = [pool.apply_async(source.integers, (WIDE, DRAWS)) for _ in range(4)]
        found = [one.get(timeout=60).tolist() for one in pending]
        pool.close()
        pool.join()
    assert_distinct([*found, source.integers(WIDE, DRAWS).tolist()])


def test_threads_with_one_source_never_draw_the_same():
    source = noise_source()
    assert_distinct(in_threads(lambda: draw(source)))


def test_threads_with_sources_of_their_own_never_draw_the_same():
    assert_distinct(in_threads(lambda: draw(noise_source())))


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_of_the_source_draws_anew(duplicate):
    source = noise_source()
    draw(source)
    assert_distinct([draw(source), draw(duplicate(source))])


def test_what_others_do_with_a_seed_does_not_reach_the_noise(monkeypatch):
    import random

    found = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002
        monkeypatch.setenv("PYTHONHASHSEED", "0")
        found.append(draw(noise_source()))
    assert_distinct(found)


# -- whole fits -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def released() -> Callable[[Any], list[float]]:
    """All noisy answers of a fit on iris by `random_state`; the noise is about 1e6 rows, so few agree by chance."""
    registry = load_plugins()
    found = dataset("iris", registry)
    assert found is not None
    plan = make_plan("naive_bayes", found.schema(), epsilon=1e-5, registry=registry)
    table = MemoryTable(read_rows("iris", plan.task.schema, registry))

    def run(random_state: Any) -> list[float]:
        return [float(x) for one in fit(plan, table, random_state=random_state).releases for x in np.ravel(one.value)]

    return run


def agreeing(one: list[float], other: list[float]) -> float:
    """The share of answers that two fits have in common."""
    assert len(one) == len(other) > 20
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


def test_fits_in_forked_processes_have_noise_of_their_own(released, tmp_path):
    released(None)
    found = [*in_forks(lambda: released(None), tmp_path, 4), released(None)]
    assert max(agreeing(a, b) for i, a in enumerate(found) for b in found[:i]) < 0.1


def test_fits_in_threads_have_noise_of_their_own(released):
    found = in_threads(lambda: released(None), 4)
    assert max(agreeing(a, b) for i, a in enumerate(found) for b in found[:i]) < 0.1


# -- a seed: repeats itself, and says so ----------------------------------------------------------


def test_a_seed_repeats_itself_in_every_process_and_thread(released, tmp_path):
    expected = released(7)
    assert in_forks(lambda: released(7), tmp_path, 2) == [expected] * 2
    assert in_threads(lambda: released(7), 2) == [expected] * 2
    assert agreeing(expected, released(8)) < 0.1


def test_forked_processes_that_share_a_seeded_source_draw_the_same(tmp_path):
    """Which is why a seed is for experiments only: each process has a copy of the generator, in the same state."""
    source = noise_source(7)
    draw(source)
    first, second = in_forks(lambda: draw(source), tmp_path, 2)
    assert first == second == draw(source)
    assert source.reproducible  # what a model is stamped with


def test_a_generator_of_numpy_is_seeded_whatever_it_was_made_of(tmp_path):
    source = noise_source(np.random.default_rng())
    first, second = in_forks(lambda: draw(source), tmp_path, 2)
    assert first == second
    assert source.reproducible


def test_threads_that_share_a_seeded_source_never_draw_the_same():
    source = SeededNoise(7)
    assert_distinct(in_threads(lambda: draw(source)))


def test_only_the_systems_randomness_is_called_unrepeatable():
    assert not noise_source().reproducible
    assert not ExactNoise.reproducible
    assert SeededNoise.reproducible
    assert SeededNoise(None).reproducible
