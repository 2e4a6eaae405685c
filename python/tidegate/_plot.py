"""Pictures of results, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._result import Result

_WORDS = {
    "queue_delay_ms": ("queueing delay", "ms", 1.0),
    "queue_delay_max_ms": ("longest queueing delay", "ms", 1.0),
    "up_queue_delay_ms": ("queueing delay up", "ms", 1.0),
    "delivered_bps": ("delivered", "Mbit/s", 1e-6),
    "up_delivered_bps": ("delivered up", "Mbit/s", 1e-6),
    "capacity_bps": ("capacity", "Mbit/s", 1e-6),
    "shaper_bps": ("shaper", "Mbit/s", 1e-6),
    "up_shaper_bps": ("shaper up", "Mbit/s", 1e-6),
    "goodput_bps": ("goodput", "Mbit/s", 1e-6),
    "true_rtt_ms": ("round trip of the links", "ms", 1.0),
    "rtt_ms": ("smoothed round trip", "ms", 1.0),
    "agent_rtt_ms": ("round trip that the law measures", "ms", 1.0),
    "cwnd_packets": ("congestion window", "packets", 1.0),
    "window_bytes": ("window", "MB", 1e-6),
    "timeouts": ("timeouts", "", 1.0),
}


def plot(result: "Result", quantity: Optional[str], **settings: Any) -> "Figure":
    """Curves, or queue against goodput where there are none."""
    curves: dict[str, dict[str, tuple[list[float], list[float]]]] = {}
    for at, run in enumerate(result):
        name = _name(result, at)
        series = run.series
        for what, flow, t, value in zip(series["quantity"], series["flow"], series["t_s"], series["value"]):
            label = f"{name}, {flow}" if flow else name
            times, values = curves.setdefault(what, {}).setdefault(label, ([], []))
            times.append(t)
            values.append(value)
    if quantity is not None and quantity not in curves:
        known = ", ".join(curves) or "none: ask for series=[…] when you run it"
        raise ValueError(f"{quantity!r} was not kept, expected one of {known}")
    if not curves:
        return _scatter(result, **settings)
    return _curves(curves, [quantity] if quantity else list(curves), **settings)


def _name(result: "Result", at: int) -> str:
    names = result.names
    varied = [f"{key}={result.runs[key][at]}" for key in result._native.varied]
    return " ".join([names[at], *varied])


def _figure(rows: int, **settings: Any) -> "tuple[Figure, list[Any]]":
    import matplotlib.pyplot as plt

    settings.setdefault("figsize", (8, 1 + 2.2 * rows))
    settings.setdefault("layout", "constrained")
    figure, axes = plt.subplots(rows, 1, squeeze=False, sharex=True, **settings)
    # A notebook shows the figure that is returned, and would show this one as well.
    plt.close(figure)
    return figure, [row[0] for row in axes]


def _curves(curves: Any, quantities: list[str], **settings: Any) -> "Figure":
    figure, axes = _figure(len(quantities), **settings)
    colours: dict[str, Any] = {}
    for axis, quantity in zip(axes, quantities):
        words, unit, scale = _WORDS.get(quantity, (quantity, "", 1.0))
        for label, (times, values) in curves[quantity].items():
            (line,) = axis.plot(
                times, [value * scale for value in values], linewidth=1.2, label=label, color=colours.get(label)
            )
            colours[label] = line.get_color()
        axis.set_ylabel(f"{words}, {unit}" if unit else words)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
        if len(curves[quantity]) > 1:
            axis.legend(frameon=False, fontsize="small")
    axes[-1].set_xlabel("time, s")
    return figure


def _scatter(result: "Result", **settings: Any) -> "Figure":
    settings.setdefault("figsize", (6, 4))
    figure, (axis,) = _figure(1, **settings)
    runs = result.runs
    points: dict[str, tuple[list[float], list[float]]] = {}
    for name, goodput, up, queue, up_queue in zip(
        runs["run"], runs["goodput_bps"], runs["up_goodput_bps"], runs["queue_delay_p95_ms"], runs["up_queue_delay_p95_ms"]
    ):
        down = goodput is not None
        queues, goodputs = points.setdefault(name, ([], []))
        queues.append(queue if down else up_queue)
        goodputs.append((goodput if down else up or 0.0) / 1e6)
    for name, (queues, goodputs) in points.items():
        axis.scatter(queues, goodputs, label=name, alpha=0.8)
    axis.set_xlabel("queueing delay, 95th percentile, ms")
    axis.set_ylabel("goodput, Mbit/s")
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize="small")
    return figure
