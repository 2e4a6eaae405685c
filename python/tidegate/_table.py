"""Tables that stand by themselves, and are Arrow's and pandas' where these are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from . import _native

if TYPE_CHECKING:
    import pandas
    import pyarrow

_SHOWN = 20


class Table:
    """Columns of equal length. ``table["goodput_bps"]`` is a list, ``None`` where nothing was measured.

    With pyarrow, whatever understands Arrow's PyCapsule interface takes it as it is: ``pyarrow.table(t)``,
    ``polars.DataFrame(t)``.
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """Names of the columns, with their units."""
        return self._native.names

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, column: str) -> list[Any]:
        return self._native.column(column)

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Rows, a ``dict`` each."""
        columns = self.columns
        for row in zip(*(self[column] for column in columns)):
            yield dict(zip(columns, row))

    def means(self, over: str = "seed") -> "Table":
        """Means over the rows that differ in ``over`` alone, with their 95 % confidence intervals.

        A row for each combination of what else tells the rows apart (what was varied, ``run``, ``flow``, ``link``,
        ``bytes``, ``t_s``, …), and in ``rows`` how many there were; of each number the mean of those rows that have it, in its column, and half of the interval, in ``…_margin``: ``None`` for a single seed, or if
        all seeds gave the same number, since then nothing was random.

        >>> s.run_all(seeds=8).runs.means()["goodput_bps_margin"]

        :raises ValueError: when the rows do not differ by ``over``.
        """
        return Table(self._native.means(over))

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists."""
        return {column: self[column] for column in self.columns}

    def to_pandas(self) -> "pandas.DataFrame":
        """A ``pandas.DataFrame``; needs pandas (``pip install tidegate[pandas]``)."""
        import pandas

        # A column in which nothing was measured is one of numbers all the same.
        dtypes = {"string": "object"}
        columns = zip(self.columns, self._native.kinds)
        return pandas.DataFrame(
            {name: pandas.Series(self[name], dtype=dtypes.get(kind, kind)) for name, kind in columns},
            columns=self.columns,
        )

    def to_arrow(self) -> "pyarrow.Table":
        """A ``pyarrow.Table``; needs pyarrow (``pip install tidegate[arrow]``)."""
        import pyarrow

        columns = zip(self.columns, self._native.kinds)
        return pyarrow.table({name: pyarrow.array(self[name], type=kind) for name, kind in columns})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's PyCapsule interface; needs pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def _told(self) -> list[str]:
        """Columns that have something in some row."""
        said = [c for c in self.columns if any(value is not None for value in self[c])]
        return said or self.columns

    def __repr__(self) -> str:
        columns = self._told()
        cells = [[_text(value) for value in self[column][:_SHOWN]] for column in columns]
        widths = [max(map(len, [column, *cell])) for column, cell in zip(columns, cells)]
        lines = ["  ".join(column.rjust(width) for column, width in zip(columns, widths))]
        for row in zip(*cells):
            lines.append("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))
        if len(self) > _SHOWN:
            lines.append(f"… {len(self)} rows")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        columns = self._told()
        head = "".join(f"<th>{_escape(column)}</th>" for column in columns)
        rows = zip(*([_escape(_text(value)) for value in self[column][:_SHOWN]] for column in columns))
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        more = f"<p>… {len(self)} rows</p>" if len(self) > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _text(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return str(value)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
