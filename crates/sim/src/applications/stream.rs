//! One long connection with data in one direction: bulk, chunks, constant rate, a slow reader.

use super::{Application, Context, Fetches, Flow};
use crate::hosts::Hosts;
use std::time::Duration;
use tidegate_basics::time::{Instant, earlier};
use tidegate_measure::Window;
use tidegate_scenario::{ReadRate, RunResult, Schedule, Side, SlowReader, WorkloadKind};
use tidegate_tcp::Connection;

/// How long a kernel takes to run a process that waits for data, on an idle but awake processor; of 20, 35 and 50 µs
/// the value with which `tidegate validate` agrees best. Data that a cell's burst brings meanwhile are acknowledged
/// once the process has read them (`tcp_cleanup_rbuf`), not after every second segment.
const WAKE_UP: Duration = Duration::from_micros(20);

/// A source and a sink.
struct Stream {
    flow: Flow,
    schedule: Schedule,
    /// Bytes written so far, and since when.
    written: u64,
    source_start: Option<Instant>,
    sink: Sink,
    /// The arrivals of chunks, if there are chunks.
    chunks: Option<Fetches>,
}

/// How the receiving application reads.
enum Sink {
    /// Reads everything that has arrived, as soon as it is awake.
    Prompt { wakes: Option<Instant> },
    /// At a rate of its own.
    Slow(Reading),
}

/// Reads at intervals what its rate allows since the connection opened.
struct Reading {
    reader: SlowReader,
    since: Option<Instant>,
    /// When it reads next.
    next: Option<Instant>,
}

/// The applications of a workload that is a stream.
pub fn applications(name: &str, does: &WorkloadKind, window: Window) -> Vec<Box<dyn Application>> {
    let Some((schedule, direction, flows)) = Schedule::of(does) else {
        return Vec::new();
    };
    let application = |n| -> Box<dyn Application> {
        let name = match flows {
            1 => name.to_owned(),
            _ => format!("{name}#{n}"),
        };
        let chunks = schedule
            .chunk_bytes()
            .map(|_| Fetches::new(name.clone(), window));
        Box::new(Stream {
            flow: Flow::new(name, direction, window),
            schedule,
            written: 0,
            source_start: None,
            sink: match does {
                WorkloadKind::Reader { reads, .. } => Sink::Slow(Reading {
                    reader: SlowReader::new(reads.clone()),
                    since: None,
                    next: None,
                }),
                _ => Sink::Prompt { wakes: None },
            },
            chunks,
        })
    };
    (1..=flows).map(application).collect()
}

impl Application for Stream {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        let now = context.now();
        let Some(connection) = self.flow.connection else {
            self.flow.began = Some(now);
            self.flow.connection = Some(context.open(0));
            return None;
        };
        let sender = self.flow.sender();
        let write = match self.sink {
            Sink::Prompt { .. } => context.with(connection, sender, |end| self.write(now, end)),
            // It wakes up every millisecond; its sender writes whenever there is room.
            Sink::Slow(_) => None,
        };
        let read = context.with(connection, sender.opposite(), |end| self.read(now, end));
        earlier(write.flatten(), read.flatten())
    }

    fn progress(
        &mut self,
        now: Instant,
        _tag: u32,
        side: Side,
        end: &mut Connection,
    ) -> Option<Instant> {
        if side == self.flow.sender() {
            self.write(now, end)
        } else {
            self.read(now, end)
        }
    }

    fn stop(&mut self, context: &mut Context) {
        self.flow.stop(context);
    }

    fn flow(&mut self) -> Option<&mut Flow> {
        Some(&mut self.flow)
    }

    fn report(&mut self, hosts: &Hosts, end: Instant, result: &mut RunResult) {
        self.flow.report(hosts, end, result);
        result
            .fetches
            .extend(self.chunks.iter().flat_map(Fetches::results));
    }
}

impl Stream {
    /// Writes the bytes owed. Returns when there will be more, if that depends on time alone.
    fn write(&mut self, now: Instant, end: &mut Connection) -> Option<Instant> {
        if !end.is_established() || self.schedule.total_bytes() == Some(self.written) {
            return None;
        }
        let start = *self.source_start.get_or_insert(now);
        let owed = self.schedule.owed_bytes(now - start) - self.written;
        let taken = end.write(owed);
        self.written += taken;
        if self.schedule.total_bytes() == Some(self.written) {
            end.close();
            return None;
        }
        // Rounding can name this very instant for a byte that is not due yet.
        const NEXT: Duration = Duration::from_micros(1);
        let due = start + self.schedule.next_due(self.written);
        (taken == owed).then(|| due.max(now + NEXT))
    }

    /// Reads what the application wants. Returns when it wants more, if that depends on time alone.
    fn read(&mut self, now: Instant, end: &mut Connection) -> Option<Instant> {
        match &mut self.sink {
            Sink::Prompt { wakes } => {
                if end.readable() == 0 && (!end.at_end() || self.flow.completed.is_some()) {
                    return None;
                }
                let at = *wakes.get_or_insert(now + WAKE_UP);
                // On a textbook's host no process has to wake.
                if now < at && !end.receiver().is_textbook() {
                    return Some(at);
                }
                *wakes = None;
                self.take(now, end, u64::MAX);
                None
            }
            Sink::Slow(reading) => {
                if !end.is_established() {
                    return None;
                }
                let wanted = reading.wants(now);
                let next = reading.next;
                if wanted > 0 {
                    self.take(now, end, wanted);
                }
                next
            }
        }
    }

    fn take(&mut self, now: Instant, end: &mut Connection, most: u64) {
        let from = self.flow.received;
        self.flow.received += end.read(now, most);
        self.note_chunks(from, now);
        if end.at_end() && self.flow.completed.is_none() {
            self.flow.completed = Some(now);
            end.close();
        }
    }

    /// Records every chunk whose last byte came after the first `from` bytes.
    fn note_chunks(&mut self, from: u64, now: Instant) {
        let (Some(log), Some(start)) = (&mut self.chunks, self.source_start) else {
            return;
        };
        let Some(bytes) = self.schedule.chunk_bytes() else {
            return;
        };
        for chunk in from / bytes..self.flow.received / bytes {
            log.push(bytes, start + self.schedule.next_due(chunk * bytes), now);
        }
    }
}

impl Reading {
    /// Bytes that it wants at `now`: none before its next read is due.
    fn wants(&mut self, now: Instant) -> u64 {
        let start = *self.since.get_or_insert(now);
        if now < *self.next.get_or_insert(now + ReadRate::TICK) {
            return 0;
        }
        self.next = Some(now + ReadRate::TICK);
        self.reader.wants(now - start)
    }
}
