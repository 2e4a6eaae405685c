//! Captures: classic pcap with microseconds or nanoseconds, in either order of bytes, and pcapng. Packets of one direction
//! by their times: those of the busiest flow, or those that a filter lets through.

mod capture;
mod packet;

use super::series::{no_session, only_down};
use crate::packets::{Found, in_order};
use crate::{Filter, Form, Import, Kind, Options, Place, Recorded, Refused};
use packet::{Flow, Seen};
use std::collections::HashMap;
use std::io::Read;

const KIND: Kind = Kind::Pcap;

/// Largest packet on the wire, in bytes from the IP header on; the capturing machine merged larger ones.
const LARGEST: u64 = 9000;

/// A packet's number, from 1, and the byte at which its record begins.
type Position = (u64, u64);

/// The packets of a capture, flow by flow.
#[derive(Default)]
struct Flows {
    packets: HashMap<Flow, Vec<Found<Position>>>,
    /// Packets that are not IP.
    others: u64,
}

pub fn read(from: impl Read + Send, options: &Options) -> Result<Import, Refused> {
    only_down(KIND, options)?;
    no_session(KIND, options)?;
    let mut flows = Flows::default();
    capture::packets(from, |at_ns, position, seen| match seen {
        Some(Seen { flow, bytes }) => {
            let place = position;
            let found = Found {
                at_ns,
                bytes,
                place,
            };
            flows.packets.entry(flow).or_default().push(found);
        }
        None => flows.others += 1,
    })?;
    if flows.packets.is_empty() {
        return Err(Refused::whole(format!(
            "no IP packet among {} records, expected some; was the right interface captured?",
            flows.others
        )));
    }
    let (found, whose) = match &options.filter {
        Some(filter) => filtered(flows, filter)?,
        None => busiest(flows),
    };
    let large = found.iter().filter(|packet| packet.bytes > LARGEST).count();
    let (packets, late) = in_order(found, refused)?;
    let mut notes = vec![whose];
    if late > 0 {
        notes.push(format!(
            "packets that were not in order of time and are sorted: {late}"
        ));
    }
    if large > 0 {
        notes.push(format!(
            "packets of more than {LARGEST} bytes: {large}; the machine put segments together before it captured them, \
             and their bytes seem to come at once; capture with offloads off (ethtool -K IF gro off lro off tso off)"
        ));
    }
    Ok(Import {
        kind: KIND,
        recorded: Recorded::Packets(packets),
        form: Form::Mahimahi,
        is: "bytes from the IP header on, by the times of packets: what was sent over the link, which may not have filled it; \
             no capacity, no round trip"
            .into(),
        notes,
    })
}

fn refused((number, byte): Position, message: String) -> Refused {
    Refused::at(Place::Packet(number, byte), message)
}

/// Packets of all flows that the filter lets through, in the order of the file.
fn filtered(flows: Flows, filter: &Filter) -> Result<(Vec<Found<Position>>, String), Refused> {
    let count = flows.packets.len();
    let fit = flows.packets.into_iter();
    let fit: Vec<_> = fit.filter(|(flow, _)| flow.fits(filter)).collect();
    if fit.is_empty() {
        return Err(Refused::whole(format!(
            "no packet fits --filter, expected some; it has {count} flows, which tcpdump -nr shows"
        )));
    }
    let whose = format!("{} of {count} flows fit the filter", fit.len());
    let mut found: Vec<_> = fit.into_iter().flat_map(|(_, found)| found).collect();
    found.sort_by_key(|packet| packet.place);
    Ok((found, whose))
}

/// The flow with the most bytes; of equals the one that came first.
fn busiest(flows: Flows) -> (Vec<Found<Position>>, String) {
    let count = flows.packets.len();
    let bytes = |found: &[Found<Position>]| found.iter().map(|p| p.bytes).sum::<u64>();
    let key = |(_, found): &(Flow, Vec<Found<Position>>)| {
        let first = found.first().map(|packet| packet.place);
        (bytes(found), std::cmp::Reverse(first))
    };
    let (flow, found) = flows
        .packets
        .into_iter()
        .max_by_key(key)
        .expect("at least one");
    let whose = format!("{flow}, the busiest of {count} flows; choose others with --filter");
    (found, whose)
}
