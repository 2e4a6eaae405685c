"""A run step by step."""

import pytest

from tidegate import ScenarioError


@pytest.mark.parametrize("step_ms", [0.7, 10, 1000, 1e6])
def test_stepped_and_whole_the_bytes_are_the_same(small, step_ms):
    session = small.session("tide", series=True)
    while not session.is_over:
        session.advance(step_ms)
        session.flow(), session.link("up"), session.capacity_bps(10)
    stepped, whole = session.finish(), small.run("tide", series=True)
    assert stepped.series == whole.series
    lines = [r.to_json(series=True).splitlines() for r in (stepped, whole)]
    assert [line for line in lines[0] if '"command"' not in line] == [line for line in lines[1] if '"command"' not in line]


def test_it_is_looked_at_and_acted_on(small):
    session = small.session(law="none")
    assert session.flows == ["download"] and session.links == ["down", "up"]
    assert not session.set_window(20_000)
    session.advance(2000)
    assert session.now_s == 2
    assert session.flow("download").established
    before = session.link("down").queue_delay_ms
    assert session.set_window(60_000)
    session.advance(2000)
    assert session.flow().window_bytes <= 60_416
    assert session.link().queue_delay_ms < min(before, 20)
    assert session.capacity_bps(100) == pytest.approx(20e6, rel=0.001)
    assert "at 4.000 of 6 s" in repr(session)
    result = session.finish()
    assert result.names == ["linux"]
    with pytest.raises(ValueError, match="finished"):
        session.advance(10)


def test_a_sender_is_told(small):
    session = small.session(law="none")
    session.advance(500)
    session.set_sender(pacing_bps=8e6)
    session.advance(1000)
    before = session.link().delivered_bytes
    session.advance(2000)
    assert (session.link().delivered_bytes - before) * 8 / 2 == pytest.approx(8e6, rel=0.05)
    session.set_sender(cwnd_packets=10)
    session.advance(1000)
    assert session.flow().cwnd_packets == 10


def test_what_is_not_there_is_told(small):
    session = small.session("linux")
    with pytest.raises(KeyError, match="download"):
        session.flow("upload")
    with pytest.raises(IndexError):
        session.link(2)
    with pytest.raises(ValueError, match="expected 0 or more"):
        session.advance(-1)


def test_what_makes_no_sense_is_refused(small):
    session = small.session(law="none")
    session.advance(2000)
    for wrong in [
        lambda: session.set_sender(pacing_bps=0),
        lambda: session.set_sender(pacing_bps=float("nan")),
        lambda: session.set_sender(cwnd_packets=0),
        lambda: session.set_window(-1),
        lambda: session.capacity_bps(-5),
        lambda: session.advance(float("nan")),
    ]:
        with pytest.raises(ScenarioError, match="expected"):
            wrong()
    for nobody in [lambda: session.flow(-1), lambda: session.flow(1), lambda: session.capacity_bps(10, 9)]:
        with pytest.raises(IndexError, match="there is no"):
            nobody()
    with pytest.raises(KeyError, match="expected one of download"):
        session.flow("upload")
