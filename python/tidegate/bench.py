"""What a run and a step cost, side by side: ``python -m tidegate.bench``, which needs ``pip install tidegate[gym]``.

* Runs a second through Python, beside the same runs by ``tidegate sim --out``, on one thread and on two (``--program``).
* Runs a second of one sweep on threads, by processes and by Dask's workers, with ``--sweep``.
* Steps a second of :class:`tidegate.gym.LinkEnv` and of :class:`tidegate.gym.LinkVectorEnv` with 1, 4 and 16.
* With ``--pcc-rl``, a checkout of https://github.com/PCCproject/PCC-RL, those of its environment on the same link.

What is compared is measured by turns, and a ratio is the median of those of the turns: neighbours on the machine come and
go.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import math
import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence

from . import _native
from ._scenario import Scenario
from ._sweep import sweep

STEP_MS = 10.0
"""Virtual milliseconds of a step."""

RUNS = 40
"""Runs in one measurement, a thread."""

PACKET_BITS = 12_000.0
"""Of a packet, as PCC-RL counts them."""

QUEUE_PACKETS = 500


class Link(NamedTuple):
    """A link that both simulators have."""

    packets_per_s: int
    delay_ms: float
    """One way; the ways are alike."""

    def __str__(self) -> str:
        return f"{self.packets_per_s * PACKET_BITS / 1e6:g} Mbit/s, {2 * self.delay_ms:g} ms"

    def scenario(self) -> Scenario:
        way = {"rate": {"constant_mbps": self.packets_per_s * PACKET_BITS / 1e6}, "delay_ms": self.delay_ms}
        return Scenario(duration_s=60, down={**way, "queue": {"packets": QUEUE_PACKETS}}, up=way)


LINKS = [Link(300, 50.0), Link(1000, 25.0)]
"""The middle of the rates that PCC-RL trains on, and the highest that its sender has."""


class Row(NamedTuple):
    """A result, as ``tidegate bench --json`` has them."""

    name: str
    value: float
    unit: str
    versus: Optional[str] = None
    ratio: Optional[float] = None


class Case(NamedTuple):
    """Something to be measured by turns with others."""

    name: str
    speed: Callable[[], float]
    """Measures it once."""
    versus: Optional[str] = None
    """The case that it is compared with."""


def by_turns(cases: Sequence[Case], unit: str, takes: int) -> Iterator[Row]:
    """The medians of that many measurements of each."""
    speeds: dict[str, list[float]] = {case.name: [] for case in cases}
    for _ in range(takes):
        for case in cases:
            speeds[case.name].append(case.speed())
    for case in cases:
        own = speeds[case.name]
        pairs = zip(own, speeds[case.versus]) if case.versus else []
        ratios = [one / other for one, other in pairs]
        yield Row(case.name, median(own), unit, case.versus, median(ratios) if ratios else None)


def runs(program: str, takes: int) -> Iterator[Row]:
    """Runs a second of the shipped LTE link, over Linux as it is."""
    scenario = Scenario.load("lte-download.toml")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "lte-download.toml")
        file.write_text(_native.shipped("lte-download") or "")

        def by_command_line(threads: int) -> float:
            count = RUNS * threads
            rows = Path(folder, "rows.csv")
            rows.unlink(missing_ok=True)
            options = ["--run", "linux", "--seeds", str(count), "--jobs", str(threads), "--out", str(rows)]
            began = time.perf_counter()
            subprocess.run([program, "sim", str(file), *options], check=True, capture_output=True)
            return count / (time.perf_counter() - began)

        def by_python(threads: int) -> float:
            count = RUNS * threads
            began = time.perf_counter()
            scenario.run_all(["linux"], seeds=count, threads=threads)
            return count / (time.perf_counter() - began)

        for threads in (1, 2):
            plural = "threads" if threads > 1 else "thread"
            command_line, python = (f"{who}, {threads} {plural}" for who in ("tidegate sim --out", "Scenario.run_all"))
            cases = [
                Case(command_line, lambda: by_command_line(threads)),
                Case(python, lambda: by_python(threads), command_line),
            ]
            yield from by_turns(cases, "runs/s", takes)


def sweeps(count: int) -> Iterator[Row]:
    """Runs a second of one sweep of so many, into a folder: on two threads, by two processes, by two of Dask's workers."""
    scenario = Scenario.load("lte-download.toml")
    scenario["duration_s"] = 20
    work = sweep(scenario, seeds=count, runs=["linux"])

    def by(executor: Optional[Executor], threads: Optional[int] = None) -> float:
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            work.run(out=folder, executor=executor, threads=threads)
            return count / (time.perf_counter() - began)

    threads = Row(f"sweep of {count}, 2 threads", by(None, 2), "runs/s")
    yield threads
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        yield _beside(threads, "2 processes", by(processes))
    try:
        distributed = importlib.import_module("distributed")
    except ModuleNotFoundError:
        print("Dask is not installed: no sweep by its workers", file=sys.stderr)
        return
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield _beside(threads, "2 workers of Dask's", by(client.get_executor()))


def _beside(threads: Row, whose: str, value: float) -> Row:
    name = threads.name.replace("2 threads", whose)
    return Row(name, value, threads.unit, threads.name, value / threads.value)


class Stepping:
    """An environment that is stepped on and on, an action of 0 in each step."""

    def __init__(self, env: Any, action: Any, seconds: float) -> None:
        self.env, self.action, self.seconds = env, action, seconds
        self.count = getattr(env, "num_envs", 1)
        self.steps = 0
        env.reset(seed=1)

    def __call__(self) -> float:
        env, action, alone = self.env, self.action, self.count == 1 and not hasattr(self.env, "num_envs")
        steps, began = 0, time.perf_counter()
        while (passed := time.perf_counter() - began) < self.seconds:
            # A look at the clock for 50 steps: it costs a tenth of one.
            for _ in range(50):
                _, _, _, over, _ = env.step(action)
                if alone and over:
                    env.reset()
            steps += 50
        return steps * self.count / passed


def steps(takes: int, seconds: float) -> Iterator[Row]:
    """Steps a second of the shipped LTE link."""
    yield from by_turns(list(_ours("lte-download", Scenario.load("lte-download.toml"), seconds)), "steps/s", takes)


def _ours(link: str, world: Scenario, seconds: float, versus: Optional[str] = None) -> Iterator[Case]:
    import numpy
    from gymnasium.vector import SyncVectorEnv

    from .gym import LinkEnv, LinkVectorEnv

    settings: dict[str, Any] = {"world": world, "step_ms": STEP_MS}

    def several(env: Any) -> Stepping:
        return Stepping(env, numpy.zeros((env.num_envs, 1), numpy.float32), seconds)

    one = f"LinkEnv: {link}"
    yield Case(one, Stepping(LinkEnv(**settings), numpy.zeros(1, numpy.float32), seconds), versus)
    sync = SyncVectorEnv([lambda: LinkEnv(**settings)] * 16)
    yield Case(f"SyncVectorEnv of 16: {link}", several(sync), versus or one)
    for count in (1, 4, 16):
        yield Case(f"LinkVectorEnv of {count}: {link}", several(LinkVectorEnv(count, **settings)), versus or one)


def beside_pcc_rl(checkout: str, takes: int, seconds: float) -> Iterator[Row]:
    """Steps a second on the links that both have, which both keep full."""
    simulator = _network_sim(checkout)
    for link in LINKS:
        fixed, free = f"PCC-RL, steps of {STEP_MS:g} ms: {link}", f"PCC-RL, steps of half a round trip: {link}"
        cases = [
            Case(fixed, Stepping(_Theirs(simulator, link, STEP_MS), [0.0], seconds)),
            Case(free, Stepping(_Theirs(simulator, link, None), [0.0], seconds)),
            *_ours(str(link), link.scenario(), seconds, versus=fixed),
        ]
        yield from by_turns(cases, "steps/s", takes)


def _network_sim(checkout: str) -> Any:
    """PCC-RL's simulator, which was written for ``gym``, Gymnasium's predecessor: what it uses has kept its names."""
    import gymnasium
    import gymnasium.envs.registration
    import gymnasium.utils.seeding

    folder = Path(checkout, "src", "gym")
    if not (folder / "network_sim.py").is_file():
        raise SystemExit(f"{folder / 'network_sim.py'}: not there, expected a checkout of PCC-RL at --pcc-rl {checkout}")
    same = {"gym": gymnasium, "gym.envs": gymnasium.envs, "gym.utils": gymnasium.utils}
    sys.modules.update({**same, "gym.envs.registration": gymnasium.envs.registration})
    sys.path.insert(0, str(folder))
    arguments, sys.argv = sys.argv, sys.argv[:1]
    try:
        return importlib.import_module("network_sim")
    finally:
        sys.argv = arguments


class _Theirs:
    """PCC-RL's environment over a link of our choice, at the link's rate; steps are of its own length or of ours."""

    def __init__(self, simulator: Any, link: Link, step_ms: Optional[float]) -> None:
        kind = simulator.SimulatedNetworkEnv
        if step_ms is not None:
            length = property(lambda _: step_ms / 1e3, lambda _, own: None)
            kind = type("Fixed", (kind,), {"run_dur": length})
        self.link = link
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.env = kind()
        self.env.min_bw = self.env.max_bw = link.packets_per_s
        self.env.min_lat = self.env.max_lat = link.delay_ms / 1e3
        # It draws 1 + int(exp(…)).
        self.env.min_queue = self.env.max_queue = math.log(QUEUE_PACKETS - 0.5)
        self.env.min_loss = self.env.max_loss = 0.0

    def reset(self, seed: Optional[int] = None) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            self.env.reset()
        self.env.senders[0].set_rate(self.link.packets_per_s)

    def step(self, action: Sequence[float]) -> tuple[Any, float, bool, bool, Any]:
        seen, reward, over, info = self.env.step(action)
        return seen, reward, False, over, info


def table(rows: Sequence[Row]) -> str:
    """As ``tidegate bench`` prints them."""
    cells = [("", "value", "unit", "ratio", "to")]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}" if row.ratio < 10 else f"{row.ratio:.1f}"
        value = f"{row.value:.1f}" if row.value < 1000 else f"{row.value:,.0f}".replace(",", " ")
        cells.append((row.name, value, row.unit, ratio, row.versus or ""))
    widths = [max(map(len, column)) for column in zip(*cells)]

    def line(row: Sequence[str]) -> str:
        aligned = (c.rjust(w) if n in (1, 3) else c.ljust(w) for n, (c, w) in enumerate(zip(row, widths)))
        return "  ".join(aligned).rstrip()

    first, *others = map(line, cells)
    return "\n".join([first, "─" * (sum(widths) + 8), *others])


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m tidegate.bench", description="What a run and a step cost.")
    parser.add_argument("--program", metavar="FILE", help="tidegate, to compare runs with; the one in PATH if none is named")
    parser.add_argument("--pcc-rl", metavar="FOLDER", help="a checkout of PCC-RL, to compare steps with")
    parser.add_argument("--sweep", metavar="N", type=int, default=0, help="a sweep of N runs on threads, processes and Dask, too")
    parser.add_argument("--takes", type=int, default=5, help="measurements of each; the median counts [5]")
    parser.add_argument("--seconds", type=float, default=0.5, help="of a measurement of steps [0.5]")
    parser.add_argument("--json", action="store_true", help="for programs")
    said = parser.parse_args(arguments)
    if said.takes < 1 or not 0.0 < said.seconds < 1e4 or said.sweep < 0:
        parser.error("expected --takes of 1 or more, --seconds of more than 0, --sweep of 0 or more")
    try:
        importlib.import_module("tidegate.gym")
    except ModuleNotFoundError as error:
        parser.error(f"{error}: pip install tidegate[gym]")
    parts: list[Iterator[Row]] = [steps(said.takes, said.seconds)]
    if said.sweep:
        parts.append(sweeps(said.sweep))
    if said.pcc_rl:
        parts.append(beside_pcc_rl(said.pcc_rl, said.takes, said.seconds))
    program = said.program or shutil.which("tidegate")
    if program:
        parts.insert(0, runs(program, said.takes))
    else:
        print("tidegate is not in PATH and no --program says where it is: runs are not compared", file=sys.stderr)
    rows = [row for part in parts for row in part]
    if said.json:
        results = [{key: value for key, value in row._asdict().items() if value is not None} for row in rows]
        print(json.dumps({"version": _native.__version__, "commit": _native.COMMIT, "results": results}, indent=2))
    else:
        print(table(rows))


if __name__ == "__main__":
    main()
