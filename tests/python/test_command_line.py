"""The same as `tidegate sim`, to the byte."""

import json
import os
import subprocess

import pytest
from conftest import TEXT

import tidegate as tg

PROGRAM = os.environ.get("TIDEGATE_PROGRAM")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="TIDEGATE_PROGRAM names no program")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    return path


def printed(*words) -> str:
    return subprocess.run([PROGRAM, "sim", *map(str, words)], check=True, capture_output=True, text=True).stdout


def nameless(text: str) -> str:
    """Without who made it."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if '"command":' not in line and '"commit":' not in line)


def test_json_is_the_same(file):
    ours = tg.Scenario.load(file).run_all()
    assert nameless(ours.to_json()) == nameless(printed(file, "--json"))


def test_json_of_variants_and_seeds_with_curves_is_the_same(file):
    s = tg.Scenario.load(file)
    ours = s.run_all(["drwa"], vary={"run.drwa.lambda": [2, 3], "down.delay_ms": [10.5]}, seeds=2, series=True)
    theirs = printed(
        file, "--run", "drwa", "--vary", "run.drwa.lambda=2,3", "--vary", "down.delay_ms=10.5", "--seeds", 2, "--series", "--json"
    )
    assert nameless(ours.to_json(series=True)) == nameless(theirs)


def test_rows_are_the_same(file, tmp_path):
    s = tg.Scenario.load(file)
    s.run_all(vary={"down.delay_ms": [10, 20]}, seeds=2).to_csv(tmp_path / "ours.csv")
    printed(file, "--vary", "down.delay_ms=10,20", "--seeds", 2, "--out", tmp_path / "theirs.csv")
    assert (tmp_path / "ours.csv").read_text() == (tmp_path / "theirs.csv").read_text()


def test_the_table_is_the_same(file):
    ours = repr(tg.Scenario.load(file).run_all())
    assert ours.split() == printed(file).split()


def test_one_thread_or_two(file):
    s = tg.Scenario.load(file)
    assert s.run_all(seeds=2, threads=1).to_json() == s.run_all(seeds=2, threads=2).to_json()
    assert json.loads(printed(file, "--jobs", 1, "--json"))["runs"] == s.run_all().to_dict()["runs"]


def test_shards_are_the_same_and_gone_on_with_by_either(file, tmp_path):
    def shards(folder):
        return {path.name: path.read_bytes() for path in folder.glob("*.csv")}

    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    sweep = tg.sweep(tg.Scenario.load(file), {"down.delay_ms": [10, 20.5]}, seeds=2)
    words = (file, "--vary", "down.delay_ms=10,20.5", "--seeds", 2, "--out")
    rows = sweep.run(out=ours)
    printed(*words, f"{theirs}/")
    assert shards(ours) == shards(theirs) and len(shards(ours)) == 4
    for folder in (ours, theirs):
        next(iter(folder.glob("*.csv"))).unlink()
    printed(*words, ours, "--resume")
    assert sweep.run(out=theirs).to_dict() == rows.to_dict()
    assert shards(ours) == shards(theirs) and len(shards(ours)) == 4
