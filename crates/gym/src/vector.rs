//! Many episodes at once.

use crate::episode::{Episode, Step};
use crate::pool::Pool;
use crate::task::Task;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidegate_sim::Session;

/// A session that other code may look at between two steps; none once it is finished.
pub type Shared = Arc<Mutex<Option<Session>>>;

/// The longest real time of a round, plus one stride of each thread that works.
const ROUND: Duration = Duration::from_millis(10);

/// Episodes in numbered places, which are stepped together. Each gives the same results as alone, on any number of
/// threads.
pub struct Vector {
    places: Arc<[Mutex<Place>]>,
    pool: Pool,
    clock: Arc<Clock>,
}

/// The state of a place.
#[derive(Default)]
struct Place {
    session: Shared,
    episode: Option<Episode>,
    todo: Todo,
    step: Option<Step>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Todo {
    #[default]
    Nothing,
    /// It goes to its start.
    Begin,
    /// It takes a step with this action, which has not begun yet.
    Act(f64),
    /// It goes to the end of a step.
    Step,
}

/// The state of an episode: see [`Vector::read`].
pub struct Observed<'a> {
    /// The observation.
    pub seen: &'a [f32],
    /// The results of the step; none at a start.
    pub step: Option<Step>,
    /// Virtual time in seconds.
    pub now_s: f64,
}

impl Vector {
    /// `count` places without episodes, for `threads` threads, the caller's included.
    pub fn new(count: usize, threads: usize) -> Self {
        let places: Arc<[_]> = (0..count).map(|_| Mutex::<Place>::default()).collect();
        let clock = Arc::new(Clock::new());
        let (own, since) = (Arc::clone(&places), Arc::clone(&clock));
        let work = move |number: usize| {
            let patience = || since.within(ROUND);
            if patience() {
                lock(&own[number]).go_on(&patience);
            }
        };
        Self {
            pool: Pool::new(threads, count, work),
            places,
            clock,
        }
    }

    /// The number of places.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Puts a new episode into a place, over the session's flow with this number; it is at its start when all have
    /// [gone on](Self::go_on).
    pub fn place(&self, number: usize, session: Shared, task: Task, flow: usize) {
        *lock(&self.places[number]) = Place {
            session,
            episode: Some(Episode::new(task, flow)),
            todo: Todo::Begin,
            step: None,
        };
    }

    /// Begins a step in a place, unless an episode is about to start there.
    pub fn act(&self, number: usize, action: f64) {
        let place = &mut *lock(&self.places[number]);
        if place.todo != Todo::Begin {
            place.todo = Todo::Act(action);
        }
    }

    /// Goes on with everything that has begun, for ten milliseconds of real time or a little more. Returns whether all
    /// have reached the end of their start or step.
    pub fn go_on(&mut self) -> bool {
        self.clock.set();
        self.pool.round();
        let mut places = self.places.iter();
        places.all(|place| lock(place).todo == Todo::Nothing)
    }

    /// Calls `take` with the state of the episode in a place; none if there is none, or its session is finished.
    pub fn read<T>(&self, number: usize, take: impl FnOnce(Observed<'_>) -> T) -> Option<T> {
        let place = lock(&self.places[number]);
        let now_s = match place.step {
            Some(step) => step.now_s,
            None => lock(&place.session).as_ref()?.now().as_secs_f64(),
        };
        let episode = place.episode.as_ref()?;
        Some(take(Observed {
            seen: episode.seen(),
            step: place.step,
            now_s,
        }))
    }
}

impl Place {
    fn go_on(&mut self, patience: &impl Fn() -> bool) {
        let Some(episode) = &mut self.episode else {
            self.todo = Todo::Nothing;
            return;
        };
        let mut session = lock(&self.session);
        let Some(session) = session.as_mut() else {
            // Another caller has finished it: there is nothing to see any more.
            self.episode = None;
            self.todo = Todo::Nothing;
            return;
        };
        match self.todo {
            Todo::Nothing => return,
            Todo::Act(action) => {
                episode.act(session, action);
                self.todo = Todo::Step;
            }
            Todo::Begin | Todo::Step => {}
        }
        if episode.go_on(session, patience) {
            self.step = (self.todo == Todo::Step).then(|| episode.observe(session));
            self.todo = Todo::Nothing;
        }
    }
}

/// The beginning of a round, for all threads.
struct Clock {
    origin: Instant,
    began_ns: AtomicU64,
}

impl Clock {
    fn new() -> Self {
        Self {
            origin: Instant::now(),
            began_ns: AtomicU64::new(0),
        }
    }

    fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    fn set(&self) {
        self.began_ns.store(self.now_ns(), Ordering::SeqCst);
    }

    fn within(&self, span: Duration) -> bool {
        let passed = self
            .now_ns()
            .saturating_sub(self.began_ns.load(Ordering::SeqCst));
        u128::from(passed) < span.as_nanos()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
