"""Many environments, stepped together on threads."""

import _thread
import gc
import os
import threading
import time

import numpy
import pytest

import tidegate as tg

gymnasium = pytest.importorskip("gymnasium")
gym = pytest.importorskip("tidegate.gym")

ACTS = ["window", "cwnd", "rate", "none"]
REWARDS = ["tide", "pcc", "orca"]


@pytest.fixture
def world(small):
    """Episodes of 250 or 150 steps, as is drawn, with losses."""
    small["down"].update(loss={"random": 0.002}, queue={"packets": 80})
    small["warmup_s"], small["duration_s"] = 0, 3
    other = small.copy()
    other["duration_s"] = 2
    return [small, other]


def equal(one, other):
    """Whether they have the same numbers, of the same types, in the same arrays and dictionaries."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if getattr(one, "dtype", None) == object:
        return one.dtype == other.dtype and all(map(equal, one, other))
    if isinstance(one, numpy.ndarray):
        return one.dtype == other.dtype and numpy.array_equal(one, other)
    return type(one) is type(other) and one == other


def played(envs, steps, seed=7):
    """What they show, from the reset on."""
    random = numpy.random.default_rng(3)
    yield envs.reset(seed=seed)
    for _ in range(steps):
        yield envs.step(random.uniform(-1.1, 1.1, envs.action_space.shape).astype(numpy.float32))


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("act, reward", [*((act, "tide") for act in ACTS), *(("rate", reward) for reward in REWARDS)])
def test_each_is_the_environment_alone(world, act, reward, mode):
    settings = dict(act=act, reward=reward, history=3, world=world)
    alone = [lambda: gym.LinkEnv(**settings)] * 3
    sync = gymnasium.vector.SyncVectorEnv(alone, autoreset_mode=mode)
    ours = gym.LinkVectorEnv(3, **settings, autoreset_mode=mode)
    ends = 0
    for number, (theirs, own) in enumerate(zip(played(sync, 500), played(ours, 500))):
        assert equal(theirs, own), number
        ends += int(own[3].sum()) if len(own) == 5 else 0
    assert ends >= 6


@pytest.mark.parametrize("act, reward", list(zip(ACTS, [*REWARDS, "tide"])))
def test_threads_make_no_difference(world, act, reward):
    envs = [gym.LinkVectorEnv(5, world, act=act, reward=reward, threads=threads) for threads in (1, 2, 4)]
    for one, two, four in zip(*(played(env, 300) for env in envs)):
        assert equal(one, two) and equal(one, four)


def test_seeds_are_as_of_vectors(small):
    small["down"]["loss"] = {"random": 0.01}
    ours = gym.LinkVectorEnv(3, small, step_ms=100)

    def shown(**how):
        ours.reset(**how)
        return [ours.step(numpy.zeros((3, 1)))[0] for _ in range(20)][-1]

    one = shown(seed=5)
    assert numpy.array_equal(one, shown(seed=[5, 6, 7])) and numpy.array_equal(one, shown(seed=numpy.int64(5)))
    assert numpy.array_equal(one[1:], shown(seed=6)[:2])
    again = [shown(seed=5), shown(), shown()]
    assert not numpy.array_equal(again[1], again[2])
    assert numpy.array_equal(again[1], [shown(seed=5), shown()][1])
    assert numpy.array_equal(shown(seed=[5, None, 7])[[0, 2]], one[[0, 2]])
    with pytest.raises(ValueError, match="expected one number, or 3"):
        ours.reset(seed=[1, 2])


def test_it_is_registered_and_what_it_says_holds(small):
    envs = gymnasium.make_vec("tidegate/Link-v0", num_envs=16, vectorization_mode="vector_entry_point", world=small)
    assert isinstance(envs.unwrapped, gym.LinkVectorEnv) and envs.num_envs == 16
    assert isinstance(gymnasium.make_vec("tidegate/Link-v0", num_envs=2, world=small).unwrapped, gym.LinkVectorEnv)
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    observations, infos = envs.reset(seed=1)
    assert observations in envs.observation_space and infos["now_s"].shape == (16,)
    kept = observations.copy()
    over = numpy.zeros(16, bool)
    while not over.any():
        before, (now, rewards, terminated, over, infos) = observations, envs.step(envs.action_space.sample())
        assert now in envs.observation_space and now.flags.writeable and now.base is not before.base
        assert rewards.shape == terminated.shape == over.shape == (16,) and not terminated.any()
    assert infos["episode"]["l"].tolist() == [550] * 16
    # What was shown stays as it was.
    assert numpy.array_equal(kept, observations)
    assert envs.unwrapped.sessions[3].now_s == 6
    envs.close()


def test_some_are_reset_and_others_stay(world):
    envs = gym.LinkVectorEnv(4, world[1], step_ms=500, autoreset_mode="Disabled")
    envs.reset(seed=1)
    over = numpy.zeros(4, bool)
    while not over.any():
        observations, _, _, over, _ = envs.step(numpy.zeros((4, 1)))
    with pytest.raises(RuntimeError, match=r"\[0, 1, 2, 3\] are over"):
        envs.step(numpy.zeros((4, 1)))
    mask = numpy.array([True, False, True, False])
    now, infos = envs.reset(options={"reset_mask": mask})
    assert not now[mask].any() and numpy.array_equal(now[~mask], observations[~mask])
    assert infos["now_s"].tolist() == [0.5, 0, 0.5, 0] and infos["_now_s"].tolist() == mask.tolist()
    with pytest.raises(RuntimeError, match=r"\[1, 3\] are over"):
        envs.step(numpy.zeros((4, 1)))
    for wrong in (numpy.zeros(4, bool), numpy.ones(3, bool), numpy.ones(4)):
        with pytest.raises(ValueError, match="reset_mask"):
            envs.reset(options={"reset_mask": wrong})


def test_what_makes_no_sense_is_refused(small):
    for wrong in [{"num_envs": 0}, {"threads": 0}, {"autoreset_mode": "never"}]:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            gym.LinkVectorEnv(**{"num_envs": 2, **wrong})
    envs = gym.LinkVectorEnv(2, small)
    with pytest.raises(RuntimeError, match="reset"):
        envs.step(numpy.zeros((2, 1)))
    with pytest.raises(RuntimeError, match="reset"):
        envs.reset(options={"reset_mask": numpy.array([True, False])})
    envs.reset(seed=1)
    before = envs.sessions[0].now_s
    for actions in (numpy.zeros(2), numpy.zeros((3, 1))):
        with pytest.raises(ValueError, match=r"expected \(2, 1\)"):
            envs.step(actions)
    with pytest.raises(ValueError, match="action 1 is NaN"):
        envs.step(numpy.array([[0], [numpy.nan]]))
    assert envs.sessions[0].now_s == before
    envs.sessions[1].finish()
    with pytest.raises(ValueError, match="finished"):
        envs.step(numpy.zeros((2, 1)))
    envs.reset(seed=1)
    envs.step(numpy.zeros((2, 1)))
    envs.close()
    with pytest.raises(RuntimeError, match="closed"):
        envs.step(numpy.zeros((2, 1)))


def test_an_interrupt_ends_a_long_step_and_others_may_run_meanwhile(small):
    small["duration_s"] = 100_000
    envs = gym.LinkVectorEnv(3, small, step_ms=1e6)
    envs.reset(seed=1)
    told = []

    def interrupt():
        time.sleep(0.3)
        try:
            envs.step(numpy.zeros((3, 1)))
        except RuntimeError as error:
            told.append(str(error))
        told.append(time.monotonic())
        _thread.interrupt_main()

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        envs.step(numpy.zeros((3, 1)))
    ended = time.monotonic()
    other.join()
    assert "another thread" in told[0]
    assert ended - told[1] < 2
    assert 0 < envs.sessions[0].now_s < 1000


def helpers(count):
    """How many threads help with steps, as soon as that many do, or after ten seconds."""
    began = time.monotonic()
    while True:
        names = [name(task) for task in os.listdir("/proc/self/task")]
        if names.count("tidegate") == count or time.monotonic() - began > 10:
            return names.count("tidegate")
        time.sleep(0.01)


def name(task):
    try:
        with open(f"/proc/self/task/{task}/comm") as file:
            return file.read().strip()
    except OSError:
        return None


def test_threads_end_with_it(small):
    # Those of environments before end when they come to it.
    gc.collect()
    assert helpers(0) == 0
    envs = gym.LinkVectorEnv(4, small, threads=4)
    envs.reset(seed=1)
    assert helpers(3) == 3
    envs.close()
    assert helpers(0) == 0


def test_a_copy_of_the_process_goes_on_alone(small):
    envs = gym.LinkVectorEnv(4, small, threads=3)
    first = [played for _, played in zip(range(20), played(envs, 20))][-1]
    if (child := os.fork()) == 0:
        again = [played for _, played in zip(range(20), played(envs, 20))][-1]
        os._exit(0 if equal(first, again) else 1)
    assert os.waitpid(child, 0)[1] == 0
