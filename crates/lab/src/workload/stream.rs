//! One long connection with data in one direction: bulk, chunks, constant rate, a slow reader.

use super::flow::{Fetch, FetchLog, Flow};
use super::pattern::Pattern;
use super::{Applications, TaskContext};
use crate::term::Term;
use crate::transport::{Arrival, Stream};
use anyhow::{Context, Error, Result, anyhow, bail};
use std::sync::{Arc, OnceLock};
use tidegate_link::Instant;
use tidegate_scenario::{Direction, ReadRate, Schedule, Side, SlowReader, Workload, WorkloadKind};

/// Bytes written or read at once.
const BUFFER: usize = 128 << 10;

/// What both ends of a connection know.
struct Plan {
    flow: Arc<Flow>,
    schedule: Schedule,
    pattern: Pattern,
    /// How fast the receiver reads; none: as fast as it can.
    reads: Option<ReadRate>,
    /// When the source began to run.
    source_start: OnceLock<Instant>,
    /// The log of the chunks' arrivals, if there are chunks.
    chunks: Option<Arc<FetchLog>>,
}

/// Adds the workload's connections, each with a task at either end.
pub fn add(
    applications: &mut Applications,
    workload: &Workload,
    context: &TaskContext,
    does: &WorkloadKind,
) -> Result<()> {
    let (schedule, direction, flows) = Schedule::of(does)
        .with_context(|| format!("the laboratory has no workload of this kind: {does:?}"))?;
    for n in 1..=flows {
        let name = match flows {
            1 => workload.name.clone(),
            _ => format!("{}#{n}", workload.name),
        };
        let flow = Arc::new(Flow::new(name, direction));
        applications.flows.push(flow.clone());
        let chunks = schedule.chunk_bytes().map(|_| {
            let log = Arc::new(FetchLog::new(flow.name.clone()));
            applications.fetches.push(log.clone());
            log
        });
        let plan = Arc::new(Plan {
            pattern: Pattern::new(applications.flows.len() as u64),
            flow,
            schedule,
            reads: match does {
                WorkloadKind::Reader { reads, .. } => Some(reads.clone()),
                _ => None,
            },
            source_start: OnceLock::new(),
            chunks,
        });
        add_ends(applications, workload, context, &plan)?;
    }
    Ok(())
}

fn add_ends(
    applications: &mut Applications,
    workload: &Workload,
    context: &TaskContext,
    plan: &Arc<Plan>,
) -> Result<()> {
    let (listener, server) = context.server.listen(context.server_address)?;
    let at_server = plan.clone();
    applications.add_task(
        workload,
        context,
        Side::Server,
        move |_, term| match listener.accept(term)? {
            Some(stream) => at_server.play(Side::Server, stream, term),
            None => Ok(()),
        },
    );
    let at_client = plan.clone();
    applications.add_task(workload, context, Side::Client, move |context, term| {
        let _ = at_client.flow.began.set(term.clock.now());
        match context.client.connect(server, term)? {
            Some(stream) => {
                let _ = at_client.flow.ends.set((stream.local_port()?, server));
                at_client.play(Side::Client, stream, term)
            }
            None => Ok(()),
        }
    });
    Ok(())
}

impl Plan {
    /// Sends or receives, depending on `side`.
    fn play(&self, side: Side, stream: Stream, term: &Term) -> Result<()> {
        let stream = Arc::new(stream);
        let sends = matches!(
            (side, self.flow.direction),
            (Side::Server, Direction::Down) | (Side::Client, Direction::Up)
        );
        let finished = if sends {
            self.flow.set_sender(&stream);
            self.send(&stream, term)
        } else {
            self.flow.set_receiver(&stream);
            self.receive(&stream, term)
        }
        .with_context(|| format!("flow \"{}\"", self.flow.name))?;
        if sends {
            self.flow.sender_info();
        }
        if !finished {
            let _ = self.flow.over.set(term.clock.now());
            stream.abort(term)?;
        }
        Ok(())
    }

    /// Sends data as they become due. Returns whether everything was sent and accepted.
    fn send(&self, stream: &Stream, term: &Term) -> Result<bool> {
        let start = *self.source_start.get_or_init(|| term.clock.now());
        let mut buffer = vec![0; BUFFER];
        let mut sent = 0;
        while self.schedule.total_bytes() != Some(sent) {
            let owed = self.schedule.owed_bytes(term.clock.now() - start) - sent;
            if owed == 0 {
                if !term.sleep_until(start + self.schedule.next_due(sent)) {
                    return Ok(false);
                }
                continue;
            }
            let data = &mut buffer[..owed.min(BUFFER as u64) as usize];
            self.pattern.fill(data, sent);
            if !stream.send_whole(data, term)? {
                return Ok(false);
            }
            sent += data.len() as u64;
        }
        stream.finish(term)?;
        match stream.receive(&mut buffer, term)? {
            Arrival::Bytes(_) => bail!("the receiver sent data"),
            Arrival::End => Ok(true),
            Arrival::Over => Ok(false),
        }
    }

    /// Receives and checks everything. Returns whether the end was reached.
    fn receive(&self, stream: &Stream, term: &Term) -> Result<bool> {
        if let Some(reads) = &self.reads {
            self.receive_slowly(stream, reads, term)?;
            return Ok(false);
        }
        let mut buffer = vec![0; BUFFER];
        loop {
            match stream.receive(&mut buffer, term)? {
                Arrival::Bytes(n) => self.take(&buffer[..n], term)?,
                Arrival::End if Some(self.flow.received()) == self.schedule.total_bytes() => {
                    let _ = self.flow.completed.set(term.clock.now());
                    return Ok(true);
                }
                Arrival::End => return Err(self.ended_early()),
                Arrival::Over => return Ok(false),
            }
        }
    }

    /// Receives and checks as fast as the application reads, until the term is over.
    fn receive_slowly(&self, stream: &Stream, reads: &ReadRate, term: &Term) -> Result<()> {
        let mut buffer = vec![0; BUFFER];
        let mut reader = SlowReader::new(reads.clone());
        let since = term.clock.now();
        while term.sleep_until(term.clock.now() + ReadRate::TICK) {
            let mut wanted = reader.wants(term.clock.now() - since);
            while wanted > 0 {
                let most = wanted.min(BUFFER as u64) as usize;
                match stream.receive_at_once(&mut buffer[..most], term)? {
                    Arrival::Bytes(0) | Arrival::Over => break,
                    Arrival::Bytes(n) => self.take(&buffer[..n], term)?,
                    Arrival::End => return Err(self.ended_early()),
                }
                wanted -= most as u64;
            }
        }
        Ok(())
    }

    fn ended_early(&self) -> Error {
        let position = self.flow.received();
        anyhow!("the stream ended after {position} bytes, too early")
    }

    /// Checks and counts arrived data.
    fn take(&self, data: &[u8], term: &Term) -> Result<()> {
        let from = self.flow.received();
        self.pattern.check(data, from)?;
        let to = self.flow.add_received(data.len() as u64);
        self.note_chunks(from, to, term.clock.now());
        Ok(())
    }

    /// Notes every chunk whose last byte is among those that have just arrived.
    fn note_chunks(&self, from: u64, to: u64, now: Instant) {
        let (Some(log), Some(bytes)) = (&self.chunks, self.schedule.chunk_bytes()) else {
            return;
        };
        let Some(&start) = self.source_start.get() else {
            return;
        };
        for chunk in from / bytes..to / bytes {
            let began = start + self.schedule.next_due(chunk * bytes);
            log.push(Fetch {
                bytes,
                began,
                took: now - began,
            });
        }
    }
}
