"""How far it is."""

from __future__ import annotations

import contextlib
import sys
from typing import Callable, Iterator, Optional, Union

Progress = Callable[[float, float], object]
"""Told the seconds of virtual time that are done, and those of all, a hundred times a second."""


@contextlib.contextmanager
def shown(progress: Union[bool, Progress]) -> Iterator[Optional[Progress]]:
    """What to tell; a bar, where one is wanted, is tqdm's if that is there, and otherwise a line on a terminal."""
    if not isinstance(progress, bool):
        yield progress
    elif not progress:
        yield None
    else:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            with _line() as line:
                yield line
            return
        with tqdm(unit="s", unit_scale=True, desc="virtual time") as bar:

            def told(done: float, all: float) -> None:
                bar.total = all
                bar.update(done - bar.n)

            yield told


@contextlib.contextmanager
def _line() -> Iterator[Optional[Progress]]:
    if not sys.stderr.isatty():
        yield None
        return

    def told(done: float, all: float) -> None:
        part = done / all if all else 1.0
        print(f"\r{'█' * round(part * 40):40} {part:4.0%}", end="", file=sys.stderr, flush=True)

    yield told
    print("\r" + " " * 50 + "\r", end="", file=sys.stderr, flush=True)
