"""Running: threads, interrupts, progress."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import interrupted

import tidegate as tg


def long(small: tg.Scenario) -> tg.Scenario:
    """Minutes of work."""
    s = small.copy()
    s["duration_s"] = 80_000
    return s


def test_an_interrupt_stops_a_run_within_50_ms(small):
    s = long(small)
    # The least of several: others may have the processor.
    assert min(interrupted(lambda: s.run("tide")) for _ in range(5)) < 0.05
    assert min(interrupted(lambda: s.run_all(seeds=3)) for _ in range(5)) < 0.05


def test_the_interpreter_is_free_meanwhile(small):
    s = long(small)
    s["duration_s"] = 100
    ticks = []
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(s.run, "tide")
        while not running.done():
            ticks.append(time.monotonic())
            time.sleep(0.001)
        running.result()
    assert len(ticks) > 10


def test_threads_may_run_the_same_scenario(small):
    alone = small.run("tide").to_json()
    with ThreadPoolExecutor(4) as pool:
        all = pool.map(lambda _: small.run("tide").to_json(), range(8))
    assert set(all) == {alone}


def test_progress_is_told_and_what_it_raises_stops_the_run(small):
    told = []
    small["duration_s"] = 60
    small.run_all(progress=lambda done, all: told.append((done, all)))
    assert told and all(total == 180 for _, total in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)

    def enough(done, all):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        long(small).run("tide", progress=enough)
    assert small.run("tide", progress=True).names == ["tide"]


def test_a_curve_that_nobody_has_is_no_empty_one(small):
    with pytest.raises(tg.ScenarioError, match="no run has 'queue_delay'"):
        small.run("tide", series=["queue_delay"])
