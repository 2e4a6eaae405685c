//! Measures round trips beside the load: by ICMP echo, or, if the host does not answer it, by TCP handshake.

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

/// Time between two probes.
pub const EVERY: Duration = Duration::from_millis(100);

/// A probe without an answer after this time is lost.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How round trips are measured.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// By ICMP echo.
    Echo,
    /// By TCP handshake, which a refusal ends as well.
    Handshake,
}

/// The host that we probe.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its address; the port is for handshakes.
    pub address: SocketAddr,
    /// The method.
    pub by: By,
}

/// A probe.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// When it was sent.
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

/// All probes so far, by their number.
type Questions = Arc<Mutex<Vec<Question>>>;

/// Sends probes until it is dropped.
pub struct Pinger {
    questions: Questions,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pinger {
    /// Probes that place through that interface.
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

    /// Probes that were sent in that time.
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

/// What to do in a step: send the probe of that number, if any, and wait for answers until then.
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
            // If we are late, we skip the missed probes.
            next = (next + EVERY).max(now);
        }
        step(Step { asks, until: next });
    }
}

/// Notes the first answer to a probe; later ones do not count.
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

/// The first method that the address answers within two seconds.
///
/// # Errors
/// If a socket cannot be opened.
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

/// Whether it is an IPv4 address.
fn is_v4(address: IpAddr) -> bool {
    address.to_canonical().is_ipv4()
}
