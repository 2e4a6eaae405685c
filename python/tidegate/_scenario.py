"""Scenarios: read, made, changed and run."""

from __future__ import annotations

import contextlib
import copy
import os
from typing import Any, Iterable, Iterator, Mapping, MutableMapping, NamedTuple, Optional, Sequence, Union

from . import _native
from ._errors import wrong
from ._own import Codes, is_code, name as named_code, taken
from ._progress import Progress, shown
from ._result import Result
from ._session import Session
from ._traces import Recording

Vary = Mapping[Union[str, tuple[str, ...]], Union[Iterable[Any], Mapping[str, Any]]]
"""Values for each of some keys: ``{"down.delay_ms": [10, 50], "run.tide.lambda": [2, 3]}``.

Keys in a tuple change together: ``{("down.delay_ms", "up.delay_ms"): [(10, 20), (70, 90)]}``. Values in a ``dict`` have
names: ``{"down.rate": {"still": tg.trace(…), "driving": tg.trace(…)}}``.
"""

Point = tuple[Optional[str], list[Any]]
"""A value for each of the keys that change together, and what they are called, if they have a name."""

Varied = list[tuple[list[str], list[Point]]]
"""Keys that change together, and the points that they take in turn."""

Own = Mapping[str, Any]
"""Classes of one's own, by the names that a scenario has for them."""

_FILES = ("cdf", "delay_trace", "series", "trace")


class Spec(NamedTuple):
    """What is to be run, in plain words that every process understands."""

    document: Mapping[str, Any]
    written: str
    """The text that the document was read from."""
    path: str
    files: dict[str, str]
    """What has been made and not written, by the names that the document has for it."""
    vary: Varied
    runs: Optional[Sequence[str]]
    """Names of those that are to be run; all if none is named."""
    own: dict[str, Codes]
    """What of the runs is written in Python, by their names."""
    command: str
    """How to have the results again."""

    def with_files(self) -> "Spec":
        """The same with the texts of all files, so that it can be run where those are not."""
        files = dict(self.files)
        folder = os.path.dirname(self.path)
        for name in {*named(self.document), *named_by(self.vary)} - set(files):
            # If it cannot be read, the reader of the scenario says so, with the line.
            with contextlib.suppress(OSError, UnicodeDecodeError):
                # Byte for byte: the results' keys are of that.
                with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
                    files[name] = file.read()
        return self._replace(files=files)


class Scenario(MutableMapping[str, Any]):
    """Two hosts, the links between them, what they do, and the runs to compare.

    It is changed like a ``dict``; its keys are those of a scenario's file, with the units that their names say
    (``delay_ms``, ``duration_s``, ``constant_mbps``). What is missing of ``name``, ``workload`` and ``run`` is one bulk
    download over Linux as it is.

    >>> s = Scenario(
    ...     duration_s=30,
    ...     down={"rate": {"constant_mbps": 20}, "delay_ms": 25, "queue": {"packets": 2000}},
    ...     up={"rate": {"constant_mbps": 5}, "delay_ms": 25},
    ... )
    >>> s["down"]["delay_ms"] = 50
    """

    def __init__(self, document: Optional[Mapping[str, Any]] = None, /, **keys: Any) -> None:
        self._document: dict[str, Any] = {
            "name": "scenario",
            "workload": [{"name": "download", "does": {"bulk": {}}}],
            "run": [{"name": "linux"}],
        }
        self._document.update(copy.deepcopy(dict(document or {})))
        self._document.update(keys)
        self._text = ""
        self._path = ""

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Scenario":
        """Reads a file. A name that is no file is looked for among the shipped ones (:func:`shipped`)."""
        path = os.fspath(path)
        try:
            # A byte order mark is no part of the text.
            with open(path, encoding="utf-8-sig") as file:
                text = file.read()
        except FileNotFoundError:
            name = os.path.basename(path)
            found = _native.shipped(name[:-5] if name.endswith(".toml") else name)
            if found is None:
                raise
            text = found
        return cls._read(text, path)

    @classmethod
    def loads(cls, text: str) -> "Scenario":
        """Reads a text."""
        return cls._read(text, "")

    @classmethod
    def _read(cls, text: str, path: str) -> "Scenario":
        new = cls.__new__(cls)
        new._document = _native.parse(text, path or "scenario")
        new._text = text
        new._path = path
        return new

    def copy(self) -> "Scenario":
        """Another one, which may be changed without changing this one."""
        return copy.deepcopy(self)

    def __getitem__(self, key: str) -> Any:
        return self._document[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._document[key] = value

    def __delitem__(self, key: str) -> None:
        del self._document[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    def to_dict(self) -> dict[str, Any]:
        """A copy as a ``dict``."""
        return copy.deepcopy(self._document)

    def check(self) -> None:
        """Whether it can be run.

        :raises ScenarioError: with all that is wrong with it.
        """
        _native.Plan(self._spec(self._document))

    def run(
        self,
        name: Optional[str] = None,
        *,
        seed: Optional[int] = None,
        series: Union[bool, Sequence[str]] = False,
        bin_ms: float = 100.0,
        progress: Union[bool, Progress] = False,
        own: Optional[Own] = None,
        **settings: Any,
    ) -> Result:
        """Runs one run.

        :param name: which of the scenario's; with none, and ``settings``, one of its own; with neither the only one.
        :param seed: in place of the scenario's.
        :param series: quantities to keep over time, such as ``queue_delay_ms``; ``True``: all.
        :param bin_ms: milliseconds from one point of a curve to the next.
        :param progress: a bar, or a function that is told seconds of virtual time done, and of all.
        :param own: classes of yours by the names that the scenario's runs and workloads have for them:
            ``own={"mine": Mine}`` where a workload says ``congestion_control = "mine"``.
        :param settings: keys of a run, such as ``law="tide"``, ``congestion_control="bbr"``, ``lambda_=2``,
            ``rmem_max`` (bytes), ``window`` (bytes). ``law``, ``server_law`` and ``congestion_control`` may be classes of
            yours (:class:`tidegate.Law`, :class:`tidegate.Sender`), here and in the scenario's runs; ``law`` and
            ``congestion_control`` in its workloads, too.
        :raises ScenarioError: with all that is wrong.

        Ctrl-C stops it. The interpreter's lock is not held meanwhile, unless a law or sender is Python's. What such a class
        raises is raised here.
        """
        plan = self._plan_of_one("run", name, seed, settings, own)
        return self._perform(plan, series, bin_ms, 1, progress)

    def lab(
        self,
        name: Optional[str] = None,
        *,
        seed: Optional[int] = None,
        series: Union[bool, Sequence[str]] = False,
        progress: Union[bool, Progress] = False,
        own: Optional[Own] = None,
        **settings: Any,
    ) -> Result:
        """Runs one run in the laboratory, in real time: real packets over the emulated links, between two network
        namespaces of this machine, with the kernel's TCP at both ends. It needs root, and lasts ``duration_s``.

        The arguments are those of :meth:`run`. Classes of yours send where ``hosts`` or the run say ``own_tcp =
        ["server"]``, and steer where they say ``own_tcp = ["client"]`` (the other way round for uploads): that host has
        the simulator's TCP, the other one the kernel's. Laws of the project need the agent, which ``tidegate lab`` has and
        the package has not. A curve has a point for each 100 ms.

        :raises RuntimeError: without root, and if the laboratory lacks what the scenario asks for.
        """
        plan = self._plan_of_one("lab", name, seed, settings, own)
        quantities = _quantities(series)
        with shown(progress) as told:
            result = Result(plan.lab(series=quantities, progress=told))
        _hold_to(quantities, result)
        return result

    def session(
        self,
        name: Optional[str] = None,
        *,
        seed: Optional[int] = None,
        series: bool = False,
        bin_ms: float = 100.0,
        own: Optional[Own] = None,
        **settings: Any,
    ) -> Session:
        """The same run as of :meth:`run`, to be stepped: advanced, looked at and acted on.

        :param series: whether its result has curves.
        """
        plan = self._plan_of_one("session", name, seed, settings, own)
        links = ["down", "up", *(str(hop.get("name")) for hop in self._document.get("hop", []))]
        return Session(plan.session(series=series, bin_ms=bin_ms), links)

    def _plan_of_one(
        self,
        method: str,
        name: Optional[str],
        seed: Optional[int],
        settings: Mapping[str, Any],
        own: Optional[Own],
    ) -> _native.Plan:
        document = dict(self._document)
        document["run"] = [self._chosen(name, _without_underscores(settings))]
        said = [*([repr(name)] if name else []), *(f"{key}={_said(value)}" for key, value in settings.items())]
        if seed is not None:
            document["seed"] = seed
            said.append(f"seed={seed}")
        said.extend(_said_own(own))
        return _native.Plan(self._spec(document, command=f"{method}({', '.join(said)})", own=own))

    def run_all(
        self,
        runs: Optional[Sequence[str]] = None,
        *,
        vary: Optional[Vary] = None,
        seeds: int = 1,
        threads: Optional[int] = None,
        series: Union[bool, Sequence[str]] = False,
        bin_ms: float = 100.0,
        progress: Union[bool, Progress] = False,
        own: Optional[Own] = None,
    ) -> Result:
        """Runs all runs, as ``tidegate sim`` does.

        :param runs: the names of those to be run; all if none is said.
        :param vary: values for keys, every combination of which is run, the last key turning fastest. A key joins names
            by dots; in ``run``, ``workload`` and ``hop`` a name is that of one of them, a number its place from 0, and
            ``*`` is each: ``{"run.tide.lambda": [2, 3], "workload.*.start_s": [0, 5]}``. Keys in a tuple change together;
            a ``dict`` names its values (:data:`Vary`).
        :param seeds: how many seeds, from the scenario's on.
        :param threads: how many runs at a time; as many as there are processors if it is not said.
        :param series: quantities to keep over time; ``True``: all.
        :param bin_ms: milliseconds from one point of a curve to the next.
        :param progress: a bar, or a function that is told seconds of virtual time done, and of all.
        :param own: as of :meth:`run`.
        :raises ScenarioError: with all that is wrong, before anything is run.
        """
        plan = _native.Plan(self._varied(runs, vary, seeds, own))
        return self._perform(plan, series, bin_ms, threads, progress)

    def _varied(
        self, runs: Optional[Sequence[str]], vary: Optional[Vary], seeds: int, own: Optional[Own] = None
    ) -> Spec:
        """All combinations."""
        said = []
        if runs is not None:
            runs = [str(self._named(name)["name"]) for name in runs]
            said.append(f"runs={runs!r}")
        # What can be walked through only once is written down first.
        listed = {key: values if isinstance(values, Mapping) else list(values) for key, values in (vary or {}).items()}
        for key, values in listed.items():
            if not values:
                raise wrong("vary", f"{key!r} has no values, expected at least one")
        varied = [_points(key, values) for key, values in listed.items()]
        if listed:
            said.append(f"vary={listed!r}")
        if seeds != 1:
            said.append(f"seeds={seeds}")
            varied.append((["seed"], [(None, [seed]) for seed in self._seeds(seeds, varied)]))
        said.extend(_said_own(own))
        return self._spec(self._document, varied, runs, command=f"run_all({', '.join(said)})", own=own)

    def _seeds(self, seeds: int, varied: Varied) -> list[int]:
        if seeds < 1:
            raise wrong("seeds", f"{seeds}, expected at least 1")
        if any("seed" in keys for keys, _ in varied):
            raise wrong("seeds", "both seeds and vary of seed, expected one of them")
        first = self._document.get("seed", 1)
        return [first + n for n in range(seeds)]

    def _named(self, name: str) -> dict[str, Any]:
        runs = self._document.get("run", [])
        for run in runs:
            if run.get("name") == name:
                return dict(run)
        known = ", ".join(str(run.get("name")) for run in runs)
        raise wrong("run", f'no run is named "{name}"; the scenario has {known}')

    def _chosen(self, name: Optional[str], settings: dict[str, Any]) -> dict[str, Any]:
        runs = self._document.get("run", [])
        if name is not None:
            return {**self._named(name), **settings}
        if settings:
            return {"name": _name_of(settings), **settings}
        if len(runs) == 1:
            return dict(runs[0])
        known = ", ".join(str(run.get("name")) for run in runs)
        raise wrong("run", f"there are {len(runs)}, expected the name of one ({known}), or law=…; run_all() runs all")

    def _spec(
        self,
        document: Mapping[str, Any],
        vary: Sequence[tuple[list[str], list[Point]]] = (),
        runs: Optional[Sequence[str]] = None,
        command: str = "run()",
        own: Optional[Own] = None,
    ) -> Spec:
        files: dict[str, str] = {}
        resolved = _resolve(document, files)

        def here(keys: list[str], points: list[Point]) -> list[Point]:
            return [
                (name, [_from_here(key, _resolve(value, files)) for key, value in zip(keys, values)])
                for name, values in points
            ]

        varied = [(keys, here(keys, points)) for keys, points in vary]
        origin = f"tidegate.Scenario.load({self._path!r})" if self._path else "tidegate.Scenario(…)"
        codes = taken(resolved, own or {})
        return Spec(resolved, self._text, self._path or "scenario", files, varied, runs, codes, f"{origin}.{command}")

    def _perform(
        self,
        plan: _native.Plan,
        series: Union[bool, Sequence[str]],
        bin_ms: float,
        threads: Optional[int],
        progress: Union[bool, Progress],
    ) -> Result:
        quantities = _quantities(series)
        with shown(progress) as told:
            result = Result(plan.run(series=quantities, bin_ms=bin_ms, threads=threads, progress=told))
        _hold_to(quantities, result)
        return result

    def __repr__(self) -> str:
        lines = [f"Scenario {self.get('name', '')!r}: {self.get('duration_s', '?')} s"]
        for direction in ("down", "up"):
            link = self.get(direction)
            if isinstance(link, Mapping):
                rate = link.get("rate")
                lines.append(f"  {direction}: {_brief(rate)}, {link.get('delay_ms', '?')} ms")
        for key in ("workload", "run"):
            entries = self.get(key, [])
            names = (str(entry.get("name")) for entry in entries if isinstance(entry, Mapping))
            lines.append(f"  {key}s: {', '.join(names)}")
        return "\n".join(lines)


def shipped() -> list[str]:
    """Names of the scenarios that come with the package, for :meth:`Scenario.load`."""
    return _native.shipped_names()


def _without_underscores(settings: Mapping[str, Any]) -> dict[str, Any]:
    """``lambda_`` is ``lambda``, which Python keeps for itself."""
    return {key.rstrip("_"): value for key, value in settings.items()}


def _name_of(settings: Mapping[str, Any]) -> str:
    """The name of a run that has only settings: its law's, or else that of its congestion control, if it is Python's."""
    own = [settings.get("law", "none"), settings.get("congestion_control")]
    named = [named_code(value) for value in own if is_code(value)]
    if named:
        return named[0]
    return "linux" if own[0] == "none" else str(own[0])


def _said_own(own: Optional[Own]) -> list[str]:
    named = (f"{key!r}: {_said(value)}" for key, value in (own or {}).items())
    return [f"own={{{', '.join(named)}}}"] if own else []


def _said(value: object) -> str:
    return named_code(value) if is_code(value) else repr(value)


def _quantities(series: Union[bool, Sequence[str]]) -> Optional[list[str]]:
    if isinstance(series, bool):
        return [] if series else None
    if isinstance(series, str):
        return [series]
    return list(series) or None


def _resolve(value: Any, files: dict[str, str]) -> Any:
    """The same with names in place of recordings, whose texts go into ``files``."""
    if isinstance(value, Recording):
        files[value.name] = value.text
        return value._resolved()
    if isinstance(value, Mapping):
        return {key: _resolve(inner, files) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_resolve(inner, files) for inner in value]
    return value


def named(value: Any, key: str = "") -> Iterator[str]:
    """The files that a value of ``key`` names."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from named(inner, name)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from named(inner, key)
    elif isinstance(value, str) and key.rsplit(".")[-1] in _FILES:
        yield value


def named_by(vary: Varied) -> Iterator[str]:
    """The files that variations name."""
    for keys, points in vary:
        for _, values in points:
            for key, value in zip(keys, values):
                yield from named(value, key)


def _points(key: Union[str, tuple[str, ...]], values: Union[list[Any], Mapping[str, Any]]) -> tuple[list[str], list[Point]]:
    """The keys of a variation, and a value for each at each point."""
    keys = [key] if isinstance(key, str) else list(key)
    called = values.items() if isinstance(values, Mapping) else ((None, value) for value in values)
    if isinstance(key, str):
        return keys, [(name, [value]) for name, value in called]
    points: list[Point] = []
    for name, together in called:
        if not isinstance(together, (list, tuple)) or len(together) != len(keys):
            raise wrong("vary", f"{together!r} for {', '.join(keys)}, expected {len(keys)} values, one for each key")
        points.append((name, list(together)))
    return keys, points


def _from_here(key: str, value: Any) -> Any:
    """Files that are varied lie where the program runs, not beside the scenario."""
    if isinstance(value, Mapping):
        return {name: _from_here(name, inner) for name, inner in value.items()}
    if isinstance(value, str) and key.rsplit(".")[-1] in _FILES and os.path.exists(value):
        return os.path.abspath(value)
    return value


def _hold_to(quantities: Optional[Sequence[str]], result: Result) -> None:
    """The curves that were asked for. Which there are depends on the scenario, and is known once it has run."""
    there = set(result.series["quantity"]) if quantities else set()
    for quantity in quantities or ():
        if quantity not in there:
            raise wrong("series", f"no run has {quantity!r}; series=True keeps all that there are")


def _brief(rate: Any) -> str:
    if isinstance(rate, Mapping) and len(rate) == 1:
        ((kind, value),) = rate.items()
        if kind == "constant_mbps":
            return f"{value} Mbit/s"
        inner = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, Mapping) else value
        return f"{kind} ({inner})" if not isinstance(value, list) else kind
    return str(rate)


__all__ = ["Scenario", "Vary", "shipped"]
