"""Numbers from several seeds, with their confidence intervals."""

from __future__ import annotations

import math
from typing import Iterable, NamedTuple, Optional

from . import _native


class Estimate(NamedTuple):
    """A number and half of its 95 % confidence interval; written ``4.19 ±0.12``."""

    value: float
    margin: Optional[float]
    """``None`` for a single value, or if all are the same: then nothing was random."""

    def __str__(self) -> str:
        if not self.margin:
            return f"{self.value:.4g}"
        # Two figures of the interval say how many of the number mean something.
        decimals = max(1 - math.floor(math.log10(self.margin)), 0)
        return f"{self.value:.{decimals}f} ±{self.margin:.{decimals}f}"


def mean(values: Iterable[float]) -> Estimate:
    """The mean of independent values, such as those of several seeds, with Student's interval.

    :raises ValueError: without values.
    """
    return Estimate(*_native.mean(list(values)))


def ratio(of: Iterable[float], to: Iterable[float]) -> Estimate:
    """The mean of ``of`` divided by that of ``to``, whose values belong together one by one, as those of two runs with the
    same seeds do; the interval is the jackknife's.

    >>> goodput = lambda run: r[run].runs["goodput_bps"]
    >>> tg.ratio(goodput("tide"), goodput("linux"))

    :raises ValueError: when there are not as many of both.
    """
    return Estimate(*_native.ratio(list(of), list(to)))


__all__ = ["Estimate", "mean", "ratio"]
