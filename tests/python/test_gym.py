"""The environments."""

import numpy
import pytest

import tidegate as tg

gymnasium = pytest.importorskip("gymnasium")
gym = pytest.importorskip("tidegate.gym")


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


@pytest.mark.parametrize("wrong", [{"step_ms": 0}, {"step_ms": float("nan")}, {"history": 0}, {"delta": -1}, {"act": "acks"}])
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        gym.LinkEnv(**wrong)
