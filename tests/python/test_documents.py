"""What the documents say of Python: the blocks of docs/python.md run, one after another, and names are as listed."""

import re
from pathlib import Path

import pytest

import tidegate as tg
from conftest import LABORATORY

ROOT = Path(__file__).parents[2]


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    for needed in ("pandas", "matplotlib", "gymnasium"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/python.md").read_text()
    blocks = [(m.start(), m[1]) for m in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S)]
    assert len(blocks) >= 6
    names: dict[str, object] = {}
    for at, block in blocks:
        if ".lab(" in block and not LABORATORY:
            continue
        line = text[:at].count("\n") + 1
        exec(compile("\n" * line + block, "docs/python.md", "exec"), names)


def test_the_page_of_names_says_what_there_is():
    """Of each number its column in a row of a run, and in the table of single flows, links and so on."""
    r = tg.Scenario.load("lte-download.toml").run("tide")
    text = (ROOT / "docs/reference/names.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .*? \| (?:`r\.(\w+)\[\"(\w+)\"\]`|–) \|", text, re.M)
    assert [name for name, *_ in rows] == [name for name in r.runs.columns if name not in ("run", "key")]
    for _, table, column in rows:
        assert not table or column in getattr(r, table).columns, (table, column)
