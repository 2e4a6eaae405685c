//! Limits on the socket's readers: when all places are taken, the reader that has been silent for longest gives way.
//! Few answers are written at once, because each holds all of the agent's state in memory until it is sent.

use std::io::{self, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Readers at once.
const READERS: usize = 16;
/// Answers at once.
const ANSWERS: usize = 2;
/// A reader that has not taken its answer after this time is cut off.
const TIMEOUT: Duration = Duration::from_secs(5);

/// All readers.
#[derive(Debug, Default)]
pub struct Readers {
    held: Mutex<State>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct State {
    count: u64,
    readers: Vec<Reader>,
    /// Answers that are being written.
    answers: usize,
}

#[derive(Debug)]
struct Reader {
    number: u64,
    /// When it connected or asked last.
    asked: Instant,
    /// Whether an answer to it is being written.
    answered: bool,
    stream: UnixStream,
}

/// A reader's place; free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    readers: Arc<Readers>,
    number: u64,
}

impl Readers {
    /// Takes a place for a new reader. If there is none, the reader that has been silent for longest is cut off.
    ///
    /// # Errors
    /// When no descriptor is left.
    pub fn take(self: &Arc<Self>, stream: &UnixStream) -> io::Result<Place> {
        let stream = stream.try_clone()?;
        let mut held = self.held();
        while held.readers.len() >= READERS {
            let all = held.readers.iter().enumerate();
            let oldest = all.min_by_key(|(_, reader)| (reader.answered, reader.asked));
            let Some((place, _)) = oldest else { break };
            // Shutting down a socket that has already ended is harmless.
            let _ = held.readers.remove(place).stream.shutdown(Shutdown::Both);
            // The reader may be waiting for its turn: wake it.
            self.answered.notify_all();
        }
        held.count += 1;
        let number = held.count;
        held.readers.push(Reader {
            number,
            asked: Instant::now(),
            answered: false,
            stream,
        });
        drop(held);
        let readers = Arc::clone(self);
        Ok(Place { readers, number })
    }

    fn held(&self) -> MutexGuard<'_, State> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has(&self, number: u64) -> bool {
        self.readers.iter().any(|reader| reader.number == number)
    }

    fn note(&mut self, number: u64, answered: bool) {
        let mut readers = self.readers.iter_mut();
        if let Some(reader) = readers.find(|reader| reader.number == number) {
            reader.asked = Instant::now();
            reader.answered = answered;
        }
    }
}

impl Place {
    /// Waits for the turn to be answered; none if the reader has lost its place meanwhile.
    pub fn turn(&self) -> Option<Turn<'_>> {
        let held = self.readers.held();
        let waits = |held: &mut State| held.answers >= ANSWERS && held.has(self.number);
        let waited = self.readers.answered.wait_while(held, waits);
        let mut held = waited.unwrap_or_else(PoisonError::into_inner);
        if !held.has(self.number) {
            return None;
        }
        held.answers += 1;
        held.note(self.number, true);
        Some(Turn(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let number = self.number;
        let mut held = self.readers.held();
        held.readers.retain(|reader| reader.number != number);
    }
}

/// A reader's turn; it passes on when this is dropped.
#[derive(Debug)]
pub struct Turn<'a>(&'a Place);

impl Turn<'_> {
    /// Writes the whole answer, within the time limit.
    ///
    /// # Errors
    /// `TimedOut` if the reader is too slow, or the socket's error.
    pub fn say(&self, mut stream: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
        let until = Instant::now() + TIMEOUT;
        while !bytes.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            stream.set_write_timeout(Some(left.max(Duration::from_millis(1))))?;
            match stream.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut held = self.0.readers.held();
        held.answers -= 1;
        held.note(self.0.number, false);
        self.0.readers.answered.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::thread;

    fn reader(readers: &Arc<Readers>) -> (UnixStream, UnixStream, Place) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs
            .set_read_timeout(Some(Duration::from_millis(20)))
            .unwrap();
        let place = readers.take(&ours).unwrap();
        (ours, theirs, place)
    }

    fn has_ended(mut theirs: &UnixStream) -> bool {
        matches!(theirs.read(&mut [0]), Ok(0))
    }

    #[test]
    fn who_has_not_asked_for_longest_gives_way() {
        let readers = Arc::new(Readers::default());
        let all: Vec<_> = (0..READERS).map(|_| reader(&readers)).collect();
        drop(all[0].2.turn());
        let busy = all[1].2.turn();
        let newcomer = reader(&readers);
        let ended: Vec<_> = all.iter().map(|(_, theirs, _)| has_ended(theirs)).collect();
        let expected: Vec<_> = (0..READERS).map(|n| n == 2).collect();
        assert_eq!(ended, expected);
        assert!(!has_ended(&newcomer.1));
        drop(busy);
        drop((all, newcomer));
        assert!(readers.held().readers.is_empty());
    }

    #[test]
    fn so_many_are_answered_at_a_time() {
        let readers = Arc::new(Readers::default());
        let all: Vec<_> = (0..=ANSWERS).map(|_| reader(&readers)).collect();
        let turns: Vec<_> = all[1..].iter().map(|(_, _, place)| place.turn()).collect();
        thread::scope(|scope| {
            let waits = scope.spawn(|| all[0].2.turn().is_some());
            thread::sleep(Duration::from_millis(100));
            assert!(!waits.is_finished());
            drop(turns);
            assert!(waits.join().unwrap());
        });
    }

    #[test]
    fn who_has_lost_its_place_waits_for_no_turn() {
        let readers = Arc::new(Readers::default());
        let all: Vec<_> = (0..READERS).map(|_| reader(&readers)).collect();
        let turns: Vec<_> = all[1..=ANSWERS].iter().map(|one| one.2.turn()).collect();
        thread::scope(|scope| {
            let waits = scope.spawn(|| all[0].2.turn().is_none());
            thread::sleep(Duration::from_millis(100));
            assert!(!waits.is_finished());
            let newcomer = reader(&readers);
            assert!(waits.join().unwrap());
            drop(newcomer);
        });
        drop(turns);
    }
}
