"""Recordings and rates that are arrays instead of files."""

from __future__ import annotations

import hashlib
from typing import Any, Iterable, Mapping, Optional, Protocol, Sequence, Union

from ._errors import ScenarioError


class Array(Protocol):
    """An array of numpy's kind: what has ``tolist``."""

    def tolist(self) -> Any: ...


Numbers = Union[Sequence[float], Iterable[float], Array]
"""A list, an array of numpy's, a column of pandas', anything that yields numbers."""


def _list(values: Numbers) -> list[float]:
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return listed if isinstance(listed, list) else [listed]


class Recording:
    """A file that a scenario names and that was never written.

    It stands where the name of the file would: its content is part of the results' keys as the file's would be.
    """

    def __init__(self, kind: str, text: str, about: str, others: Mapping[str, Any]) -> None:
        self.kind = kind
        self.text = text
        self._about = about
        self._others = dict(others)
        self.name = f"{kind}-{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}"

    def _resolved(self) -> Any:
        """What the scenario has in its place."""
        if self.kind == "delay_trace":
            return self.name
        if self._others:
            return {"scheduled": {"series": self.name, **self._others}}
        return {self.kind: self.name}

    def __repr__(self) -> str:
        return f"<{self._about}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recording) and (self.kind, self.text, self._others) == (other.kind, other.text, other._others)

    def __hash__(self) -> int:
        return hash((self.kind, self.text))


def trace(times_ms: Numbers) -> Recording:
    """A rate from recorded opportunities, as Mahimahi's traces have them.

    ``times_ms`` are milliseconds since the start, whole numbers that do not decrease: at each the link can carry 1500
    bytes. Behind the last one it starts anew.

    >>> s["down"]["rate"] = tg.trace([1, 2, 2, 4])
    """
    times = _list(times_ms)
    whole = [int(time) for time in times]
    for at, (time, ms) in enumerate(zip(times, whole)):
        if time != ms or ms < 0 or ms > 0xFFFFFFFF:
            raise ScenarioError([(None, None, f"times_ms[{at}]", f"{time}, expected a whole number of milliseconds, 0 to 4294967295")])
        if at and ms < whole[at - 1]:
            raise ScenarioError([(None, None, f"times_ms[{at}]", f"{ms} after {whole[at - 1]}, expected milliseconds that do not decrease")])
    if not whole or whole[-1] == 0:
        raise ScenarioError([(None, None, "times_ms", "it ends at 0 ms, expected more: its last time is its length")])
    text = "\n".join(map(str, whole)) + "\n"
    mbps = len(whole) * 12_000 / whole[-1] / 1e3
    about = f"trace of {len(whole)} opportunities in {whole[-1] / 1e3:g} s, {mbps:.3g} Mbit/s"
    return Recording("trace", text, about, {})


def rate_series(
    seconds: Numbers,
    bits_per_second: Numbers,
    *,
    interpolate: Optional[bool] = None,
    burst_ms: Optional[float] = None,
) -> Recording:
    """A rate over time, looped.

    ``seconds`` begin at 0 and increase, ``bits_per_second`` hold from then on, the last for as long as
    the one before it. With ``burst_ms``,
    milliseconds, the capacity leaves in bursts as a cell's scheduler hands it out, and with ``interpolate`` the rate is
    linear between the rows.
    """
    times, rates = _list(seconds), _list(bits_per_second)
    if len(times) != len(rates):
        raise ScenarioError([(None, None, "bits_per_second", f"{len(rates)} rates, expected one for each of {len(times)} seconds")])
    if interpolate is not None and burst_ms is None:
        raise ScenarioError([(None, None, "interpolate", "there is no burst_ms, expected milliseconds: only bursts are interpolated")])
    text = "".join(f"{float(time)!r},{float(rate)!r}\n" for time, rate in zip(times, rates))
    others: dict[str, Any] = {}
    if burst_ms is not None:
        others = {"burst_ms": float(burst_ms), "interpolate": bool(interpolate)}
    span = f" in {times[-1]:g} s" if times else ""
    return Recording("series", text, f"rate series of {len(times)} rows{span}", others)


def delay_trace(delays_ms: Numbers) -> Recording:
    """One-way delays in milliseconds, one for each 10 ms, looped: for ``delay_trace`` of a link."""
    delays = _list(delays_ms)
    text = "".join(f"{float(delay)!r}\n" for delay in delays)
    return Recording("delay_trace", text, f"delay trace of {len(delays) / 100:g} s", {})
