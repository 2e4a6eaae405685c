"""Gymnasium environments over the simulator: needs ``pip install tidegate[gym]``.

>>> import gymnasium
>>> import tidegate.gym
>>> env = gymnasium.make("tidegate/Link-v0", act="window", step_ms=10)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Sixteen of them, stepped together on threads:

>>> envs = gymnasium.make_vec("tidegate/Link-v0", num_envs=16, step_ms=10)
>>> observations, infos = envs.reset(seed=1)
>>> observations, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
"""

from __future__ import annotations

import os
from typing import Any, Callable, Optional, Sequence, Union

import gymnasium
import numpy
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy import asarray, frombuffer, ndarray, ones, zeros
from numpy.typing import NDArray

from . import _native
from ._scenario import Scenario
from ._session import Session, _number

World = Union[Scenario, Sequence[Scenario], Callable[[numpy.random.Generator], Scenario]]
"""Where an episode takes place: a scenario; a list of them, to draw from; or a function that makes one."""

Vector = NDArray[numpy.float32]

# Looked up once: a step is some microseconds.
_SEEN, _WORD, _COUNT, _FLAG = map(numpy.dtype, (numpy.float32, numpy.float64, numpy.int64, numpy.bool_))

_FEATURES = 4
"""Numbers that an observation has of each step."""

_TOLD = ("now_s", "goodput_bps", "sent_bps", "lost_bps", "rtt_ms", "queue_delay_ms")
"""What ``info`` has besides ``dropped``, in the native order."""

_MASKS = tuple("_" + name for name in (*_TOLD, "dropped"))


class _Agent:
    """What an agent is to do, and where: the parameters that both environments have."""

    def __init__(
        self,
        act: str,
        reward: str,
        law: str,
        step_ms: float,
        history: int,
        delta: float,
        flow: Union[int, str],
        start_ms: float,
    ) -> None:
        self.task = _native.Task(
            act=act, reward=reward, step_ms=step_ms, start_ms=start_ms, history=history, delta=delta
        )
        self.law, self.flow = law, flow
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), numpy.float32)
        self.observation_space = gymnasium.spaces.Box(-1.0, 10.0, (_FEATURES * history,), numpy.float32)

    def session(self, world: World, random: numpy.random.Generator) -> tuple[Session, int]:
        """A run for a new episode, drawn, and the number of the agent's flow in it."""
        if not isinstance(world, Scenario):
            world = world(random) if callable(world) else world[int(random.integers(len(world)))]
        session = world.session(law=self.law, seed=int(random.integers(1 << 31)))
        return session, _number(self.flow, session.flows, "flow")


class LinkEnv(gymnasium.Env[Vector, Vector]):
    """One flow over a link, whose receiver's window, or whose sender's window or rate, is the agent's.

    **Action**: a number from -1 to 1 that changes what the agent has by up to ``delta``: times 1 + a·delta, or by
    1 - a·delta where a is below 0 (PCC-RL's; Jay et al., ICML 2019).

    **Observation**: for each of the last ``history`` steps four numbers, of -1 to 10 (the first three are PCC-RL's):
    the last round trip's rise by the step's length, the last round trip by the least one of the episode less 1, what was
    sent by what was delivered less 1, and what was delivered by the most that was delivered in a step of the episode.

    **Reward** of a step, ``reward``:

    * ``tide``: delivered by what the link could have carried, less the queueing delay by 100 ms;
    * ``pcc``: (10 · packets/s - 1000 · round trip in s - 2000 · part lost) · 0.001 (PCC-RL);
    * ``orca``: (delivered - 5 · lost) ÷ delay, by the most delivered ÷ the least delay, where a delay up to 1.25 times
      the least counts as that (after Abbasloo et al., SIGCOMM 2020; beyond it their program takes the least 1.25 times).

    An episode is truncated at the end of the scenario. Others in the scenario compete with Linux's TCP.
    ``info`` has what happened in the step: ``now_s``, ``goodput_bps``, ``sent_bps``, ``lost_bps``, ``rtt_ms``,
    ``queue_delay_ms``, ``dropped`` (packets); ``session`` is the run, to look at more.

    :param world: where episodes take place; by default the shipped ``lte-download``.
    :param act: ``window`` (bytes, the receiver's), ``cwnd`` (segments), ``rate`` (bit/s), or ``none``: the ``law`` acts,
        for baselines.
    :param law: of the run, in force until the agent acts: ``none`` (Linux), ``drwa``, ``tide``, …
    :param step_ms: virtual milliseconds of a step.
    :param flow: name or number of the flow.
    :param start_ms: virtual milliseconds that Linux has before the agent.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        world: Optional[World] = None,
        *,
        act: str = "window",
        reward: str = "tide",
        law: str = "none",
        step_ms: float = 10.0,
        history: int = 10,
        delta: float = 0.1,
        flow: Union[int, str] = 0,
        start_ms: float = 500.0,
    ) -> None:
        self._agent = _Agent(act, reward, law, step_ms, history, delta, flow, start_ms)
        self.world = _default(world)
        self.action_space = self._agent.action_space
        self.observation_space = self._agent.observation_space
        self.session: Optional[Session] = None
        self._episode: Optional[_native.Episode] = None

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[Vector, dict[str, Any]]:
        """A new episode. ``seed`` decides over the scenario, its randomness and so over everything.

        :param options: ``world`` is one for this episode alone.
        """
        super().reset(seed=seed)
        world = (options or {}).get("world", self.world)
        self.session, flow = self._agent.session(world, self.np_random)
        self._episode = _native.Episode(self.session._native, self._agent.task, flow)
        return frombuffer(self._episode.seen(), _SEEN), {"now_s": self.session.now_s}

    def step(self, action: Vector) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Acts, and goes on by ``step_ms``.

        :raises ValueError: of an action that is NaN.
        """
        episode = self._episode
        if episode is None:
            raise RuntimeError("reset() comes first")
        seen, reward, over, info = episode.step(action[0])
        # A `bytearray` is nobody else's: the array may be written to.
        return frombuffer(seen, _SEEN), reward, False, over, info


class LinkVectorEnv(VectorEnv[Vector, Vector, NDArray[Any]]):
    """Several :class:`LinkEnv`, stepped together on threads that do not hold the interpreter's lock.

    Each is the same as a :class:`LinkEnv` with its seed and its actions, to the bit, on any number of threads. Arrays are
    as :class:`gymnasium.vector.SyncVectorEnv` has them, ``infos`` too: a value for each environment, and in an array of
    the same name behind an underscore whether it has one.

    :param num_envs: how many.
    :param threads: on how many threads, with the caller's; as many as there are processors if it is not said.
    :param autoreset_mode: when an environment whose episode is over begins another: ``NextStep``, ``SameStep`` (the last
        observation and info are then in ``infos["final_obs"]`` and ``infos["final_info"]``) or ``Disabled`` (by
        ``reset(options={"reset_mask": …})``).

    All others are :class:`LinkEnv`'s; of a ``world`` that is drawn each environment draws its own.
    """

    def __init__(
        self,
        num_envs: int = 1,
        world: Optional[World] = None,
        *,
        act: str = "window",
        reward: str = "tide",
        law: str = "none",
        step_ms: float = 10.0,
        history: int = 10,
        delta: float = 0.1,
        flow: Union[int, str] = 0,
        start_ms: float = 500.0,
        threads: Optional[int] = None,
        autoreset_mode: Union[str, AutoresetMode] = AutoresetMode.NEXT_STEP,
    ) -> None:
        super().__init__()
        for name, number in [("num_envs", num_envs), ("threads", threads)]:
            if number is not None and number < 1:
                raise ValueError(f"{name} is {number}, expected at least 1")
        self._agent = _Agent(act, reward, law, step_ms, history, delta, flow, start_ms)
        self.world = _default(world)
        self.num_envs = num_envs
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**LinkEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = self._agent.action_space
        self.single_observation_space = self._agent.observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._sessions: list[Optional[Session]] = [None] * num_envs
        self._randoms: list[Optional[numpy.random.Generator]] = [None] * num_envs
        self._native: Optional[_native.Vector] = _native.Vector(num_envs, threads or len(os.sched_getaffinity(0)), history)
        self._over: NDArray[numpy.bool_] = numpy.zeros(num_envs, numpy.bool_)
        self._any_over = False
        self._began = False

    @property
    def sessions(self) -> tuple[Optional[Session], ...]:
        """The runs, to look at more; ``None`` before the first reset."""
        return tuple(self._sessions)

    def reset(
        self,
        *,
        seed: Union[int, Sequence[Optional[int]], None] = None,
        options: Optional[dict[str, Any]] = None,
    ) -> tuple[Vector, dict[str, Any]]:
        """New episodes.

        :param seed: of the first environment, the next has the next one; or one for each.
        :param options: ``world`` is one for these episodes alone; ``reset_mask``, an array of ``bool``, says whose episodes
            they are, all others stay as they are.
        """
        options = dict(options or {})
        mask = self._mask(options.pop("reset_mask", None))
        seeds = self._seeds(seed)
        for number in numpy.flatnonzero(mask):
            if seeds[number] is not None:
                self._randoms[number], _ = np_random(seeds[number])
            self._place(int(number), options.get("world", self.world))
        self._began = None not in self._sessions
        standing = _Standing(self._opened().begin()[0], self.num_envs)
        self._over = self._over & ~mask
        self._any_over = bool(self._over.any())
        return standing.seen, {"now_s": numpy.where(mask, standing.told[0], 0.0), "_now_s": mask}

    def step(
        self, actions: Vector
    ) -> tuple[Vector, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Acts in all, and goes on by ``step_ms``.

        :raises ValueError: of actions that are NaN, or not as many as environments.
        """
        native = self._opened()
        actions = asarray(actions, _SEEN)
        if actions.shape != (self.num_envs, 1):
            raise ValueError(f"actions have the shape {actions.shape}, expected {self.action_space.shape}")
        begun = self._any_over
        if begun:
            self._begin_again()
        standing, any_over = native.step(actions.tobytes())
        now = _Standing(standing, self.num_envs)
        rewards, over = now.rewards, now.over
        if not any_over:
            self._over, self._any_over = over, False
            return now.seen, rewards, zeros(self.num_envs, _FLAG), over, now.infos(begun)
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            for number in numpy.flatnonzero(over):
                final = {"final_obs": now.seen[number], "final_info": now.info(int(number))}
                infos = self._add_info(infos, final, int(number))
                self._place(int(number), self.world)
            now = _Standing(native.begin()[0], self.num_envs)
            begun = True
        else:
            self._over, self._any_over = over, any_over
        infos.update(now.infos(begun))
        return now.seen, rewards, zeros(self.num_envs, _FLAG), over, infos

    def close_extras(self, **kwargs: Any) -> None:
        """The threads end."""
        self._native = None
        self._sessions = [None] * self.num_envs

    def _begin_again(self) -> None:
        over = [int(number) for number in numpy.flatnonzero(self._over)]
        if self.autoreset_mode is AutoresetMode.DISABLED:
            raise RuntimeError(f"the episodes of {over} are over: reset(options={{'reset_mask': …}}) comes first")
        for number in over:
            self._place(number, self.world)

    def _place(self, number: int, world: World) -> None:
        """A new episode, which begins with the next native call."""
        random = self._randoms[number]
        if random is None:
            self._randoms[number] = random = np_random()[0]
        session, flow = self._agent.session(world, random)
        self._opened(fresh=True).place(number, session._native, self._agent.task, flow)
        self._sessions[number] = session

    def _opened(self, fresh: bool = False) -> _native.Vector:
        if self._native is None:
            raise RuntimeError("it is closed")
        if not fresh and not self._began:
            raise RuntimeError("reset() comes first")
        return self._native

    def _seeds(self, seed: Union[int, Sequence[Optional[int]], None]) -> list[Optional[int]]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, numpy.integer)):
            return [int(seed) + number for number in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"seed has {len(seed)} of them, expected one number, or {self.num_envs}")
        return list(seed)

    def _mask(self, mask: Any) -> NDArray[numpy.bool_]:
        """Whose episodes a reset is about."""
        if mask is None:
            return numpy.ones(self.num_envs, numpy.bool_)
        whose: NDArray[numpy.bool_] = numpy.array(mask)
        if whose.dtype != numpy.bool_ or whose.shape != (self.num_envs,) or not whose.any():
            raise ValueError(f"reset_mask is {mask}, expected {self.num_envs} times true or false, at least once true")
        return whose


class _Standing:
    """How all episodes of a vector stand: the arrays of what :meth:`_native.Vector.begin` says."""

    def __init__(self, native: bytearray, count: int) -> None:
        width = (len(native) // count - 8 * 8 - 2) // 4
        flags = count * (8 * 8 + 4 * width)
        self.count = count
        self.rewards = ndarray(count, _WORD, native)
        self.told = ndarray((len(_TOLD), count), _WORD, native, count * 8)
        self.dropped = ndarray(count, _COUNT, native, count * 8 * 7)
        self.seen = ndarray((count, width), _SEEN, native, count * 8 * 8)
        self.over = ndarray(count, _FLAG, native, flags)
        self.stepped = ndarray(count, _FLAG, native, flags + count)

    def infos(self, begun: bool) -> dict[str, Any]:
        """As Gymnasium has them, with masks; ``begun``: some may be at their start, of which the time alone is told."""
        if begun and not self.stepped.any():
            return {"now_s": self.told[0], "_now_s": ones(self.count, _FLAG)}
        infos = dict.fromkeys(_MASKS, self.stepped)
        infos.update(zip(_TOLD, self.told))
        infos["dropped"] = self.dropped
        if begun:
            infos["_now_s"] = ones(self.count, _FLAG)
        return infos

    def info(self, number: int) -> dict[str, Any]:
        """Of one."""
        told = dict(zip(_TOLD, self.told[:, number].tolist()))
        return {**told, "dropped": int(self.dropped[number])}


def _default(world: Optional[World]) -> World:
    return Scenario.load("lte-download.toml") if world is None else world


def _mode(mode: Union[str, AutoresetMode]) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(mode.value for mode in AutoresetMode)
        raise ValueError(f"autoreset_mode is {mode!r}, expected one of {known}") from None


gymnasium.register(
    id="tidegate/Link-v0",
    entry_point="tidegate.gym:LinkEnv",
    vector_entry_point="tidegate.gym:LinkVectorEnv",
)
