"""Sweeps that outgrow one machine: shards of work for any executor, files that they resume from."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
from collections import deque
from concurrent.futures import Executor, Future
from typing import Iterator, Optional, Sequence, Union

from . import _native
from ._progress import Progress, shown
from ._scenario import Scenario, Spec, Vary, named, named_by
from ._table import Table

_AHEAD = 256
"""Shards that an executor has at least, where it does not say how many workers there are."""

_LOOK_S = 0.1
"""Time between two looks for an interrupt."""

Shard = tuple["tuple[int, int]", "list[int]", int, float]


def sweep(
    scenario: Scenario,
    vary: Optional[Vary] = None,
    *,
    seeds: int = 1,
    runs: Optional[Sequence[str]] = None,
) -> "Sweep":
    """Every combination of values for some keys of a scenario, as :meth:`Scenario.run_all` has them, with rows alone.

    >>> sweep = tg.sweep(s, {"down.delay_ms": [10, 50]}, seeds=1000)
    >>> rows = sweep.run(out="rows/")
    >>> rows.to_pandas().groupby(["down.delay_ms", "run"]).goodput_bps.mean()

    :param vary: values for keys, the last key turning fastest; then the seeds.
    :param seeds: how many, from the scenario's on.
    :param runs: names of the runs; all if none is named.
    :raises ScenarioError: with all that is wrong, before anything is run.
    """
    return Sweep(scenario._varied(runs, vary, seeds))


class Sweep:
    """Runs whose results are rows. What they depend on is kept as it was when the sweep was made."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec.with_files()
        self._native = _native.Sweep(self._spec)

    def __len__(self) -> int:
        """How many runs."""
        return len(self._native)

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} runs>"

    @property
    def keys(self) -> list[str]:
        """The key of each run: the same key means the same result, on any machine."""
        return self._native.keys()

    def run(
        self,
        out: Union[str, "os.PathLike[str]", None] = None,
        *,
        executor: Optional[Executor] = None,
        threads: Optional[int] = None,
        progress: Union[bool, Progress] = False,
    ) -> Table:
        """Runs what is not there yet, and returns a row for each run: the columns of ``tidegate sim --out``.

        The work is done in shards of some seconds. A shard's rows are written to a file of ``out``, whole or not at all;
        what is there is not run again, whoever wrote it: this process, one before it that was killed, or ``tidegate sim
        --out FOLDER/``. The same sweep leaves the same files.

        :param out: a folder; it is made if it is not there. Without one rows are kept in memory alone.
        :param executor: who does the work: a ``ProcessPoolExecutor``, ``dask.distributed``'s ``client.get_executor()``,
            :class:`tidegate.ray.RayExecutor`, or any other of :mod:`concurrent.futures`. Its workers need this package,
            and none of the scenario's files: rows come back to this process, which alone writes. If none is said, threads
            of this one.
        :param threads: how many of those; as many as there are processors if it is not said.
        :param progress: a bar, or a function that is told seconds of virtual time done, and of all.
        :raises ValueError: when there are rows of something else in ``out``, or another process writes there.
        :raises OSError: when a shard cannot be written. Those that are there are whole; run it again to go on.
        """
        written = self._native.write(None if out is None else os.fspath(out))
        shards = deque(written.to_do())
        all_s = sum(seconds for *_, seconds in shards)
        done_s = 0.0
        with _workers(executor, threads) as (workers, ahead, stop), shown(progress) as told:
            working: dict[Future[list[list[str]]], Shard] = {}
            try:
                while shards or working:
                    while shards and len(working) < ahead:
                        shard = shards.popleft()
                        working[self._submit(workers, shard, stop)] = shard
                    finished, _ = concurrent.futures.wait(working, _LOOK_S, concurrent.futures.FIRST_COMPLETED)
                    for future in finished:
                        _, _, first, seconds = working.pop(future)
                        written.take(first, future.result())
                        done_s += seconds
                    if told:
                        told(done_s, all_s)
            except BaseException:
                for future in working:
                    future.cancel()
                raise
        return Table(written.table())

    def _submit(self, workers: Executor, shard: Shard, stop: Optional[_native.Stop]) -> "Future[list[list[str]]]":
        variants, runs, *_ = shard
        # Only threads share what stops them.
        own = (stop,) if stop else ()
        return workers.submit(_perform, self._part(*variants), variants, runs, *own)

    def _part(self, first: int, end: int) -> Spec:
        """What those variants need: of the files that are varied only theirs."""
        spec = self._spec
        if not spec.files:
            return spec
        used = set(named(spec.document))
        stride = 1
        for keys, points in reversed(spec.vary):
            for place in {number // stride % len(points) for number in range(first, end)}:
                used.update(named_by([(keys, [points[place]])]))
            stride *= len(points)
        return spec._replace(files={name: text for name, text in spec.files.items() if name in used})


def _perform(
    spec: Spec, variants: tuple[int, int], runs: list[int], stop: Optional[_native.Stop] = None
) -> list[list[str]]:
    """The rows of a shard, wherever this is called."""
    return _native.Plan(spec, variants).rows(runs, stop or _native.Stop())


@contextlib.contextmanager
def _workers(
    executor: Optional[Executor], threads: Optional[int]
) -> Iterator[tuple[Executor, int, Optional[_native.Stop]]]:
    """Who does the work, how many shards they have at a time, and what stops those at once."""
    if executor is not None:
        if threads is not None:
            raise ValueError(f"threads is {threads} beside an executor, expected one of them")
        workers = getattr(executor, "_max_workers", None) or 0
        yield executor, max(2 * workers, _AHEAD), None
        return
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}, expected at least 1")
    threads = threads or len(os.sched_getaffinity(0))
    stop = _native.Stop()
    with concurrent.futures.ThreadPoolExecutor(threads, "tidegate") as own:
        try:
            yield own, 2 * threads, stop
        except BaseException:
            stop.set()
            raise


__all__ = ["Sweep", "sweep"]
