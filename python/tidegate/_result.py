"""What runs measured."""

from __future__ import annotations

import csv
import json
import os
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, Union

from . import _native
from ._table import Table, _escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_ROWS = 50
"""The most rows that tables for people have."""


class Result(Sequence["Result"]):
    """The results of one run or of several, in their order: ``result["tide"]`` and ``result[0]`` are those of one.

    Its tables have a row for each run, flow, link, …; their columns are named with their units, as in the results and CSV
    files of ``tidegate sim``. What was varied stands in the first columns.
    """

    def __init__(self, native: _native.Results) -> None:
        self._native = native
        self._tables: dict[str, Table] = {}

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            self._tables[name] = Table(getattr(self._native, name)())
        return self._tables[name]

    @property
    def runs(self) -> Table:
        """A row for each run: the columns of ``tidegate sim --out``."""
        return self._table("runs")

    @property
    def flows(self) -> Table:
        """A row for each flow: ``goodput_bps`` (bit/s of payload, warm-up excluded), ``rtt_…_ms``, ``retransmits``,
        ``completion_s``."""
        return self._table("flows")

    @property
    def links(self) -> Table:
        """A row for each link (``down``, ``up``, hops by their names): ``utilisation`` (0 to 1), ``delivered_bps``,
        ``queue_delay_…_ms``, ``drops``, ``losses``."""
        return self._table("links")

    @property
    def fetches(self) -> Table:
        """A row for each size of object that a workload fetched: ``bytes``, ``count``, ``time_…_ms``."""
        return self._table("fetches")

    @property
    def arrivals(self) -> Table:
        """Of each workload of ``flows`` a row for all of them (``sizes`` is ``all``) and one for each class of sizes
        (``from_bytes``, ``below_bytes``): ``started``, ``finished``, ``fct_…_ms``, ``slowdown_…``, and the workload's
        ``offered_bps`` and ``goodput_bps``."""
        return self._table("arrivals")

    @property
    def videos(self) -> Table:
        """A row for each video: ``startup_s``, ``stalls``, ``stalled_s``, ``played_s``; of one in several bit rates
        ``segments``, ``bitrate_bps`` (their mean), ``switches``, ``qoe`` and ``qoe_per_segment``."""
        return self._table("videos")

    @property
    def held(self) -> Table:
        """A row for each workload without a window that was not left alone."""
        return self._table("held")

    @property
    def transfers(self) -> Table:
        """A row for each transfer over mPath."""
        return self._table("transfers")

    @property
    def series(self) -> Table:
        """A row for each point of each curve that was asked for: ``quantity`` (with its unit), ``flow`` (empty: the
        link's), ``t_s`` (seconds since the start), ``value``."""
        return self._table("series")

    @property
    def names(self) -> list[str]:
        """The runs' names."""
        return self._native.names

    @property
    def scenario(self) -> str:
        """The scenario's name; of several variants that of the first."""
        return self._native.scenarios[0] if self._native.scenarios else ""

    @property
    def metrics(self) -> dict[str, Any]:
        """Of a single run: its row of :attr:`runs`."""
        if len(self) != 1:
            raise ValueError(f"{len(self)} runs, expected one: take one by its name or place, or see runs")
        return next(iter(self.runs))

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, which: Union[int, slice, str]) -> "Result":
        if isinstance(which, str):
            places = [at for at, name in enumerate(self.names) if name == which]
            if not places:
                raise KeyError(f"{which!r}, expected one of {', '.join(dict.fromkeys(self.names))}")
        elif isinstance(which, slice):
            places = list(range(*which.indices(len(self))))
        else:
            places = [range(len(self))[which]]
        return Result(self._native.at(places))

    def __iter__(self) -> Iterator["Result"]:
        return (self[at] for at in range(len(self)))

    def to_dict(self, *, series: bool = False) -> Any:
        """What ``tidegate sim --json`` prints, parsed."""
        return json.loads(self.to_json(series=series))

    def to_json(self, path: Union[str, "os.PathLike[str]", None] = None, *, series: bool = False) -> str:
        """What ``tidegate sim --json`` prints, and with ``series`` its ``--series``; written to ``path`` if there is one."""
        text = self._native.to_json(series)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def to_html(self, path: Union[str, "os.PathLike[str]", None] = None) -> str:
        """The page of ``tidegate sim --html``, which has curves if they were asked for; written to ``path`` if there is
        one."""
        text = self._native.to_html()
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def to_csv(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes :attr:`runs` as ``tidegate sim --out`` does."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(self._native.rows())

    def plot(self, quantity: Optional[str] = None, **settings: Any) -> "Figure":
        """A figure of matplotlib's: a curve of each run, if series were asked for, and otherwise queue against goodput.

        ``quantity`` is one of those of :attr:`series`; by default each has a panel. Other arguments are
        ``matplotlib.pyplot.subplots``'s. Needs matplotlib (``pip install tidegate[plot]``).
        """
        from ._plot import plot

        return plot(self, quantity, **settings)

    def __repr__(self) -> str:
        if self._native.text_rows > _ROWS:
            return f"<{len(self)} runs of {self.scenario}>"
        return self._native.text().rstrip()

    def _repr_html_(self) -> str:
        return f"<pre>{_escape(repr(self))}</pre>"

