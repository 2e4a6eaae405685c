"""The notebooks run, cell by cell, with less to do in them; and nothing that they have printed is kept in them."""

import ast
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"

#: In place of what their cell "parameters" says.
SMALL = {
    "friendliness": "buffers, seconds, seeds, laboratory_s = [1, 4], 8, 1, 4",
    "first-result": "seconds, seeds = 6, 3",
    "lambda-beside-tide": "lambdas, seconds, generated = [2, 3], 6, 2",
    "train-an-agent": "generations, population, elite, seconds, links, unseen = 2, 4, 2, 2, 1, range(1000, 1002)",
}


def cells(name: str) -> list[dict]:
    return json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]


def test_all_of_them_are_here():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_a_notebook_runs(name, tmp_path, monkeypatch, capsys):
    for needed in ("pandas", "matplotlib", "gymnasium"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    parameters = 0
    for number, cell in enumerate(cells(name)):
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None
        shown = run("".join(cell["source"]), f"{name}.ipynb, cell {number}", names)
        if shown is not None:
            assert repr(shown)
        if "parameters" in cell["metadata"].get("tags", []):
            exec(SMALL[name], names)
            parameters += 1
    assert parameters == 1
    made = {
        "friendliness": ["friendliness.csv", "friendliness.pdf", "friendliness.png"],
        "lambda-beside-tide": ["lambda-beside-tide.csv", "lambda-beside-tide.pdf", "lambda-beside-tide.png"],
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == made.get(name, [])
    if name == "train-an-agent":
        printed = capsys.readouterr().out
        assert all(law in printed for law in ("Linux", "drwa", "tide", "learnt")), printed


def test_over_recorded_links(tmp_path, monkeypatch):
    for needed in ("pandas", "matplotlib"):
        pytest.importorskip(needed)
    for name, step in [("one", 1), ("two", 3)]:
        (tmp_path / f"{name}.down").write_text("\n".join(map(str, range(1, 2000, step))))
    monkeypatch.setenv("TIDEGATE_TRACES", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in cells("lambda-beside-tide"):
        if cell["cell_type"] == "code":
            run("".join(cell["source"]), "lambda-beside-tide.ipynb", names)
            if "parameters" in cell["metadata"].get("tags", []):
                exec(SMALL["lambda-beside-tide"], names)
    assert list(names["goodput"].index) == ["one", "two"]


def run(source: str, where: str, names: dict[str, object]) -> object:
    """What the last line is worth, as a notebook shows it."""
    body = ast.parse(source, where)
    last = body.body.pop() if isinstance(body.body[-1], ast.Expr) else None
    exec(compile(body, where, "exec"), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), where, "eval"), names)
