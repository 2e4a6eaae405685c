//! Round trips beside the load: ICMP's echo, or, where nobody answers that, TCP's handshake.

mod echo;
mod handshake;

use anyhow::{Context, Result};
use echo::Echoes;
use handshake::Handshakes;
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two questions.
pub const EVERY: Duration = Duration::from_millis(100);

/// What has not been answered by then will not be.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How a place is asked.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// ICMP's echo.
    Echo,
    /// TCP's handshake, or its refusal.
    Handshake,
}

/// Who is asked: the port is for handshakes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Where.
    pub address: SocketAddr,
    /// How.
    pub by: By,
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// When it was asked.
    pub asked: Instant,
    /// When it was answered, if it was.
    pub answered: Option<Instant>,
}

impl Question {
    /// The round trip in ms.
    pub fn ms(&self) -> Option<f64> {
        let trip = self.answered? - self.asked;
        Some(trip.as_secs_f64() * 1e3)
    }
}

/// All questions so far, by their number.
type Questions = Arc<Mutex<Vec<Question>>>;

/// Asks again and again until dropped.
pub struct Pinger {
    questions: Questions,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pinger {
    /// Asks that place by that interface.
    ///
    /// # Errors
    /// Without CAP_NET_RAW.
    pub fn start(place: Place, interface: &str) -> Result<Self> {
        let questions = Questions::default();
        let over = Arc::new(AtomicBool::new(false));
        let (asks, ends) = (Arc::clone(&questions), Arc::clone(&over));
        let thread = match place.by {
            By::Echo => {
                let echoes = Echoes::open(place.address.ip(), interface);
                let mut echoes = echoes.context("open a socket for echoes")?;
                thread::spawn(move || ask(&asks, &ends, |wait| echoes.step(&asks, wait)))
            }
            By::Handshake => {
                let handshakes = Handshakes::of(place.address, interface);
                thread::spawn(move || ask(&asks, &ends, |wait| handshakes.step(&asks, wait)))
            }
        };
        Ok(Self {
            questions,
            over,
            thread: Some(thread),
        })
    }

    /// What was asked from then until then.
    pub fn between(&self, from: Instant, to: Instant) -> Vec<Question> {
        let questions = locked(&self.questions);
        let asked = questions.iter().filter(|q| (from..to).contains(&q.asked));
        asked.copied().collect()
    }
}

impl Drop for Pinger {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What a step is to do: ask the question of that number, and wait for answers until then.
struct Step {
    asks: Option<usize>,
    until: Instant,
}

fn ask(questions: &Questions, over: &AtomicBool, mut step: impl FnMut(Step)) {
    let mut next = Instant::now();
    while !over.load(Ordering::Relaxed) {
        let now = Instant::now();
        let mut asks = None;
        if now >= next {
            let mut questions = locked(questions);
            asks = Some(questions.len());
            questions.push(Question {
                asked: now,
                answered: None,
            });
            // What could not be asked in time is not asked at all.
            next = (next + EVERY).max(now);
        }
        step(Step { asks, until: next });
    }
}

/// The first answer to that question counts.
fn note(questions: &Questions, number: usize) {
    let now = Instant::now();
    if let Some(question) = locked(questions).get_mut(number)
        && now - question.asked < TIMEOUT
    {
        question.answered.get_or_insert(now);
    }
}

fn locked(questions: &Questions) -> MutexGuard<'_, Vec<Question>> {
    questions.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first way by which the place answers within two seconds.
///
/// # Errors
/// If a socket cannot be had.
pub fn find_way(address: SocketAddr, interface: &str) -> Result<Option<Place>> {
    for by in [By::Echo, By::Handshake] {
        let place = Place { address, by };
        let began = Instant::now();
        let pinger = Pinger::start(place, interface)?;
        while began.elapsed() < Duration::from_secs(2) {
            thread::sleep(EVERY / 2);
            let asked = pinger.between(began, Instant::now());
            if asked.iter().filter(|q| q.answered.is_some()).count() >= 3 {
                return Ok(Some(place));
            }
        }
    }
    Ok(None)
}

/// Whether that is an address of IPv4.
fn is_v4(address: IpAddr) -> bool {
    address.to_canonical().is_ipv4()
}
