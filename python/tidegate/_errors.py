"""What is wrong with a scenario."""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence


class Fault(NamedTuple):
    """One thing that is wrong."""

    path: Optional[str]
    """The file, if the scenario or the trace was read from one."""
    line: Optional[int]
    """The line of that file, from 1, where it is known."""
    key: Optional[str]
    """The key, such as ``down.delay_ms`` or ``workload[0].does``, where it is known."""
    message: str
    """What is there and what was expected."""

    def __str__(self) -> str:
        place = self.path or ""
        if place and self.line is not None:
            place += f":{self.line}"
        parts = [place, self.message]
        # Most messages name their key themselves.
        if self.key and self.key.rsplit(".")[-1].split("[")[0] not in self.message:
            parts.insert(1, self.key)
        return ": ".join(part for part in parts if part)


class ScenarioError(ValueError):
    """A scenario cannot be run as it is.

    All that is wrong is in :attr:`faults`; :attr:`key`, :attr:`line`, :attr:`path` and :attr:`message` are those of the
    first.
    """

    def __init__(self, faults: Sequence[tuple[Optional[str], Optional[int], Optional[str], str]]) -> None:
        self.faults: list[Fault] = [Fault(*fault) for fault in faults]
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type, tuple[list[Fault]]]:
        return (type(self), (self.faults,))

    @property
    def path(self) -> Optional[str]:
        """The file of the first fault."""
        return self.faults[0].path

    @property
    def line(self) -> Optional[int]:
        """The line of the first fault, from 1."""
        return self.faults[0].line

    @property
    def key(self) -> Optional[str]:
        """The key of the first fault."""
        return self.faults[0].key

    @property
    def message(self) -> str:
        """What is wrong first, and what was expected."""
        return self.faults[0].message


def wrong(key: str, message: str) -> ScenarioError:
    """An error of an argument: what is there and what was expected."""
    return ScenarioError([(None, None, key, message)])
