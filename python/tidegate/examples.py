"""Laws and senders in Python, as they are written: the same as the simulator's own of their names, to compare with.

>>> s.run(congestion_control=tidegate.examples.Reno)
"""

from __future__ import annotations

from typing import Optional

from ._native import ReceiverView, SenderView


class Reno:
    """New Reno's window (RFC 5681, as Linux has it): one segment more in a round trip, half after a loss.

    Losses are found and repaired as ever, so that a run with it has the numbers of ``congestion_control="reno"``.
    """

    version = 1

    def ack(self, flow: SenderView) -> None:
        if not flow.cwnd_limited:
            return
        acked, cwnd, ssthresh = flow.acked_packets, flow.cwnd_packets, flow.ssthresh_packets
        if cwnd < ssthresh:
            # Slow start: twice the window in a round trip.
            grown = min(cwnd + acked, ssthresh)
            flow.cwnd_packets = grown
            acked -= grown - cwnd
            cwnd = grown
            if not acked:
                return
        # A segment more for every window that was acknowledged.
        count, window = flow.cwnd_count, cwnd
        if count >= window:
            count = 0
            cwnd += 1
        more, flow.cwnd_count = divmod(count + acked, window)
        flow.cwnd_packets = cwnd + more

    def loss(self, flow: SenderView) -> None:
        flow.ssthresh_packets = max(flow.cwnd_packets // 2, 2)


class Drwa:
    """Dynamic receive window adjustment (Jiang, Wang, Lee, Rhee: INFOCOM 2012): the window is λ times what arrives in a
    round trip without a queue.

    Nearly ``law="drwa"``, whose integers are smaller and which knows what came before.
    """

    version = 1
    #: Bandwidth-delay products that may be on the way.
    lambda_ = 3.0

    def __init__(self) -> None:
        self.window: Optional[float] = None
        self.arrived = 0.0
        self.began_ms = 0.0
        self.bytes = 0
        self.rtts: list[float] = []
        self.rtt_ms = 0.0
        self.min_rtt_ms = float("inf")

    def data(self, flow: ReceiverView) -> Optional[float]:
        now_ms, rtt_ms = flow.now_ms, flow.rtt_ms
        self.began_ms = self.began_ms or now_ms
        self.bytes += flow.bytes
        if rtt_ms is not None:
            self.rtts.append(rtt_ms)
            self.rtt_ms = self.rtt_ms or rtt_ms
        if self.rtt_ms and now_ms - self.began_ms >= self.rtt_ms:
            self.round()
            self.began_ms = now_ms
        return self.window

    def round(self) -> None:
        """A round trip is over."""
        if self.rtts:
            self.rtt_ms = sum(self.rtts) / len(self.rtts)
        self.min_rtt_ms = min(self.min_rtt_ms, self.rtt_ms)
        self.arrived += (self.bytes - self.arrived) / 8 if self.arrived else self.bytes
        self.window = self.lambda_ * self.arrived * self.min_rtt_ms / self.rtt_ms
        self.bytes = 0
        self.rtts.clear()
