"""Sweeps: shards, what does the work, and what interrupts it."""

import concurrent.futures
import ctypes
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time

import pytest
from conftest import TEXT

import tidegate as tg

VARY = {"down.delay_ms": [10, 30]}


def shards(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


@pytest.fixture
def sweep(small) -> tg.Sweep:
    small["duration_s"], small["warmup_s"] = 2, 0
    return tg.sweep(small, VARY, seeds=3, runs=["linux", "tide"])


def test_rows_are_those_of_run_all(small, sweep, tmp_path):
    rows = sweep.run(out=tmp_path)
    small["duration_s"], small["warmup_s"] = 2, 0
    other = small.run_all(["linux", "tide"], vary=VARY, seeds=3)
    assert len(sweep) == len(rows) == 12
    assert sweep.keys == rows["key"] == other.runs["key"]
    assert rows.to_dict() == other.runs.to_dict()
    assert rows.to_pandas().dtypes.to_dict() == other.runs.to_pandas().dtypes.to_dict()


def test_without_a_folder_rows_are_the_same(sweep, tmp_path):
    assert sweep.run().to_dict() == sweep.run(out=tmp_path).to_dict()


def test_the_same_files_by_threads_and_by_processes(sweep, tmp_path):
    sweep.run(out=tmp_path / "threads", threads=2)
    one = shards(tmp_path / "threads")
    assert len(one) == 6
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=spawn) as processes:
        sweep.run(out=tmp_path / "processes", executor=processes)
    assert shards(tmp_path / "processes") == one


def test_what_is_there_is_not_run_again(sweep, tmp_path):
    whole = sweep.run(out=tmp_path).to_dict()
    files = shards(tmp_path)
    lost = tmp_path / list(files)[2]
    lost.unlink()
    ran: list[tuple[float, float]] = []
    again = sweep.run(out=tmp_path, progress=lambda done, all: ran.append((done, all)))
    assert again.to_dict() == whole and shards(tmp_path) == files
    # One variant of two runs of 2 s.
    assert ran[-1] == (4.0, 4.0)
    assert sweep.run(out=tmp_path, executor=Never()).to_dict() == whole


class Never(concurrent.futures.Executor):
    def submit(self, *args, **kwargs):
        raise AssertionError("there was nothing to do")


def test_more_seeds_go_on_with_what_is_there(small, sweep, tmp_path):
    sweep.run(out=tmp_path)
    files = shards(tmp_path)
    more = tg.sweep(small, VARY, seeds=4, runs=["linux", "tide"])
    assert len(more.run(out=tmp_path)) == 16
    assert files.items() <= shards(tmp_path).items()
    # Fewer would leave rows there that nobody asked for.
    with pytest.raises(ValueError, match="is not of this sweep"):
        sweep.run(out=tmp_path)


def test_what_was_run_otherwise_is_refused(small, sweep, tmp_path):
    sweep.run(out=tmp_path)
    files = shards(tmp_path)
    small["up"]["delay_ms"] = 7
    with pytest.raises(ValueError, match="has the key"):
        tg.sweep(small, VARY, seeds=3, runs=["linux", "tide"]).run(out=tmp_path)
    assert shards(tmp_path) == files


def test_recordings_go_with_the_work(small, tmp_path):
    """A worker has none of the files: neither what was made nor what lies beside the scenario."""
    (tmp_path / "up.trace").write_text("\n".join(str(ms) for ms in range(1, 200)))
    (tmp_path / "small.toml").write_text(TEXT.replace("constant_mbps = 5", 'trace = "up.trace"'))
    s = tg.Scenario.load(tmp_path / "small.toml")
    s["duration_s"], s["warmup_s"] = 2, 0
    rates = [tg.trace(range(1, 1000, step)) for step in (1, 2)]
    sweep = tg.sweep(s, {"down.rate": rates}, seeds=2, runs=["tide"])
    part = sweep._part(0, 2).files
    assert set(part) == {"up.trace", rates[0].name}
    expected = s.run_all(["tide"], vary={"down.rate": rates}, seeds=2).runs.to_dict()
    (tmp_path / "up.trace").unlink()
    assert sweep.run().to_dict() == expected


def test_an_error_of_a_worker_is_that_of_the_sweep(sweep, tmp_path):
    class Broken(concurrent.futures.ThreadPoolExecutor):
        def submit(self, fn, *args, **kwargs):
            return super().submit(lambda: 1 / 0)

    with Broken(2) as executor, pytest.raises(ZeroDivisionError):
        sweep.run(out=tmp_path, executor=executor)
    assert shards(tmp_path) == {}


def test_arguments_are_checked(small, sweep):
    with pytest.raises(ValueError, match="expected one of them"):
        sweep.run(executor=Never(), threads=2)
    with pytest.raises(ValueError, match="threads is 0"):
        sweep.run(threads=0)
    with pytest.raises(tg.ScenarioError, match="delay"):
        tg.sweep(small, {"down.delay_ms": [10, -1]})


SCRIPT = """
import sys, tidegate as tg
s = tg.Scenario.loads(sys.argv[2])
s["duration_s"] = 20
tg.sweep(s, seeds=40).run(out=sys.argv[1], threads=2)
"""


def start(folder) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), TEXT], stderr=subprocess.PIPE)


def wait_for_shards(folder, number: int) -> None:
    began = time.monotonic()
    while len(shards(folder)) < number:
        assert time.monotonic() - began < 120, "no shards"
        time.sleep(0.002)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_who_is_ended_is_gone_on_with_to_the_same_bytes(how, tmp_path):
    s = tg.Scenario.loads(TEXT)
    s["duration_s"] = 20
    sweep = tg.sweep(s, seeds=40)
    whole = sweep.run(out=tmp_path / "whole").to_dict()
    ended = tmp_path / "ended"
    ended.mkdir()
    child = start(ended)
    wait_for_shards(ended, 3)
    # One at a time writes there.
    if how == signal.SIGKILL:
        with pytest.raises(ValueError, match="another process writes its shards there"):
            sweep.run(out=ended)
    os.kill(child.pid, how)
    child.communicate()
    assert child.returncode != 0
    before = shards(ended)
    assert before.items() <= shards(tmp_path / "whole").items()
    times = {name: (ended / name).stat().st_mtime_ns for name in before}
    assert sweep.run(out=ended).to_dict() == whole
    assert shards(ended) == shards(tmp_path / "whole")
    assert {name: (ended / name).stat().st_mtime_ns for name in before} == times
    assert not list(ended.glob("*.part")) and not list(ended.glob(".*.part"))


def test_a_full_disk_leaves_whole_shards(sweep, tmp_path):
    """The least that a file system can do: no file may be longer than a shard's first half."""
    sweep.run(out=tmp_path / "whole")
    whole = shards(tmp_path / "whole")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (min(map(len, whole.values())) // 2, hard))
    try:
        with pytest.raises(OSError, match="write "):
            sweep.run(out=tmp_path / "full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sorted(path.name for path in (tmp_path / "full").iterdir()) == [".lock"]
    sweep.run(out=tmp_path / "full")
    assert shards(tmp_path / "full") == whole


@pytest.mark.skipif(os.geteuid() != 0, reason="a disk of its own needs root")
def test_a_disk_that_becomes_full_is_gone_on_with(small, tmp_path):
    small["duration_s"], small["warmup_s"] = 1, 0
    sweep = tg.sweep(small, seeds=100)
    whole = sweep.run(out=tmp_path / "whole").to_dict()
    disk = tmp_path / "disk"
    disk.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(options: bytes, flags: int = 0) -> None:
        if libc.mount(b"tmpfs", bytes(disk), b"tmpfs", flags, options) != 0:
            raise OSError(ctypes.get_errno(), "mount")

    mount(b"size=64k")
    try:
        with pytest.raises(OSError) as error:
            sweep.run(out=disk / "rows")
        assert error.value.errno == 28
        there = shards(disk / "rows")
        assert there and there.items() <= shards(tmp_path / "whole").items()
        mount(b"size=16m", 32)
        assert sweep.run(out=disk / "rows").to_dict() == whole
        assert shards(disk / "rows") == shards(tmp_path / "whole")
    finally:
        libc.umount2(bytes(disk), 2)


def test_a_killed_worker_of_dask_costs_nothing(small, tmp_path):
    distributed = pytest.importorskip("distributed")
    small["duration_s"] = 20
    sweep = tg.sweep(small, seeds=40)
    whole = sweep.run(out=tmp_path / "whole").to_dict()
    out = tmp_path / "dask"
    out.mkdir()
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            pids = client.run(os.getpid)

            def kill(done: float, all: float) -> None:
                if done and pids:
                    os.kill(pids.popitem()[1], signal.SIGKILL)
                    pids.clear()

            assert sweep.run(out=out, executor=client.get_executor(), progress=kill).to_dict() == whole
    assert not pids and shards(out) == shards(tmp_path / "whole")


def test_ray_does_the_work(sweep, tmp_path):
    ray = pytest.importorskip("ray")
    from tidegate.ray import RayExecutor

    ray.init(num_cpus=2, include_dashboard=False)
    try:
        assert sweep.run(executor=RayExecutor()).to_dict() == sweep.run().to_dict()
    finally:
        ray.shutdown()
