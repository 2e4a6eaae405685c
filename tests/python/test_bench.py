"""What measures runs and steps."""

import json
import os
import sys

import pytest

pytest.importorskip("gymnasium")
bench = pytest.importorskip("tidegate.bench")

#: What of PCC-RL's simulator is touched, and how it names what it needs.
THEIRS = """
import gym
from gym import spaces
from gym.utils import seeding
from gym.envs.registration import register

class Sender:
    rate = 0
    def set_rate(self, rate):
        self.rate = rate

class SimulatedNetworkEnv(gym.Env):
    def __init__(self):
        print("History length: 10")
        self.run_dur = None
        self.steps = 0
    def reset(self):
        self.senders = [Sender()]
        self.run_dur = 3 * self.min_lat
        assert self.min_bw == self.max_bw and 1 + int(2.718281828459045 ** self.max_queue) == 500
    def step(self, actions):
        assert self.senders[0].rate == self.min_bw and actions[0] == 0
        self.run_dur = self.run_dur if self.run_dur == 0.01 else 0.5
        self.steps += 1
        return [], 0.0, self.steps % 400 == 0, {}
"""


@pytest.fixture
def brief(monkeypatch):
    monkeypatch.setattr(bench, "RUNS", 1)
    monkeypatch.setattr(bench.shutil, "which", lambda _: None)
    return ["--takes", "1", "--seconds", "0.001"]


def test_steps_are_measured_beside_another_simulators(brief, tmp_path, capsys, monkeypatch):
    (tmp_path / "src/gym").mkdir(parents=True)
    (tmp_path / "src/gym/network_sim.py").write_text(THEIRS)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setattr(sys, "path", list(sys.path))
    bench.main([*brief, "--json", "--pcc-rl", str(tmp_path)])
    results = json.loads(capsys.readouterr().out)["results"]
    values = {row["name"]: row["value"] for row in results}
    assert min(values.values()) > 0
    for row in results:
        assert row["unit"] == "steps/s"
        if "versus" in row:
            assert row["ratio"] == pytest.approx(row["value"] / values[row["versus"]])
    assert [row["name"] for row in results if "PCC" not in row["name"]][:5] == [
        "LinkEnv: lte-download",
        "SyncVectorEnv of 16: lte-download",
        "LinkVectorEnv of 1: lte-download",
        "LinkVectorEnv of 4: lte-download",
        "LinkVectorEnv of 16: lte-download",
    ]
    assert sum("PCC-RL, steps of 10 ms" in name for name in values) == 2


def test_runs_are_measured_beside_the_command_line(brief, capsys, monkeypatch):
    program = os.environ.get("TIDEGATE_PROGRAM")
    if not program:
        pytest.skip("the command line is not built")
    monkeypatch.setattr(bench, "steps", lambda *_: iter(()))
    bench.main([*brief, "--program", program])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6 and "Scenario.run_all, 2 threads" in lines[5] and "runs/s" in lines[5]


def test_what_makes_no_sense_is_refused(brief, tmp_path):
    with pytest.raises(SystemExit, match="network_sim.py: not there"):
        bench.main([*brief, "--pcc-rl", str(tmp_path)])
    with pytest.raises(SystemExit):
        bench.main(["--takes", "0"])


def test_a_sweep_is_measured_on_all_that_there_is(brief, capsys):
    bench.main([*brief, "--json", "--sweep", "8"])
    results = json.loads(capsys.readouterr().out)["results"]
    swept = [row for row in results if row["name"].startswith("sweep of 8")]
    assert [row["name"].split(", ")[1] for row in swept][:2] == ["2 threads", "2 processes"]
    assert all(row["value"] > 0 and row["unit"] == "runs/s" for row in swept)
