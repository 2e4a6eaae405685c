"""The environment."""

import numpy
import pytest

import tidegate as tg

gymnasium = pytest.importorskip("gymnasium")
gym = pytest.importorskip("tidegate.gym")

LEAST = {"window": 3_000, "cwnd": 2, "rate": 1e5}
MOST = {"window": 32e6, "cwnd": 50_000, "rate": 1e10}


def total(env, policy, seed=1):
    observation, _ = env.reset(seed=seed)
    sum, over = 0.0, False
    while not over:
        observation, reward, _, over, _ = env.step(policy(observation))
        sum += reward
    return sum


@pytest.mark.parametrize("act", ["window", "cwnd", "rate", "none"])
@pytest.mark.parametrize("reward", ["tide", "pcc", "orca"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_accepts_it(small, act, reward):
    from gymnasium.utils.env_checker import check_env

    check_env(gym.LinkEnv(small, act=act, reward=reward), skip_render_check=True)


def by_hand(session, actions, act, reward, history, step_ms=10.0, delta=0.1):
    """What the page says of actions, observations and rewards, over a session."""
    session.advance(500)
    while not session.flow().established and not session.is_over:
        session.advance(step_ms)
    flow, link = session.flow(), session.link()
    segment = flow.segment_bytes
    has = {
        "window": flow.cwnd_packets * segment,
        "cwnd": flow.cwnd_packets,
        "rate": flow.cwnd_packets * segment * 8.0 / ((flow.srtt_ms or 100.0) / 1e3),
    }.get(act, 0)
    least, most, seen, seconds = flow.min_rtt_ms or 1.0, 1.0, [0.0] * 4 * history, step_ms / 1e3
    for action in actions:
        if act != "none":
            change = delta * max(-1.0, min(1.0, float(action)))
            has = has * (1.0 + change) if change >= 0.0 else has / (1.0 - change)
            has = min(max(has, LEAST[act]), MOST[act])
        if act == "window":
            session.set_window(int(has))
        elif act == "cwnd":
            session.set_sender(cwnd_packets=int(has))
        elif act == "rate":
            session.set_sender(pacing_bps=has)
        session.advance(step_ms)
        before, flow, over, link = flow, session.flow(), link, session.link()
        goodput = (flow.received_bytes - before.received_bytes) * 8.0 / seconds
        sent = (flow.packets_sent - before.packets_sent) * (8.0 * segment) / seconds
        lost = (flow.retransmits - before.retransmits) * (8.0 * segment) / seconds
        rtt, least, most = flow.last_rtt_ms, min(least, flow.min_rtt_ms), max(most, goodput)
        features = [(rtt - before.last_rtt_ms) / step_ms, rtt / least - 1.0, sent / max(goodput, 1e3) - 1.0, goodput / most]
        seen = [*seen[4:], *(min(max(feature, -1.0), 10.0) for feature in features)]
        dropped = link.drops - over.drops
        if reward == "tide":
            worth = min(goodput * (segment + 52.0) / segment / session.capacity_bps(step_ms), 1.0) - link.queue_delay_ms / 100.0
        elif reward == "pcc":
            arrived = link.arrived_packets - over.arrived_packets
            worth = 1e-3 * (10.0 * goodput / 12e3 - rtt - 2e3 * (dropped / arrived if arrived else 0.0))
        else:
            worth = (goodput - 5.0 * lost) / (rtt if rtt > 1.25 * least else least) / (most / least)
        yield numpy.array(seen, numpy.float32), worth, (session.now_s, goodput, sent, lost, rtt, link.queue_delay_ms, dropped)


@pytest.mark.parametrize("act", ["window", "cwnd", "rate", "none"])
@pytest.mark.parametrize("reward", ["tide", "pcc", "orca"])
def test_it_does_what_the_page_says(small, act, reward):
    small["down"].update(loss={"random": 0.003}, queue={"packets": 60})
    env = gym.LinkEnv(small, act=act, reward=reward, history=3, law="tide")
    env.reset(seed=5)
    actions = numpy.random.default_rng(1).uniform(-1.2, 1.3, 400).astype(numpy.float32)
    seed = int(gymnasium.utils.seeding.np_random(5)[0].integers(1 << 31))
    for action, (seen, worth, told) in zip(actions, by_hand(small.session(law="tide", seed=seed), actions, act, reward, 3)):
        observation, reward, terminated, _, info = env.step(numpy.array([action]))
        assert reward == worth and tuple(info.values()) == told and not terminated
        assert numpy.array_equal(observation, seen)


def test_the_same_seed_is_the_same_episode(small):
    small["down"]["loss"] = {"random": 0.001}
    up = lambda _: numpy.array([0.3], numpy.float32)
    rewards = [total(gym.LinkEnv(small), up, seed) for seed in (1, 1, 2)]
    assert rewards[0] == rewards[1] != rewards[2]


def test_keeping_the_queue_short_is_worth_more(small):
    small["down"]["queue"] = {"packets": 2000}
    still = lambda _: numpy.zeros(1, numpy.float32)
    linux, tide = (total(gym.LinkEnv(small, act="none", law=law), still) for law in ("none", "tide"))
    assert tide > linux + 50


def test_it_is_registered_and_draws_worlds(small):
    other = small.copy()
    other["duration_s"] = 2
    env = gymnasium.make("tidegate/Link-v0", world=[small, other], step_ms=100)
    lengths = set()
    for seed in range(10):
        env.reset(seed=seed)
        lengths.add(env.unwrapped.session.duration_s)
    assert lengths == {2.0, 6.0}
    env = gym.LinkEnv(lambda random: tg.Scenario(small, seed=int(random.integers(100))))
    assert env.reset(seed=1)[0].shape == (40,)
    with pytest.raises(ValueError, match="window, cwnd, rate, none"):
        gym.LinkEnv(small, act="windows")


def test_several_at_once(small):
    envs = gymnasium.make_vec("tidegate/Link-v0", num_envs=3, vectorization_mode="sync", world=small, step_ms=100)
    observations, _ = envs.reset(seed=1)
    assert observations.shape == (3, 40)
    assert envs.step(envs.action_space.sample())[1].shape == (3,)


def test_a_flow_that_ends_has_nothing_more(small):
    small["workload"][0]["stop_s"] = 2
    env = gym.LinkEnv(small, step_ms=100)
    env.reset(seed=1)
    over = False
    while not over:
        *_, over, info = env.step(numpy.zeros(1))
        assert min(info.values()) >= 0
    assert info["goodput_bps"] == info["sent_bps"] == 0


@pytest.mark.parametrize("wrong", [{"step_ms": 0}, {"step_ms": float("nan")}, {"history": 0}, {"delta": -1}, {"act": "acks"}])
@pytest.mark.parametrize("kind", ["LinkEnv", "LinkVectorEnv"])
def test_what_makes_no_sense_is_refused(kind, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        getattr(gym, kind)(**wrong)


def test_what_makes_no_sense_is_not_done(small):
    env = gym.LinkEnv(small)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(numpy.zeros(1))
    env.reset(seed=1)
    with pytest.raises(ValueError, match="NaN"):
        env.step(numpy.array([numpy.nan]))
    env.session.finish()
    with pytest.raises(ValueError, match="finished"):
        env.step(numpy.zeros(1))
    with pytest.raises(KeyError, match="download"):
        gym.LinkEnv(small, flow="upload").reset()
