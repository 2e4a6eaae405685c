"""Results: tables, curves, what is shown."""

import csv
import io
import json

import pytest
from conftest import TEXT

import tidegate as tg


def test_tables_have_units_in_their_columns(small):
    r = small.run_all()
    assert r.names == ["linux", "drwa", "tide"]
    assert r.flows["run"] == r.names
    assert {"goodput_bps", "rtt_p95_ms", "completion_s"} <= set(r.flows.columns)
    assert r.links["link"] == ["down", "up"] * 3
    queue = dict(zip(r.names, r.runs["queue_delay_p95_ms"]))
    assert queue["tide"] < queue["linux"] / 3
    assert r["tide"].metrics["queue_delay_p95_ms"] == queue["tide"]
    assert r[-1].names == r[2:].names == ["tide"]
    assert len(list(r)) == 3
    with pytest.raises(KeyError, match="linux, drwa, tide"):
        r["tied"]
    with pytest.raises(IndexError):
        r[3]


def test_curves_have_the_bin_that_was_asked_for(small):
    r = small.run(law="tide", series=["queue_delay_ms"], bin_ms=10)
    assert set(r.series["quantity"]) == {"queue_delay_ms"}
    times = r.series["t_s"]
    steps = {round((b - a) * 1e3) for a, b in zip(times, times[1:])}
    assert min(steps) == 10
    assert 500 < len(times) <= 600
    every = small.run(law="tide", series=True, bin_ms=10)
    assert {"queue_delay_ms", "cwnd_packets", "goodput_bps", "window_bytes"} <= set(every.series["quantity"])
    # Looking closer changes nothing.
    assert every.to_json() == small.run(law="tide").to_json()
    flows = [t for t, q in zip(every.series["t_s"], every.series["quantity"]) if q == "cwnd_packets"]
    assert min(round((b - a) * 1e3) for a, b in zip(flows, flows[1:])) == 10


def test_a_bin_of_a_tenth_is_what_the_command_line_has(small):
    first = small.run("tide", series=True)
    assert first.series == small.run("tide", series=True, bin_ms=100).series
    assert first.to_dict(series=True)["runs"][0]["series"]
    assert "series" not in first.to_dict()["runs"][0]


def test_variants_reach_everything(small):
    r = small.run_all(
        ["drwa"],
        vary={"run.drwa.lambda": [2, 3.5], "workload.download.start_s": [0, 1], "down.delay_ms": [20, 40]},
    )
    assert len(r) == 8
    assert r.runs.columns[:4] == ["run.drwa.lambda", "workload.download.start_s", "down.delay_ms", "run"]
    assert r.runs["run.drwa.lambda"] == [2.0] * 4 + [3.5] * 4
    assert r.runs["down.delay_ms"] == [20, 40] * 4
    assert len(set(r.runs["key"])) == 8
    with pytest.raises(tg.ScenarioError, match="expected one of linux, drwa, tide"):
        small.run_all(vary={"run.tied.lambda": [2]})


def test_seeds_and_threads(small):
    small["down"]["loss"] = {"random": 0.001}
    r = small.run_all(["linux"], seeds=4, threads=2)
    assert r.runs["seed"] == [3, 4, 5, 6]
    assert len(set(r.runs["retransmits"])) > 1
    assert r.to_json() == small.run_all(["linux"], seeds=4, threads=1).to_json()
    assert small.run("linux", seed=5).flows["goodput_bps"][0] == r.flows["goodput_bps"][2]
    with pytest.raises(tg.ScenarioError, match="expected one of them"):
        small.run_all(vary={"seed": [1]}, seeds=2)


def test_keys_in_a_tuple_change_together(small):
    r = small.run_all(["tide"], vary={("down.delay_ms", "up.delay_ms"): [(10, 20), (70, 90)], "seed": [1, 2]})
    assert r.runs["down.delay_ms"] == [10, 10, 70, 70]
    assert r.runs["up.delay_ms"] == [20, 20, 90, 90]
    assert r.runs["rtt_p50_ms"][2] > 160 > 80 > r.runs["rtt_p50_ms"][0] >= 30
    with pytest.raises(tg.ScenarioError, match="expected 2 values, one for each key"):
        small.run_all(vary={("down.delay_ms", "up.delay_ms"): [(10, 20), (70,)]})
    with pytest.raises(tg.ScenarioError, match="no values"):
        small.run_all(vary={"down.delay_ms": []})


def test_values_in_a_dict_have_names(small, tmp_path):
    rates = {"slow": tg.trace(range(1, 1000, 2)), "fast": tg.trace(range(1, 1000))}
    r = small.run_all(["tide"], vary={"down.rate": rates})
    assert r.runs["down.rate"] == ["slow", "fast"]
    assert r.runs["goodput_bps"][1] > 1.5 * r.runs["goodput_bps"][0]
    assert "down.rate=slow" in repr(r)
    unnamed = small.run_all(["tide"], vary={"down.rate": list(rates.values())})
    assert r.runs["key"] == unnamed.runs["key"], "a name is no part of what a result depends on"
    rows = tg.sweep(small, {"down.rate": rates}, runs=["tide"]).run(out=tmp_path / "rows")
    assert rows == r.runs


def test_several_seeds_are_one_table_of_means(small):
    small["down"]["loss"] = {"random": 0.001}
    text = repr(small.run_all(seeds=3))
    assert "means over 3 seeds, ± 95 % confidence" in text
    assert text.count("\nlinux ") == text.count("\ntide ") == 1
    varied = repr(small.run_all(["tide"], vary={"down.delay_ms": [10, 20]}, seeds=2))
    assert varied.count("means over 2 seeds") == 2
    assert repr(small.run_all(["tide"], seeds=60)).count("\ntide ") == 1


def test_means_have_intervals(small):
    small["down"]["loss"] = {"random": 0.001}
    r = small.run_all(["linux", "tide"], vary={"down.delay_ms": [10, 20]}, seeds=3)
    means = r.runs.means()
    assert means.columns[:4] == ["down.delay_ms", "run", "rows", "goodput_bps"]
    assert means["rows"] == [3] * 4
    assert means["run"] == ["linux", "tide"] * 2
    goodput = [row["goodput_bps"] for row in r.runs if row["run"] == "tide" and row["down.delay_ms"] == 20]
    assert (means["goodput_bps"][3], means["goodput_bps_margin"][3]) == tg.mean(goodput)
    assert means["goodput_bps_margin"][3] > 0
    # Nothing tells how sure a number is that is the same with every seed.
    assert r.links.means()["losses_margin"][1] is None
    over_delays = r.runs.means(over="down.delay_ms")
    assert over_delays["rows"] == [2] * 6 and "seed" in over_delays.columns
    with pytest.raises(ValueError, match='over "seed": the rows differ by run'):
        small.run("tide").runs.means()
    with pytest.raises(ValueError, match="goodput_bps"):
        r.runs.means(over="goodput_bps")


def test_means_keep_sizes_and_times_apart(small):
    small["workload"] = [{"name": "web", "does": {"web": {"object_bytes": [1000, 100000], "pause_s": 0.1}}}]
    r = small.run_all(["linux"], seeds=2, series=["queue_delay_ms"])
    fetches = r.fetches.means()
    assert fetches["bytes"] == [1000, 100000] and fetches["rows"] == [2, 2]
    assert fetches["time_mean_ms"][1] > fetches["time_mean_ms"][0]
    assert len(r.series.means()) == len(small.run("linux", series=["queue_delay_ms"]).series)


def test_estimates():
    assert tg.mean([1, 2, 3]).value == 2
    assert tg.mean([1, 2, 3]).margin == pytest.approx(4.303 / 3**0.5, rel=1e-3)
    assert str(tg.Estimate(4.19234, 0.1237)) == "4.19 ±0.12"
    assert str(tg.Estimate(41923.4, 123.7)) == "41923 ±124"
    assert str(tg.mean([5.0])) == "5"
    assert tg.ratio([1, 2, 6], [2, 4, 12]) == (0.5, None)
    with pytest.raises(ValueError, match="in pairs"):
        tg.ratio([1], [1, 2])
    with pytest.raises(ValueError, match="at least one"):
        tg.mean([])
    with pytest.raises(ValueError, match="value 1 is NaN"):
        tg.mean([1.0, float("nan")])


def test_everything_a_run_may_do_has_a_table():
    s = tg.Scenario.loads(TEXT)
    s["workload"] += [
        {"name": "web", "does": {"web": {"object_bytes": [20000], "pause_s": 0.2}}},
        {"name": "video", "does": {"video": {"mbps": 2}}},
        {"name": "ping", "does": {"ping": {"interval_ms": 100}}},
    ]
    r = s.run("tide")
    assert r.fetches["count"][0] > 3
    assert r.videos["played_s"][0] > 1
    assert len(r.held) == len(r.transfers) == 0
    assert "echo" in r.flows["direction"]


def test_flows_that_arrive_are_told_by_size(small, tmp_path):
    sizes = tmp_path / "sizes.cdf"
    sizes.write_text("1000 50\n100000 100\n")
    flows = {"arrivals": {"poisson": {"per_s": 20}}, "sizes": {"cdf": str(sizes)}, "class_bytes": [1001]}
    small["workload"] = [{"name": "search", "does": {"flows": flows}}]
    r = small.run("linux")
    table = r.arrivals
    assert table["sizes"] == ["all", "0 to 1001", "1001 and more"]
    assert table["started"][0] == table["started"][1] + table["started"][2] > 50
    # Half of them have 1000 bytes.
    assert 0.25 < table["started"][1] / table["started"][0] < 0.75
    assert all(mean >= 1 for mean in table["slowdown_mean"])
    assert table["fct_p50_ms"][1] == pytest.approx(80, rel=0.05)
    assert r.metrics["flows_started"] == table["started"][0] and r.metrics["fct_p99_ms"] == table["fct_p99_ms"][0]
    assert "Flow completion times" in repr(r)
    # A class without flows has no times, not times of 0.
    small["workload"][0]["does"]["flows"]["class_bytes"] = [10, 1001]
    none = small.run("linux").arrivals
    assert none["started"][1] == 0 and none["slowdown_mean"][1] is None and none["fct_p50_ms"][1] is None
    small["workload"][0]["does"]["flows"]["class_bytes"] = [1001]
    key = r.runs["key"]
    sizes.write_text("1000 50\n100000 100\n# the same\n")
    assert small.run("linux").runs["key"] != key, "keys are of what is in files"
    sizes.write_text("1000 50\n100 100\n")
    with pytest.raises(tg.ScenarioError, match="sizes.cdf:2: 100 bytes and 100 come after 1000 bytes and 50"):
        small.run("linux")


def test_an_adaptive_video_has_its_quality(small):
    small["workload"] = [{"name": "video", "does": {"adaptive_video": {"algorithm": "rate"}}}]
    small["duration_s"] = 60
    r = small.run("linux")
    videos = r.videos
    assert videos["segments"][0] > 15 and videos["switches"][0] >= 1
    assert videos["qoe"][0] == pytest.approx(videos["segments"][0] * videos["qoe_per_segment"][0])
    assert r.metrics["video_bitrate_bps"] == videos["bitrate_bps"][0] > 3e6


def test_pandas(small):
    pandas = pytest.importorskip("pandas")
    r = small.run_all()
    frame = r.flows.to_pandas()
    assert frame.goodput_bps.dtype == "float64"
    assert frame.completion_s.isna().all() and frame.completion_s.dtype == "float64"
    assert frame.groupby("run").goodput_bps.mean()["tide"] > 17e6
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerows(r._native.rows())
    read = pandas.read_csv(io.StringIO(written.getvalue()))
    pandas.testing.assert_frame_equal(read, r.runs.to_pandas(), check_dtype=False)


def test_arrow(small):
    pyarrow = pytest.importorskip("pyarrow")
    r = small.run("tide", series=True)
    table = pyarrow.table(r.flows)
    assert table.schema.field("goodput_bps").type == pyarrow.float64()
    assert table.to_pydict() == r.flows.to_dict()
    assert r.series.to_arrow().num_rows == len(r.series)
    assert table.column("completion_s").null_count == 1


def test_what_is_shown(small):
    r = small.run_all()
    assert "tide" in repr(r) and "Mbit/s" in repr(r)
    assert "<pre>" in r._repr_html_()
    assert "goodput_bps" in repr(r.flows)
    assert "<th>goodput_bps</th>" in r.flows._repr_html_()
    assert r.to_html().lstrip().lower().startswith("<!doctype html>")


def test_plots(small):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    r = small.run_all(series=["queue_delay_ms", "cwnd_packets"])
    figure = r.plot()
    assert len(figure.axes) == 2
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == r.names
    assert len(r.plot("queue_delay_ms").axes) == 1
    with pytest.raises(ValueError, match="queue_delay_ms, cwnd_packets"):
        r.plot("rtt_ms")
    small.run_all(seeds=2).plot().savefig(io.BytesIO(), format="png")


def test_files_are_written(small, tmp_path):
    r = small.run("tide")
    r.to_csv(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text().splitlines()[1].startswith("tide,")
    assert json.loads((r.to_json(tmp_path / "r.json"))) == json.loads((tmp_path / "r.json").read_text())
    r.to_html(tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size > 10_000
