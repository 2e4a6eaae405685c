//! How each kind is read: a file for each.

mod errant;
mod g_net_track;
mod iperf3;
mod lumos5g;
mod mahimahi;
mod monroe;
mod nuwins;
mod pantheon;
mod pcap;
mod series;

use crate::{Import, Kind, Options, Refused};
use std::io::BufRead;

/// Reads a file of that kind.
pub fn read(kind: Kind, from: impl BufRead + Send, options: &Options) -> Result<Import, Refused> {
    if options.filter.is_some() && kind != Kind::Pcap {
        let message = format!(
            "--filter chooses packets of a capture, and this is of kind {kind}; leave it out"
        );
        return Err(Refused::whole(message));
    }
    match kind {
        Kind::Monroe => monroe::read(from, options),
        Kind::Errant => errant::read(from, options),
        Kind::Lumos5g => lumos5g::read(from, options),
        Kind::Nuwins => nuwins::read(from, options),
        Kind::FiveGDataset => g_net_track::read(from, options),
        Kind::Mahimahi => mahimahi::read(from, options),
        Kind::Pantheon => pantheon::read(from, options),
        Kind::Pcap => pcap::read(from, options),
        Kind::Iperf3 => iperf3::read(from, options),
    }
}
