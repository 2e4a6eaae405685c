"""Ray as an executor for sweeps: needs ``pip install tidegate[ray]``.

>>> from tidegate.ray import RayExecutor
>>> tg.sweep(s, seeds=1000).run(out="rows/", executor=RayExecutor())
"""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any, Callable, TypeVar

import ray

T = TypeVar("T")


class RayExecutor(Executor):
    """Each call is a task of Ray's, which starts a local cluster unless ``ray.init`` came first.

    :param options: of the tasks, as ``ray.remote`` has them; one processor each if nothing is said.
    """

    def __init__(self, **options: Any) -> None:
        self._options = {"num_cpus": 1, **options}

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> "Future[T]":
        """Calls ``fn`` somewhere in the cluster."""
        task = ray.remote(**self._options)(fn).remote(*args, **kwargs)
        future: Future[T] = task.future()
        return future


__all__ = ["RayExecutor"]
