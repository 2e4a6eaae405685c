//! Objects fetched one after another, each on a new connection.
//!
//! The request names a size and a seed; the answer has that many bytes of that [`Pattern`].

use super::flow::{Fetch, FetchLog};
use super::pattern::Pattern;
use super::{Applications, TaskContext};
use crate::term::Term;
use crate::transport::{Arrival, Listener, Stream};
use anyhow::{Result, bail};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tidegate_scenario::{Side, Workload};

const BUFFER: usize = 64 << 10;

/// Adds the two ends of a web workload.
pub fn add(
    applications: &mut Applications,
    workload: &Workload,
    context: &TaskContext,
    object_bytes: &[u64],
    pause_s: f64,
) -> Result<()> {
    let (listener, server) = context.server.listen(context.server_address)?;
    applications.add_task(workload, context, Side::Server, move |_, term| {
        serve(&listener, term)
    });
    let log = Arc::new(FetchLog::new(workload.name.clone()));
    applications.fetches.push(log.clone());
    let sizes = object_bytes.to_vec();
    let pause = Duration::from_secs_f64(pause_s);
    applications.add_task(workload, context, Side::Client, move |context, term| {
        for (bytes, seed) in sizes.iter().copied().cycle().zip(0..) {
            let request = Request { bytes, seed };
            let began = term.clock.now();
            if !request.fetch(server, context, term)? {
                break;
            }
            let ended = term.clock.now();
            log.push(Fetch {
                bytes,
                began,
                took: ended - began,
            });
            if !term.sleep_until(ended + pause) {
                break;
            }
        }
        Ok(())
    });
    Ok(())
}

/// A client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    bytes: u64,
    seed: u64,
}

impl Request {
    const LENGTH: usize = 16;

    fn encode(self) -> [u8; Self::LENGTH] {
        (u128::from(self.bytes) << 64 | u128::from(self.seed)).to_be_bytes()
    }

    fn decode(bytes: [u8; Self::LENGTH]) -> Self {
        let both = u128::from_be_bytes(bytes);
        Self {
            bytes: (both >> 64) as u64,
            seed: both as u64,
        }
    }

    /// Fetches the object from `server`. Returns whether it arrived before the term was over.
    fn fetch(self, server: SocketAddr, context: &TaskContext, term: &Term) -> Result<bool> {
        let Some(stream) = context.client.connect(server, term)? else {
            return Ok(false);
        };
        let came =
            stream.send_whole(&self.encode(), term)? && self.receive_object(&stream, term)?;
        if !came {
            stream.abort(term)?;
        }
        Ok(came)
    }

    fn receive_object(self, stream: &Stream, term: &Term) -> Result<bool> {
        let pattern = Pattern::new(self.seed);
        let mut buffer = vec![0; BUFFER];
        let mut position = 0;
        loop {
            match stream.receive(&mut buffer, term)? {
                Arrival::Bytes(n) => {
                    pattern.check(&buffer[..n], position)?;
                    position += n as u64;
                }
                Arrival::End if position == self.bytes => return Ok(true),
                Arrival::End => bail!(
                    "an object of {} bytes ended after {position}: it is not intact",
                    self.bytes
                ),
                Arrival::Over => return Ok(false),
            }
        }
    }

    fn send_object(self, stream: &Stream, term: &Term) -> Result<bool> {
        let pattern = Pattern::new(self.seed);
        let mut buffer = vec![0; BUFFER];
        let mut position = 0;
        while position < self.bytes {
            let data = &mut buffer[..(self.bytes - position).min(BUFFER as u64) as usize];
            pattern.fill(data, position);
            if !stream.send_whole(data, term)? {
                return Ok(false);
            }
            position += data.len() as u64;
        }
        stream.finish(term)?;
        Ok(true)
    }
}

/// Answers one request after another until the term is over.
fn serve(listener: &Listener, term: &Term) -> Result<()> {
    while let Some(stream) = listener.accept(term)? {
        let answered = match receive_request(&stream, term)? {
            Some(request) => request.send_object(&stream, term)?,
            None => false,
        };
        if !answered {
            stream.abort(term)?;
        }
    }
    Ok(())
}

fn receive_request(stream: &Stream, term: &Term) -> Result<Option<Request>> {
    let mut bytes = [0; Request::LENGTH];
    let mut length = 0;
    while length < bytes.len() {
        match stream.receive(&mut bytes[length..], term)? {
            Arrival::Bytes(n) => length += n,
            // The client's term ended in mid-request.
            Arrival::End | Arrival::Over => return Ok(None),
        }
    }
    Ok(Some(Request::decode(bytes)))
}
