"""A run step by step."""

from __future__ import annotations

from typing import Optional, Sequence, Union

from . import _native
from ._errors import wrong
from ._native import FlowView as FlowView
from ._native import LinkView as LinkView
from ._result import Result


class Session:
    """A run in your hands: advance, look, act.

    However it is stepped, the same things happen; a run that is only looked at has the result of :meth:`Scenario.run`.

    >>> session = s.session(law="none")
    >>> while not session.is_over:
    ...     session.advance(10)
    ...     session.set_window(60_000 if session.link("down").queue_delay_ms > 20 else 120_000)
    >>> session.finish().runs["queue_delay_p95_ms"]
    """

    def __init__(self, native: _native.Session, links: Sequence[str]) -> None:
        self._native = native
        self._links = list(links)
        self._flows = native.flows

    @property
    def now_s(self) -> float:
        """Seconds of virtual time since the start."""
        return self._native.now_s

    @property
    def duration_s(self) -> float:
        """How long the run is, in seconds."""
        return self._native.duration_s

    @property
    def is_over(self) -> bool:
        """Whether it has come to its end."""
        return self._native.is_over

    @property
    def flows(self) -> list[str]:
        """Names of the flows: connections that live for as long as their workload."""
        return list(self._flows)

    @property
    def links(self) -> list[str]:
        """Names of the links: ``down``, ``up``, and the hops."""
        return list(self._links)

    def advance(self, ms: float) -> None:
        """Goes on by ``ms`` milliseconds of virtual time, or to the end. Ctrl-C stops it on the way."""
        self._native.advance(ms)

    def flow(self, flow: Union[int, str] = 0) -> FlowView:
        """A flow as it stands, by name or number: ``received_bytes``, ``srtt_ms``, ``cwnd_packets``, ``window_bytes``, …"""
        return self._native.flow(_number(flow, self._flows, "flow"))

    def link(self, link: Union[int, str] = 0) -> LinkView:
        """A link as it stands, by name or number: ``queued_packets``, ``queue_delay_ms``, ``delivered_bytes``, ``drops``, …"""
        return self._native.link(_number(link, self._links, "link"))

    def capacity_bps(self, within_ms: float, link: Union[int, str] = 0) -> float:
        """What the link could have carried in the last ``within_ms`` milliseconds, in bit/s."""
        if not 0.0 < within_ms < 1e12:
            raise wrong("within_ms", f"{within_ms}, expected milliseconds, more than 0")
        bits = self._native.capacity_bits(_number(link, self._links, "link"), within_ms)
        return bits / (min(within_ms / 1e3, self.now_s) or 1.0)

    def set_window(self, bytes: Optional[int], flow: Union[int, str] = 0) -> bool:
        """Asks for a receive window of that many bytes in place of the run's law; ``None``: the law again.

        It takes effect with the next acknowledgement, and keeps what every law keeps: it is never larger than the
        receiver's own, never below two segments, and takes nothing back that was promised. Returns whether there is a
        connection of that flow.
        """
        if bytes is not None and not 0 <= bytes < 1 << 32:
            raise wrong("bytes", f"{bytes}, expected 0 to 4294967295")
        return self._native.set_window(_number(flow, self._flows, "flow"), bytes)

    def set_sender(
        self,
        *,
        cwnd_packets: Optional[int] = None,
        pacing_bps: Optional[float] = None,
        flow: Union[int, str] = 0,
    ) -> bool:
        """Has the sender do as it is told from now on, in place of its congestion control.

        :param cwnd_packets: congestion window in segments; ``None``: as large as can be.
        :param pacing_bps: bit/s at which it sends, headers included; ``None``: as fast as the window allows.

        Returns whether there is a connection of that flow.

        :raises ScenarioError: of a window below one segment, of a rate that is not above 0.
        """
        if cwnd_packets is not None and cwnd_packets < 1:
            raise wrong("cwnd_packets", f"{cwnd_packets}, expected 1 or more segments")
        if pacing_bps is not None and not 8.0 <= pacing_bps < 1e15:
            raise wrong("pacing_bps", f"{pacing_bps}, expected 8 to 1e15 bit/s")
        return self._native.set_sender(_number(flow, self._flows, "flow"), cwnd_packets, pacing_bps)

    def finish(self) -> Result:
        """What the run has measured; it goes on to its end first."""
        return Result(self._native.finish())

    def __repr__(self) -> str:
        return f"<Session at {self.now_s:.3f} of {self.duration_s:g} s, flows: {', '.join(self._flows)}>"


def _number(which: Union[int, str], names: Sequence[str], what: str) -> int:
    if isinstance(which, int):
        if not 0 <= which < len(names):
            raise IndexError(f"there is no {what} {which}, expected 0 to {len(names) - 1}")
        return which
    try:
        return list(names).index(which)
    except ValueError:
        raise KeyError(f"no {what} {which!r}, expected one of {', '.join(names)}") from None
