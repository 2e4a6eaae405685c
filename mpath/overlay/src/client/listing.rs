//! An entry in the registry, kept up to date in the background.

use super::repeating::{Repeating, Task};
use super::{Error, Family};
use crate::api::Listed;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often an entry is renewed before it would expire.
const RENEWALS: u32 = 3;

/// An entry in the registry, kept until this value is dropped, whatever the registry does meanwhile; then it is
/// removed, if the registry answers quickly.
#[derive(Debug)]
pub struct Listing {
    shared: Arc<Shared>,
    _repeating: Repeating,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Debug, Default)]
struct State {
    /// As last listed, also while no registry answers.
    addresses: Vec<SocketAddr>,
    /// The error of the last attempt.
    error: Option<Error>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks for the entry, or (true) for its removal.
pub(super) trait Registration: Send + 'static {
    fn request(&self, family: Family, leaving: bool) -> Result<Listed, Error>;
}

impl Listing {
    pub(super) fn start(
        name: &str,
        families: Vec<Family>,
        registration: impl Registration,
    ) -> Self {
        let shared = Arc::<Shared>::default();
        let renewal = Renewal {
            families,
            registration,
            listed: Vec::new(),
            shared: Arc::clone(&shared),
        };
        let _repeating = Repeating::start(name, renewal);
        Self { shared, _repeating }
    }

    /// The addresses under which it is listed, one of each family at most.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.shared.state().addresses.clone()
    }

    /// The error of the last attempt, if it failed.
    pub fn error(&self) -> Option<Error> {
        self.shared.state().error.clone()
    }

    /// Waits for the registry's first answer, at most for `within`.
    ///
    /// # Errors
    /// If it refuses, or does not answer. The client goes on asking all the same.
    pub fn wait(&self, within: Duration) -> Result<Vec<SocketAddr>, Error> {
        let undecided = |state: &mut State| {
            state.addresses.is_empty() && !state.error.as_ref().is_some_and(Error::is_final)
        };
        let state = self.shared.state();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, within, undecided);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match (&state.addresses[..], &state.error) {
            ([], Some(error)) => Err(error.clone()),
            ([], None) => Err(Error::Unreachable {
                url: "given".into(),
                reason: format!("no answer within {} s", within.as_secs()),
            }),
            (addresses, _) => Ok(addresses.to_vec()),
        }
    }
}

struct Renewal<Q> {
    families: Vec<Family>,
    registration: Q,
    /// The families for which the last round was successful.
    listed: Vec<Family>,
    shared: Arc<Shared>,
}

impl<Q: Registration> Task for Renewal<Q> {
    /// Success for one family is enough.
    fn perform(&mut self) -> Option<Duration> {
        let mut addresses = Vec::new();
        let mut error: Option<Error> = None;
        let mut seconds = u64::MAX;
        self.listed.clear();
        for &family in &self.families {
            match self.registration.request(family, false) {
                Ok(listed) => {
                    seconds = seconds.min(listed.seconds);
                    addresses.push(listed.address);
                    self.listed.push(family);
                }
                Err(new) => {
                    error = Some(match error {
                        None => new,
                        Some(old) => old.or(new),
                    });
                }
            }
        }
        let successful = !addresses.is_empty();
        let mut state = self.shared.state();
        if successful {
            state.addresses = addresses;
            state.error = None;
        } else {
            state.error = error;
        }
        self.shared.changed.notify_all();
        // Bounded, so that a wrong answer makes this thread neither spin nor sleep for ever.
        successful.then(|| Duration::from_secs(seconds.clamp(1, 3600)) / RENEWALS)
    }

    fn end(&mut self) {
        for &family in &self.listed {
            // An entry that is not taken off expires soon by itself.
            let _ = self.registration.request(family, true);
        }
    }
}
