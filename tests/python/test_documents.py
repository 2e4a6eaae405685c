"""What stands in docs/python.md does what it says: its blocks of Python, one after another."""

import re
from pathlib import Path

import pytest

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
        line = text[:at].count("\n") + 1
        exec(compile("\n" * line + block, "docs/python.md", "exec"), names)
