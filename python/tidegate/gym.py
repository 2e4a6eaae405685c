"""Gymnasium environments over the simulator: needs ``pip install tidegate[gym]``.

>>> import gymnasium
>>> import tidegate.gym
>>> env = gymnasium.make("tidegate/Link-v0", act="window", step_ms=10)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

import gymnasium
import numpy
from numpy.typing import NDArray

from ._scenario import Scenario
from ._session import FlowView, LinkView, Session

World = Union[Scenario, Sequence[Scenario], Callable[[numpy.random.Generator], Scenario]]
"""Where an episode takes place: a scenario, some of which one is drawn, or what makes one."""

Vector = NDArray[numpy.float32]

_ACTS = ("window", "cwnd", "rate", "none")
_REWARDS = ("tide", "pcc", "orca")

_LEAST = {"window": 3_000.0, "cwnd": 2.0, "rate": 1e5}
_MOST = {"window": 32e6, "cwnd": 50_000.0, "rate": 1e10}

_BETA = 1.25
"""Orca's: a delay up to so many times the least counts as the least."""

_ZETA = 5.0
"""Orca's: how much what is lost counts against what is delivered."""


class Step:
    """What has happened to a flow in one step."""

    def __init__(self, before: FlowView, after: FlowView, sent_over: LinkView, link: LinkView, seconds: float) -> None:
        packet = 8.0 * (after.segment_bytes or 1448)
        self.seconds = seconds
        self.goodput_bps = (after.received_bytes - before.received_bytes) * 8.0 / seconds
        self.sent_bps = (after.packets_sent - before.packets_sent) * packet / seconds
        self.lost_bps = (after.retransmits - before.retransmits) * packet / seconds
        self.rtt_ms = after.last_rtt_ms or 0.0
        self.rtt_rise_ms = self.rtt_ms - (before.last_rtt_ms or self.rtt_ms)
        self.queue_delay_ms = link.queue_delay_ms
        self.arrived = link.arrived_packets - sent_over.arrived_packets
        self.dropped = link.drops - sent_over.drops

    def told(self, now_s: float) -> dict[str, Any]:
        """For whoever watches."""
        return {
            "now_s": now_s,
            "goodput_bps": self.goodput_bps,
            "sent_bps": self.sent_bps,
            "lost_bps": self.lost_bps,
            "rtt_ms": self.rtt_ms,
            "queue_delay_ms": self.queue_delay_ms,
            "dropped": self.dropped,
        }


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
        for name, value, known in [("act", act, _ACTS), ("reward", reward, _REWARDS)]:
            if value not in known:
                raise ValueError(f"{name} is {value!r}, expected one of {', '.join(known)}")
        for name, number, fits in [
            ("step_ms", step_ms, 0.0 < step_ms <= 1e6),
            ("start_ms", start_ms, 0.0 <= start_ms <= 1e9),
            ("delta", delta, 0.0 < delta <= 1e3),
            ("history", history, history >= 1),
        ]:
            if not fits:
                raise ValueError(f"{name} is {number}, which is too small or too large")
        self.world = Scenario.load("lte-download.toml") if world is None else world
        self.act, self.reward, self.law = act, reward, law
        self.step_ms, self.start_ms = step_ms, start_ms
        self.delta, self.history, self._which = delta, history, flow
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), numpy.float32)
        self.observation_space = gymnasium.spaces.Box(-1.0, 10.0, (4 * history,), numpy.float32)
        self.session: Optional[Session] = None

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[Vector, dict[str, Any]]:
        """A new episode. ``seed`` decides over the scenario, its randomness and so over everything."""
        super().reset(seed=seed)
        scenario = self._scenario((options or {}).get("world", self.world))
        own = int(self.np_random.integers(1 << 31))
        self.session = session = scenario.session(law=self.law, seed=own)
        session.advance(self.start_ms)
        while not session.flow(self._which).established and not session.is_over:
            session.advance(self.step_ms)
        self._flow, self._link = session.flow(self._which), session.link()
        self._has = self._first()
        self._least_ms = self._flow.last_rtt_ms or 1.0
        self._most_bps = 1.0
        self._seen = numpy.zeros(4 * self.history, numpy.float32)
        return self._seen.copy(), {"now_s": session.now_s}

    def step(self, action: Vector) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Acts, and goes on by ``step_ms``."""
        session = self.session
        if session is None:
            raise RuntimeError("reset() comes first")
        self._do(session, float(action[0]))
        session.advance(self.step_ms)
        flow, link = session.flow(self._which), session.link()
        step = Step(self._flow, flow, self._link, link, self.step_ms / 1e3)
        self._flow, self._link = flow, link
        self._least_ms = min(self._least_ms, step.rtt_ms or self._least_ms)
        self._most_bps = max(self._most_bps, step.goodput_bps)
        self._seen[:-4] = self._seen[4:]
        self._seen[-4:] = self._features(step)
        return self._seen.copy(), self._worth(session, step), False, session.is_over, step.told(session.now_s)

    def _scenario(self, world: World) -> Scenario:
        if isinstance(world, Scenario):
            return world
        if callable(world):
            return world(self.np_random)
        return world[int(self.np_random.integers(len(world)))]

    def _first(self) -> float:
        flow = self._flow
        segment = flow.segment_bytes or 1448
        if self.act == "rate":
            return flow.cwnd_packets * segment * 8.0 / ((flow.srtt_ms or 100.0) / 1e3)
        return float(flow.cwnd_packets * (segment if self.act == "window" else 1))

    def _do(self, session: Session, action: float) -> None:
        if self.act == "none":
            return
        change = self.delta * max(-1.0, min(1.0, action))
        has = self._has * (1.0 + change) if change >= 0.0 else self._has / (1.0 - change)
        self._has = has = min(max(has, _LEAST[self.act]), _MOST[self.act])
        if self.act == "window":
            session.set_window(int(has), self._which)
        elif self.act == "cwnd":
            session.set_sender(cwnd_packets=int(has), flow=self._which)
        else:
            session.set_sender(pacing_bps=has, flow=self._which)

    def _features(self, step: Step) -> list[float]:
        # Arrays of four cost more than all the rest of a step.
        features = (
            step.rtt_rise_ms / (step.seconds * 1e3),
            step.rtt_ms / self._least_ms - 1.0,
            step.sent_bps / max(step.goodput_bps, 1e3) - 1.0,
            step.goodput_bps / self._most_bps,
        )
        return [min(max(feature, -1.0), 10.0) for feature in features]

    def _worth(self, session: Session, step: Step) -> float:
        if self.reward == "pcc":
            lost = step.dropped / step.arrived if step.arrived else 0.0
            return 1e-3 * (10.0 * step.goodput_bps / 12e3 - step.rtt_ms - 2e3 * lost)
        if self.reward == "orca":
            delay = step.rtt_ms if step.rtt_ms > _BETA * self._least_ms else self._least_ms
            power = (step.goodput_bps - _ZETA * step.lost_bps) / max(delay, 1e-3)
            return power / (self._most_bps / self._least_ms)
        could = session.capacity_bps(self.step_ms)
        used = min(step.goodput_bps / could, 1.0) if could > 0.0 else 1.0
        return used - step.queue_delay_ms / 100.0


gymnasium.register(id="tidegate/Link-v0", entry_point="tidegate.gym:LinkEnv")
