"""Laws and senders in Python, in place of a run's."""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterator, Mapping, MutableMapping, NamedTuple, Optional, Protocol, Sequence

from ._errors import wrong
from ._native import ReceiverView, SenderView


class Law(Protocol):
    """What a receiver's law is: a class. Each connection gets an instance when it is opened.

    >>> class Fixed:
    ...     def data(self, flow):
    ...         return 60_000
    >>> s.run(law=Fixed)

    An attribute ``version`` of the class, text or a number, states what it does: see :func:`tidegate.sweep`.
    """

    def data(self, flow: ReceiverView, /) -> Optional[float]:
        """Data have arrived. Returns the window that their sender is to be told from the next acknowledgement on, in
        bytes; ``None``: the host's own.

        It is a wish. As for every law it only ever lowers what the host offers, takes nothing back that was promised, and
        leaves two segments at least.
        """


class Sender(Protocol):
    """What a sender's congestion control is: a class. Each connection gets an instance when it is opened.

    >>> class Sixteen:
    ...     every_ack = True
    ...     def ack(self, flow):
    ...         flow.cwnd_packets = 16
    >>> s.run(congestion_control=Sixteen)

    Every method is called with the same view, which is always as of now, and may set its ``cwnd_packets``,
    ``ssthresh_packets``, ``cwnd_count`` and ``pacing_bps``. Only ``ack`` has to be there; the others are

    * ``start(flow)``: the connection is established;
    * ``sample(flow)``: an acknowledgement has arrived, in recovery too, and nothing has been done about it yet;
    * ``loss(flow)``: something was lost. The window is led to ``ssthresh_packets``, which is half of it unless it is set.
      With ``every_ack`` it stays as it is, unless it is set;
    * ``timeout(flow)``: after ``loss``, where it was a timeout that told. The window begins anew;
    * ``step(flow)``: at times of its own: first when the connection is established; returns the milliseconds until the
      next, or ``None``.

    A true attribute ``every_ack`` has ``ack`` called with every acknowledgement, and window and rate be what is set alone,
    as Linux's BBR has it. Otherwise it is called where the window may be raised, and in recovery, where it follows what is
    delivered, it is not (Linux's ``cong_avoid``).

    An attribute ``version`` of the class, text or a number, states what it does: see :func:`tidegate.sweep`.
    """

    def ack(self, flow: SenderView, /) -> object:
        """An acknowledgement has arrived."""


class Code(NamedTuple):
    """One of them."""

    make: Callable[[], object]
    name: str
    identity: Optional[str]
    """What identifies what it does; none if it does not say so."""


class WorkloadCodes(NamedTuple):
    """What of a workload is Python's, in every run."""

    law: Optional[Code]
    congestion_control: Optional[Code]


class Codes(NamedTuple):
    """What of a run is Python's."""

    law: Optional[Code]
    server_law: Optional[Code]
    congestion_control: Optional[Code]
    workloads: dict[str, WorkloadCodes]
    """What of its workloads is, by their names."""


_METHODS = {"law": "data", "server_law": "data", "congestion_control": "ack"}


def taken(document: MutableMapping[str, Any], own: Mapping[str, Any]) -> dict[str, Codes]:
    """Takes what of the runs and workloads is written in Python out of a document: it, by the runs' names. ``own`` has
    classes that the document names."""
    left = set(own)
    workloads = {}
    for name, codes in _each(document, "workload", WorkloadCodes._fields, own, left):
        workloads[name] = WorkloadCodes(codes.get("law"), codes.get("congestion_control"))
    runs = dict(_each(document, "run", tuple(_METHODS), own, left))
    if left:
        known = "the law or congestion_control of a run or workload"
        raise wrong("own", f"own has {', '.join(sorted(left))}, expected names that are {known}")
    listed = document.get("run")
    if workloads and isinstance(listed, list):
        for run in listed:
            runs.setdefault(str(run.get("name")), {})
    return {
        name: Codes(codes.get("law"), codes.get("server_law"), codes.get("congestion_control"), workloads)
        for name, codes in runs.items()
    }


def _each(
    document: MutableMapping[str, Any], key: str, fields: Sequence[str], own: Mapping[str, Any], left: set[str]
) -> Iterator[tuple[str, dict[str, Code]]]:
    """Of each run or workload in that list that has any: its name, and its code, which is taken out. Names that are in
    ``own`` are not left."""
    listed = document.get(key)
    if not isinstance(listed, list):
        return
    for nth, entry in enumerate(listed):
        if not isinstance(entry, Mapping):
            continue
        codes = {}
        for field in fields:
            value = entry.get(field)
            if isinstance(value, str) and value in own:
                left.discard(value)
                value = own[value]
            if is_code(value):
                codes[field] = _code(field, value)
        if codes:
            listed[nth] = {field: value for field, value in entry.items() if field not in codes}
            yield str(entry.get("name")), codes


def is_code(value: object) -> bool:
    """Whether that is no word that a scenario has, but what is written in Python."""
    return callable(value) or any(hasattr(value, method) for method in _METHODS.values())


def name(value: object) -> str:
    """What results call it."""
    if isinstance(value, functools.partial):
        return name(value.func)
    return str(getattr(value, "__name__", type(value).__name__))


def _code(key: str, value: Any) -> Code:
    method = _METHODS[key]
    if not callable(value):
        raise wrong(key, f"{key} is one {name(value)}, expected the class: each connection has one of its own")
    if isinstance(value, type) and not hasattr(value, method):
        raise wrong(key, f"{key} is the class {name(value)} without {method}(flow), expected one with it")
    version = getattr(value, "version", None)
    identity = None
    if version is not None:
        inner = value.func if isinstance(value, functools.partial) else value
        identity = f"{inner.__module__}.{inner.__qualname__} {version}"
    return Code(value, name(value), identity)
