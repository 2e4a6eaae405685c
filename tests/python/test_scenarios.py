"""Scenarios: read, made, changed, refused."""

import pickle
from pathlib import Path

import pytest
from conftest import TEXT

import tidegate as tg


def test_a_file_a_text_a_dict_and_keywords_are_the_same_scenario(small, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(TEXT)
    document = small.to_dict()
    for same in [tg.Scenario.load(file), tg.Scenario(document), tg.Scenario(**document)]:
        assert same.to_dict() == document
        assert same.run("tide").flows == small.run("tide").flows


def test_it_changes_like_a_dict(small):
    other = small.copy()
    other["down"]["rate"] = {"constant_mbps": 8}
    other["hosts"] = {"congestion_control": "reno"}
    assert small["down"]["rate"] == {"constant_mbps": 20}
    assert "hosts" not in small
    goodput = [s.run("tide").flows["goodput_bps"][0] for s in (small, other)]
    assert 17e6 < goodput[0] < 20e6
    assert 6.5e6 < goodput[1] < 8e6
    del other["hosts"]
    assert len(other) == len(small)


def test_what_is_left_out_is_a_download_over_linux():
    s = tg.Scenario(
        duration_s=5,
        down={"rate": {"constant_mbps": 20}, "delay_ms": 10},
        up={"rate": {"constant_mbps": 5}, "delay_ms": 10},
    )
    r = s.run()
    assert r.names == ["linux"]
    assert r.flows["flow"] == ["download"]


def test_shipped_scenarios_are_there_and_run():
    assert "lte-download" in tg.shipped()
    for name in tg.shipped():
        s = tg.Scenario.load(name + ".toml")
        s["duration_s"], s["warmup_s"] = 2, 0
        for workload in s["workload"]:
            workload.pop("stop_s", None)
            workload["start_s"] = min(workload.get("start_s", 0), 1)
        assert len(s.run_all()) == len(s["run"])
    with pytest.raises(FileNotFoundError):
        tg.Scenario.load("no-such-scenario.toml")


def test_all_that_is_wrong_is_told_with_key_line_and_what_was_expected():
    text = TEXT.replace("delay_ms = 20\nqueue", 'delay_ms = "soon"\nqueue').replace('law = "drwa"', 'law = "dwra"')
    with pytest.raises(tg.ScenarioError) as caught:
        tg.Scenario.loads(text).check()
    faults = caught.value.faults
    assert [(f.line, f.key) for f in faults] == [(9, "down.delay_ms"), (25, "run[1].law")]
    assert "expected" in faults[1].message and "drwa" in faults[1].message
    assert caught.value.key == "down.delay_ms"
    assert str(caught.value).count("\n") == 1
    assert pickle.loads(pickle.dumps(caught.value)).faults == faults


def test_a_file_is_named_with_its_line(tmp_path):
    file = tmp_path / "wrong.toml"
    file.write_text(TEXT.replace("duration_s = 6", "duration_s = 0"))
    with pytest.raises(tg.ScenarioError, match=r"wrong\.toml:3: duration_s is 0, expected 0\.001 to 1000000 s"):
        tg.Scenario.load(file).run("tide")
    file.write_text("name = \n")
    with pytest.raises(tg.ScenarioError) as caught:
        tg.Scenario.load(file)
    assert caught.value.line == 1


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    file = tmp_path / "marked.toml"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    assert tg.Scenario.load(file).to_dict() == tg.Scenario.loads(TEXT).to_dict()


@pytest.mark.parametrize(
    "does, said",
    [
        ({"bulk": {"flows": 0}}, "does.bulk.flows is 0, expected 1 to 100000 connections"),
        ({"bulk": {"flows": 2**62}}, f"does.bulk.flows is {2**62}, expected 1 to 100000 connections"),
        ({"ping": {"interval_ms": 1e-9}}, "does.ping.interval_ms is 1e-9, expected 0.01 to 1000000 ms"),
        ({"ping": {"interval_ms": float("nan")}}, "does.ping.interval_ms is NaN, expected 0.01 to 1000000 ms"),
    ],
)
def test_numbers_out_of_range_are_refused(does, said):
    s = tg.Scenario.loads(TEXT)
    s["workload"] = [{"name": "load", "does": does}]
    with pytest.raises(tg.ScenarioError) as caught:
        s.check()
    assert said in str(caught.value)


def test_a_series_in_mbits_is_doubted():
    s = tg.Scenario.loads(TEXT)
    s["down"]["rate"] = tg.rate_series([0, 1], [2.5, 8])
    with pytest.warns(UserWarning, match="no rate above 8 bit/s: the second column is in bits per second"):
        s.check()


def test_what_was_changed_has_its_key_and_what_was_not_its_line():
    s = tg.Scenario.loads(TEXT.replace("warmup_s = 1", "warmup_s = 7"))
    s["down"]["delay_ms"] = -1
    with pytest.raises(tg.ScenarioError) as caught:
        s.check()
    assert {f.key: f.line for f in caught.value.faults} == {"down.delay_ms": None, "warmup_s": 4}


@pytest.mark.parametrize(
    "settings, key, word",
    [
        ({"law": "dwra"}, "run[0].law", "drwa"),
        ({"lamda": 2}, "run[0]", "lamda"),
        ({"law": "drwa", "lambda_": -1}, "run[0].lambda", "expected"),
        ({"congestion_control": "cubbic"}, None, "cubic"),
    ],
)
def test_settings_of_a_run_are_refused(small, settings, key, word):
    with pytest.raises(tg.ScenarioError) as caught:
        small.run(**settings)
    assert word in str(caught.value)
    if key:
        assert caught.value.key.startswith(key)


def test_which_run_is_meant_is_asked(small):
    with pytest.raises(tg.ScenarioError, match="linux, drwa, tide"):
        small.run()
    with pytest.raises(tg.ScenarioError, match='no run is named "tied"'):
        small.run("tied")
    with pytest.raises(tg.ScenarioError, match="expected 0.1 to 1000000"):
        small.run("tide", series=True, bin_ms=0)


def test_values_that_no_scenario_has_are_refused_with_their_key(small):
    small["down"]["delay_ms"] = {1, 2}
    with pytest.raises(tg.ScenarioError):
        small.check()
    small["down"]["delay_ms"] = object()
    with pytest.raises(tg.ScenarioError) as caught:
        small.check()
    assert caught.value.key == "down.delay_ms"
    assert "object" in caught.value.message


def test_a_scenario_says_something_of_itself(small):
    assert "20 Mbit/s" in repr(small)
    assert "linux, drwa, tide" in repr(small)


def test_scenarios_go_to_other_processes(small):
    small["down"]["rate"] = tg.trace([1, 2, 3])
    other = pickle.loads(pickle.dumps(small))
    assert other.run("tide").to_json() == small.run("tide").to_json()


def test_the_package_has_a_version():
    manifest = (Path(__file__).parents[2] / "Cargo.toml").read_text()
    assert f'version = "{tg.__version__}"' in manifest
