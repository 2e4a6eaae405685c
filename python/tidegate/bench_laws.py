"""What laws and senders in Python cost: ``python -m tidegate.bench_laws``."""

from __future__ import annotations

import argparse
import time
from typing import Any, Callable, Optional, Sequence

from ._native import ReceiverView, SenderView
from ._scenario import Scenario
from .examples import Drwa, Reno


class _Acks(Reno):
    """The same, which is counted."""

    calls = 0

    def ack(self, flow: SenderView) -> None:
        _Acks.calls += 1
        super().ack(flow)


class _Nothing:
    """Wants no window."""

    def data(self, flow: ReceiverView) -> Optional[float]:
        return None


class _Arrivals:
    calls = 0

    def data(self, flow: ReceiverView) -> None:
        _Arrivals.calls += 1


def scenario(seconds: float) -> Scenario:
    """A download at 20 Mbit/s, a round trip of 40 ms, 300 packets of buffer: some 1650 packets a second."""
    return Scenario(
        duration_s=seconds,
        down={"rate": {"constant_mbps": 20}, "delay_ms": 20, "queue": {"packets": 300}},
        up={"rate": {"constant_mbps": 5}, "delay_ms": 20},
    )


def seconds_each(takes: int, *runs: Callable[[], object]) -> list[float]:
    """The least processor time of each, by turns: others may have the machine."""
    least = [float("inf")] * len(runs)
    for _ in range(takes):
        for nth, run in enumerate(runs):
            began = time.process_time()
            run()
            least[nth] = min(least[nth], time.process_time() - began)
    return least


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(prog="python -m tidegate.bench_laws", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="virtual time of a run in s (default: 5)")
    parser.add_argument("--takes", type=int, default=60, help="runs of each kind; the fastest counts (default: 60)")
    asked = parser.parse_args(arguments)
    s = scenario(asked.seconds)

    def run(**settings: Any) -> Callable[[], object]:
        return lambda: s.run(**settings)

    run(congestion_control=_Acks)()
    run(law=_Arrivals)()
    native, python = seconds_each(asked.takes, run(congestion_control="reno"), run(congestion_control=Reno))
    none, nothing, drwa, own_drwa = seconds_each(
        asked.takes, run(law="none"), run(law=_Nothing), run(law="drwa"), run(law=Drwa)
    )
    ack_ns = (python - native) / _Acks.calls * 1e9
    law_ns = (nothing - none) / _Arrivals.calls * 1e9
    print(f"{asked.seconds:g} s of 20 Mbit/s; processor time, the least of {asked.takes} runs")
    print(f"a law that wants nothing: {law_ns:7.0f} ns an arrival, the host's measuring included")
    print(f"Reno's ack in Python:     {ack_ns:7.0f} ns an acknowledgement more than the native one's")
    print(f"{'':28}{'native':>10}{'Python':>10}")
    print(f"{'reno, runs/s on one thread':28}{1 / native:10.1f}{1 / python:10.1f}")
    print(f"{'drwa, runs/s on one thread':28}{1 / drwa:10.1f}{1 / own_drwa:10.1f}")


if __name__ == "__main__":
    main()
