"""Rates and delays that are arrays."""

import pytest

import tidegate as tg

TIMES = [ms for ms in range(1, 1001) if ms % 3] + [1000] * 3


def test_an_array_is_what_its_file_is(small, tmp_path):
    file = tmp_path / "link.down"
    file.write_text("\n".join(map(str, TIMES)) + "\n")
    small["down"]["rate"] = {"trace": str(file)}
    from_file = small.run("tide")
    small["down"]["rate"] = tg.trace(TIMES)
    from_array = small.run("tide")
    assert from_array.flows == from_file.flows
    # The key of a result depends on what is in a trace, not on where it lies.
    assert from_array.runs["key"] == from_file.runs["key"]


def test_lists_arrays_and_generators_will_do(small):
    numpy = pytest.importorskip("numpy")
    made = [tg.trace(TIMES), tg.trace(numpy.array(TIMES)), tg.trace(float(t) for t in TIMES)]
    assert made[0] == made[1] == made[2]
    assert "Mbit/s" in repr(made[0])


def test_rates_over_time(small):
    small["down"]["rate"] = tg.rate_series([0, 1, 2], [4e6, 8e6, 8e6])
    goodput = small.run("tide").flows["goodput_bps"][0]
    # Of seconds 1 to 6 one is at 4 Mbit/s; headers take a twentieth.
    assert 6.5e6 < goodput < 7.2e6 * 0.96
    small["down"]["rate"] = tg.rate_series([0, 1, 2], [4e6, 8e6, 8e6], burst_ms=4, interpolate=True)
    assert small.run("tide").flows["goodput_bps"][0] != goodput


def test_delays_over_time(small):
    rtt = small.run("tide").flows["rtt_p50_ms"][0]
    small["down"]["delay_trace"] = tg.delay_trace([20] * 50 + [60] * 50)
    assert small.run("tide").flows["rtt_p95_ms"][0] > rtt + 30


@pytest.mark.parametrize(
    "times, word",
    [([], "ends at 0"), ([0], "ends at 0"), ([2, 1], "do not decrease"), ([0.5], "whole number"), ([-1], "whole number")],
)
def test_traces_that_are_none_are_refused(times, word):
    with pytest.raises(tg.ScenarioError, match=word):
        tg.trace(times)


def test_what_is_wrong_in_an_array_is_told(small):
    small["down"]["rate"] = tg.rate_series([0, 1], [1e6, -5])
    with pytest.raises(tg.ScenarioError, match="series-"):
        small.run("tide")
    with pytest.raises(tg.ScenarioError, match="one for each of 2"):
        tg.rate_series([0, 1], [1e6])
