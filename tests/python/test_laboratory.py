"""Runs in the laboratory."""

import pytest
from conftest import LABORATORY, interrupted

import tidegate as tg

pytestmark = pytest.mark.skipif(not LABORATORY, reason="the laboratory needs root and /dev/net/tun")

BOTH = """
name = "both"
duration_s = 6
warmup_s = 2
down = { rate = { constant_mbps = 20 }, delay_ms = 20, queue = { packets = 1000 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "linux" }]
"""


class Fixed:
    """A sender: eighty segments, whatever is lost. 80 · 1448 bytes are more than a round trip takes."""

    def ack(self, flow):
        flow.cwnd_packets = 80

    def loss(self, flow):
        flow.ssthresh_packets = 80


class Narrow:
    """A receiver's law: 50 kB a round trip of 40 ms are 10 Mbit/s."""

    def data(self, flow):
        assert flow.read_bytes <= flow.in_order_bytes
        return 50_000


def test_the_kernels_tcp_crosses_the_link():
    result = tg.Scenario.loads(BOTH).lab("linux")
    assert 17e6 < result.runs["goodput_bps"][0] < 20e6
    assert result.to_dict()["runs"][0]["law"] == "none"
    assert result.runs["key"][0] == "none: measured in real time"


def test_a_sender_in_python_sends_to_linux():
    scenario = tg.Scenario.loads(BOTH)
    told = []
    result = scenario.lab(
        congestion_control=Fixed, own_tcp=["server"], series=True, progress=lambda done, all: told.append((done, all))
    )
    assert result.to_dict()["runs"][0]["congestion_control"] == "Fixed"
    assert 17e6 < result.runs["goodput_bps"][0] < 20e6
    assert result.runs["queue_delay_mean_ms"][0] < 40, "a window of 80 segments leaves no long queue"
    assert told[-1][1] == 6.0 and 0 < told[-1][0] <= 6.0
    assert "queue_delay_ms" in set(result.series["quantity"])


def test_a_law_in_python_steers_linux():
    result = tg.Scenario.loads(BOTH).lab(law=Narrow, own_tcp=["client"])
    assert result.to_dict()["runs"][0]["own_law"] == "Narrow"
    assert 7e6 < result.runs["goodput_bps"][0] < 10.1e6
    assert result.runs["queue_delay_p95_ms"][0] < 10


def test_a_sender_needs_the_hosts_own_tcp():
    with pytest.raises(RuntimeError, match=r'expected own_tcp = \["server"\]'):
        tg.Scenario.loads(BOTH).lab(congestion_control=Fixed)


def test_a_law_of_the_project_needs_the_agent():
    with pytest.raises(RuntimeError, match="needs the agent"):
        tg.Scenario.loads(BOTH).lab(law="tide")


def test_what_a_sender_raises_is_raised():
    class Faulty(Fixed):
        def ack(self, flow):
            raise ValueError("no idea")

    with pytest.raises(ValueError, match="no idea"):
        tg.Scenario.loads(BOTH).lab(congestion_control=Faulty, own_tcp=["server"])


def test_an_interrupt_ends_it():
    scenario = tg.Scenario.loads(BOTH.replace("duration_s = 6", "duration_s = 60"))
    assert interrupted(lambda: scenario.lab("linux")) < 5
