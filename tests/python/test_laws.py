"""Laws and senders in Python."""

import functools
import threading
import time
import traceback

import pytest
from conftest import interrupted

import tidegate as tg
from tidegate import bench_laws
from tidegate.examples import Drwa, Reno

#: With losses, an upload, short flows, and one that has a congestion control of its own.
MIXED = """
name = "mixed"
duration_s = 12
warmup_s = 2
down = { rate = { generate = { kind = "lte" } }, delay_ms = 25, queue = { packets = 300 }, loss = { random = 0.0005 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 25 }
run = [{ name = "linux" }]
workload = [
    { name = "bulk", does = { bulk = {} } },
    { name = "other", congestion_control = "cubic", does = { bulk = {} } },
    { name = "up", start_s = 3, does = { bulk = { direction = "up" } } },
    { name = "web", does = { web = { object_bytes = [3000, 200000], pause_s = 0.3 } } },
]
"""


class Sixteen:
    """A window of 16 segments."""

    every_ack = True

    def start(self, flow):
        flow.cwnd_packets = 16

    def ack(self, flow):
        flow.cwnd_packets = 16


class Fixed:
    """A window of that many bytes."""

    def __init__(self, bytes=60_000):
        self.bytes = bytes

    def data(self, flow):
        return self.bytes


class Failing:
    """Works for a while."""

    def __init__(self):
        self.calls = 0

    def ack(self, flow):
        self.calls += 1
        if self.calls > 300:
            raise ZeroDivisionError("that is enough")

    def data(self, flow):
        return self.ack(flow)


class Endless:
    def data(self, flow):
        if flow.now_ms > 1000:
            while True:
                pass


def lines(result, *without):
    """What it measured, line by line, but for what it is called."""
    text = result.to_json(series=True).splitlines()
    named = ('"command"', '"name"', '"own_law"', '"law"', *without)
    return [line for line in text if not line.strip().startswith(named)]


# What they do.


@pytest.mark.parametrize("seed", [1, 2])
def test_reno_is_the_simulators_to_the_byte(small, seed):
    for s in (small, tg.Scenario.loads(MIXED)):
        own, native = (s.run(congestion_control=cc, seed=seed, series=True) for cc in (Reno, "reno"))
        assert native.flows["retransmits"][0] > 0
        assert lines(own, '"congestion_control"') == lines(native, '"congestion_control"')


def test_drwa_is_near_the_simulators(small):
    own, native = small.run(law=Drwa), small.run(law="drwa")
    near = {"goodput_bps": 0.01, "queue_delay_p50_ms": 0.05, "queue_delay_p95_ms": 0.05, "rtt_p50_ms": 0.05}
    for column, part in near.items():
        assert own.metrics[column] == pytest.approx(native.metrics[column], rel=part), column


def test_a_law_lowers_windows_alone_and_leaves_two_segments(small):
    linux = small.run(law="none", series=True)
    for none in (None, 1e12):
        same = small.run(law=functools.partial(Fixed, none), series=True)
        # It measures round trips, which are a curve; nothing else is another.
        points = [[tuple(p.values())[1:] for p in r.series if p["quantity"] != "agent_rtt_ms"] for r in (same, linux)]
        assert points[0] == points[1]
    told = []

    class Least:
        def data(self, flow):
            told.append((flow.window_bytes, flow.host_window_bytes))
            return 0

    session = small.session(law=Least)
    edge = 0
    while not session.is_over:
        session.advance(1)
        flow = session.flow()
        if flow.established:
            # Nothing that was promised is taken back.
            assert flow.acknowledged_bytes + flow.window_bytes >= edge
            edge = flow.acknowledged_bytes + flow.window_bytes
            assert flow.window_bytes >= 2 * 1448
    least = session.finish()
    assert 2e5 < least.metrics["goodput_bps"] < 2e6
    assert all(window <= host for window, host in told)
    assert told[-1][0] < 2 * 1448 + 2048


def test_a_law_sees_what_arrives(small):
    last = {}
    rtts = []

    class Look:
        def data(self, flow):
            if flow.rtt_ms is not None:
                rtts.append(flow.rtt_ms)
            names = [name for name in dir(flow) if not name.startswith("_")]
            last.update({name: getattr(flow, name) for name in names})
            return 100_000.7

    small.run(law=Look)
    assert 5990 < last["now_ms"] <= 6000
    assert last["bytes"] == last["segment_bytes"] == 1448
    assert 10e6 < last["read_bytes"] <= last["in_order_bytes"] < 15e6
    assert 40 <= last["min_rtt_ms"] <= min(rtts) < 42
    assert 0 <= last["queue_delay_ms"] < 30
    assert 98_000 < last["window_bytes"] < 102_000 < last["host_window_bytes"]


def test_a_law_is_where_a_runs_law_is():
    made = []

    class Seen(Fixed):
        def __init__(self):
            super().__init__(None)
            made.append(self)

    s = tg.Scenario.loads(MIXED)
    for place, least, most in [("law", 5, 100), ("server_law", 1, 1)]:
        made.clear()
        run = s.run(**{"law": "tide", place: Seen}).to_dict()["runs"][0]
        assert least <= len(made) <= most, place
        assert run[f"own_{place}"] == "Seen"
        assert run["law"] == ("none" if place == "law" else "tide")


def test_a_sender_sees_what_is_acknowledged_and_is_told(small):
    last, steps, recoveries = {}, [], set()

    class Look(Reno):
        def start(self, flow):
            assert flow.cwnd_packets == 10 and flow.ssthresh_packets == 0x7FFFFFFF
            flow.pacing_bps = 30e6

        def step(self, flow):
            steps.append(flow.now_ms)
            return 25

        def sample(self, flow):
            recoveries.add(flow.recovery)
            if flow.rtt_ms is not None:
                names = [name for name in dir(flow) if not name.startswith("_")]
                last.update({name: getattr(flow, name) for name in names})

    small["down"]["queue"]["packets"] = 100
    result = small.run(congestion_control=Look)
    assert result.flows["retransmits"][0] > 0
    assert recoveries >= {"open", "disorder", "recovery"}
    assert 5990 < last["now_ms"] <= 6000
    assert {round(after - before, 6) for before, after in zip(steps, steps[1:])} == {25}
    assert len(steps) == 238
    assert last["delivered_packets"] > 9000 and last["lost_packets"] > 0
    assert last["segment_bytes"] == 1448
    assert 40 <= last["min_rtt_ms"] <= last["rtt_ms"] < 150
    assert last["pacing_bps"] == 30e6
    assert last["cwnd_packets"] <= last["in_flight_packets"] + 5


def test_a_sender_may_have_window_and_rate_alone(small):
    result = small.run(congestion_control=Sixteen)
    rtt_s = 0.04 + 16 * 1500 * 8 / 20e6 / 16
    assert result.metrics["goodput_bps"] == pytest.approx(16 * 1448 * 8 / rtt_s, rel=0.03)
    heard = []

    class Paced:
        every_ack = True

        def start(self, flow):
            flow.cwnd_packets, flow.pacing_bps = 1000, 8e6

        def ack(self, flow):
            heard.append((flow.acked_packets, flow.delivery_bps))

    result = small.run(congestion_control=Paced)
    assert result.links["delivered_bps"][0] == pytest.approx(8e6, rel=0.05)
    assert heard[-1][1] == pytest.approx(7.7e6, rel=0.1)


def test_losses_and_timeouts_are_told():
    heard = []

    class Listening:
        def ack(self, flow):
            pass

        def loss(self, flow):
            heard.append("loss")
            flow.ssthresh_packets = 20

        def timeout(self, flow):
            heard.append("timeout")

    s = tg.Scenario.loads(MIXED)
    s["workload"] = s["workload"][:1]
    s["down"]["loss"] = {"random": 0.3}
    s.run(congestion_control=Listening)
    assert heard.count("loss") > heard.count("timeout") >= 1
    assert all(before == "loss" for before, after in zip(heard, heard[1:]) if after == "timeout")


def test_runs_of_a_scenario_may_have_them(small):
    small["run"] += [{"name": "mine", "congestion_control": Reno, "law": Drwa}]
    results = [small.run_all(seeds=2, threads=threads, series=True) for threads in (1, 2)]
    assert results[0].names == ["linux", "drwa", "tide", "mine"] * 2
    assert lines(results[0]) == lines(results[1])
    assert [run["own_law"] for run in results[0][3].to_dict()["runs"]] == ["Drwa"]
    assert small.run("mine").metrics["goodput_bps"] == results[0][3].metrics["goodput_bps"]
    assert small["run"][3]["law"] is Drwa
    assert "mine   Drwa  Reno" in repr(small.run_all())


def test_the_same_run_has_the_same_bytes(small):
    first, second = (small.run(law=Drwa, congestion_control=Reno, series=True) for _ in range(2))
    assert first.to_json(series=True) == second.to_json(series=True)
    assert '"command": "tidegate.Scenario(…).run(law=Drwa, congestion_control=Reno)"' in first.to_json()


def test_sessions_have_them(small):
    whole = small.run(law=Drwa, congestion_control=Reno, series=True)
    session = small.session(law=Drwa, congestion_control=Reno, series=True)
    while not session.is_over:
        session.advance(7)
    assert lines(session.finish()) == lines(whole)


# What goes wrong.


def test_what_they_raise_is_raised_where_they_run(small):
    for setting in ("law", "congestion_control"):
        with pytest.raises(ZeroDivisionError, match="that is enough") as raised:
            small.run(**{setting: Failing})
        frames = traceback.extract_tb(raised.value.__traceback__)
        assert [frame.name for frame in frames][-1] == "ack" and frames[-1].filename == __file__
    small["run"] += [{"name": "failing", "law": Failing}]
    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError):
            small.run_all(seeds=3, threads=threads)
    with pytest.raises(ZeroDivisionError):
        tg.sweep(small, seeds=2).run()
    assert small.run("tide").names == ["tide"]


def test_a_session_ends_with_what_they_raise(small):
    session = small.session(law=Failing)
    with pytest.raises(ZeroDivisionError):
        session.advance(5000)
    with pytest.raises(ValueError, match="finished"):
        session.advance(1)


def test_what_cannot_be_made_is_told(small):
    class Unmade(Reno):
        def __init__(self):
            raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        small.run(congestion_control=Unmade)
    with pytest.raises(AttributeError, match="data"):
        small.run(law=lambda: Reno())


@pytest.mark.parametrize(
    ("attribute", "value", "kind", "words"),
    [
        ("cwnd_packets", 0, ValueError, "cwnd_packets is 0, expected 1 or more"),
        ("cwnd_packets", 1.5, TypeError, "float"),
        ("ssthresh_packets", -1, ValueError, "expected 1 or more"),
        ("cwnd_count", -1, ValueError, "expected 0 or more"),
        ("pacing_bps", 0, ValueError, "pacing_bps is 0, expected 8 to 1e15"),
        ("pacing_bps", float("nan"), ValueError, "expected 8 to 1e15"),
        ("acked_packets", 1, AttributeError, "acked_packets"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_is_set(small, attribute, value, kind, words):
    class Wrong:
        def ack(self, flow):
            setattr(flow, attribute, value)

    with pytest.raises(kind, match=words):
        small.run(congestion_control=Wrong)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ("much", TypeError, r"data\(\) answered 'much', expected a window in bytes, or None"),
        (-1, ValueError, r"data\(\) answered -1, expected 0 bytes or more"),
        (float("nan"), ValueError, "expected 0 bytes or more"),
    ],
)
def test_a_window_is_a_number_of_bytes(small, answer, kind, words):
    with pytest.raises(kind, match=words):
        small.run(law=functools.partial(Fixed, answer))


def test_steps_go_on_in_time(small):
    class Stuck(Reno):
        def step(self, flow):
            return 0

    with pytest.raises(ValueError, match=r"step\(\) answers is 0, expected 0.001 ms or more"):
        small.run(congestion_control=Stuck)


def test_only_classes_will_do(small):
    for setting, wrong, words in [
        ("law", Fixed(1), "law is one Fixed, expected the class"),
        ("law", Reno, r"the class Reno without data\(flow\)"),
        ("congestion_control", Drwa, r"the class Drwa without ack\(flow\)"),
    ]:
        with pytest.raises(tg.ScenarioError, match=words) as raised:
            small.run(**{setting: wrong})
        assert raised.value.key == setting


def test_a_session_is_not_asked_by_what_it_calls(small):
    sessions = []

    class Nosy:
        def data(self, flow):
            sessions[0].flow()

    sessions.append(small.session(law=Nosy))
    with pytest.raises(RuntimeError, match="being advanced"):
        sessions[0].advance(5000)


# Interrupts, threads, progress.


def test_an_interrupt_stops_them(small):
    small["duration_s"] = 80_000
    small["run"] = [{"name": "drwa", "law": Drwa}]
    assert min(interrupted(lambda: small.run("drwa")) for _ in range(3)) < 0.05
    assert min(interrupted(lambda: small.run_all(seeds=3, threads=2)) for _ in range(5)) < 0.05
    assert min(interrupted(lambda: small.session("drwa").advance(1e9)) for _ in range(3)) < 0.05


def test_an_interrupt_stops_what_never_ends(small):
    small["run"] = [{"name": "endless", "law": Endless}]
    assert interrupted(lambda: small.run("endless")) < 2
    assert interrupted(lambda: small.run_all(seeds=2, threads=2)) < 2
    assert interrupted(lambda: small.session("endless").advance(5000)) < 2


def test_progress_is_told_and_others_run_meanwhile(small):
    small["duration_s"] = 200
    told, ticks = [], []
    over = threading.Event()

    def tick():
        while not over.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    small.run(law=Drwa, progress=lambda done, all: told.append((done, all)))
    over.set()
    thread.join()
    assert len(told) > 2 and told == sorted(told) and told[-1][1] == 200
    assert len(ticks) > 10

    def enough(done, all):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        small.run(law=Drwa, progress=enough)


# What they are taken for.


def test_keys_say_so(small):
    class Unversioned(Fixed):
        pass

    def key(**settings):
        return small.run(**settings).metrics["key"]

    class Other(Fixed):
        version = "a"

    keys = [key(law=Drwa), key(law=Drwa, congestion_control=Reno), key(congestion_control=Reno), key(law=Other)]
    Other.version = "b"
    keys.append(key(law=Other))
    assert len({*keys, key(law="none"), key(congestion_control="reno"), key(law="drwa")}) == 8
    assert all(key.endswith("-own") for key in keys)
    assert key(law=Drwa) == keys[0]
    assert key(law=Unversioned) == "none: Unversioned states no version"


def test_sweeps_go_on_by_what_a_class_states(small, tmp_path):
    class Stated(Fixed):
        version = 1

    small["run"] = [{"name": "linux"}, {"name": "fixed", "law": Stated}]
    first = tg.sweep(small, seeds=2).run(out=tmp_path / "rows")
    assert first["run"] == ["linux", "fixed"] * 2
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "rows").glob("*.csv")}
    again = tg.sweep(small, seeds=2).run(out=tmp_path / "rows")
    assert again == first and files == {path: path.stat().st_mtime_ns for path in files}
    Stated.version = 2
    with pytest.raises(ValueError, match="has the key .*-own, expected"):
        tg.sweep(small, seeds=2).run(out=tmp_path / "rows")


def test_sweeps_in_a_folder_refuse_what_states_nothing(small, tmp_path):
    small["run"] = [{"name": "fixed", "law": Fixed}]
    with pytest.raises(ValueError, match="Fixed states no version.*attribute `version`"):
        tg.sweep(small, seeds=2).run(out=tmp_path / "rows")
    assert not (tmp_path / "rows").exists()
    assert tg.sweep(small, seeds=2).run()["key"] == ["none: Fixed states no version"] * 2


def test_the_benchmark_prints(capsys):
    bench_laws.main(["--seconds", "2", "--takes", "1"])
    printed = capsys.readouterr().out
    assert "ns an arrival" in printed and "reno, runs/s" in printed


# In workloads.

BESIDE = [
    {"name": "mine", "congestion_control": Reno, "does": {"bulk": {}}},
    {"name": "cubic", "congestion_control": "cubic", "does": {"bulk": {}}},
    {"name": "follow", "law": Drwa, "congestion_control": Sixteen, "does": {"bulk": {}}},
    {"name": "up", "law": functools.partial(Fixed, 20_000), "does": {"bulk": {"direction": "up"}}},
]


def test_a_workloads_sender_is_the_simulators_to_the_byte(small):
    named = [{"name": "mine", "congestion_control": "reno"}, {"name": "cubic", "congestion_control": "cubic"}]
    small["workload"] = [{**workload, "does": {"bulk": {}}} for workload in named]
    native = small.run("linux", series=True)
    small["workload"] = BESIDE[:2]
    own = small.run("linux", series=True)
    assert lines(own) == lines(native)
    assert own.to_dict()["runs"][0]["congestion_control"] == "cubic"


def test_several_stand_beside_each_other(small):
    small["workload"] = BESIDE
    r = small.run_all(["linux", "tide"])
    goodput = dict(zip(r["linux"].flows["flow"], r["linux"].flows["goodput_bps"]))
    rtt = dict(zip(r["linux"].flows["flow"], r["linux"].flows["rtt_p50_ms"]))
    # 16 segments in a round trip at most, and less if its law says so; 20,000 bytes.
    assert 0 < goodput["follow"] < 1.1 * 16 * 1448 * 8 / (rtt["follow"] / 1e3)
    assert goodput["up"] == pytest.approx(20_000 * 8 / (rtt["up"] / 1e3), rel=0.2)
    assert goodput["mine"] > goodput["follow"]
    # The run's own goes where a workload has none.
    small["workload"] = BESIDE[1:3]
    assert small.run(law=Fixed).to_dict()["runs"][0]["own_law"] == "Fixed"


def test_a_scenario_names_what_own_brings(small):
    small["workload"] = [{**BESIDE[0], "congestion_control": "mine"}, *BESIDE[1:]]
    own = small.run("linux", own={"mine": Reno}, series=True)
    assert 'run(\'linux\', own={\'mine\': Reno})"' in own.to_json()
    small["workload"] = BESIDE
    assert lines(own) == lines(small.run("linux", series=True))
    assert len(small.run_all(own={})) == 3
    with pytest.raises(tg.ScenarioError, match="own has theirs, expected names"):
        small.run("linux", own={"theirs": Reno})
    small["workload"] = [{**BESIDE[0], "congestion_control": "mine"}]
    with pytest.raises(tg.ScenarioError, match='no congestion control "mine"'):
        small.run("linux")
    session = small.session("linux", own={"mine": Reno})
    session.advance(6000)
    assert session.is_over


def test_a_workloads_class_is_checked_and_in_keys(small):
    small["workload"] = [{**BESIDE[0], "congestion_control": Drwa}]
    with pytest.raises(tg.ScenarioError, match=r"the class Drwa without ack\(flow\)"):
        small.run("linux")

    class Versioned(Sixteen):
        version = 1

    small["workload"] = [{**BESIDE[0], "congestion_control": Versioned}]
    [first] = {key for key in small.run("linux").runs["key"]}
    assert first.endswith("-own")
    Versioned.version = 2
    assert small.run("linux").runs["key"] != [first]
    small["workload"] = BESIDE
    assert tg.sweep(small, seeds=2, runs=["linux"]).run()["flows_started"] == [None, None]
