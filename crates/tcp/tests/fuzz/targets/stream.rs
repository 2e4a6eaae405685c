//! Target: bytes arrive in any order and are read at any time; the result is that of the simplest buffer.

use crate::targets::input::{Input, byte, bytes};
use tidegate_tcp::stream::{ReceiveStream, SendStream};

/// Arrivals around the expected offset (offset, length, reading), from a stream that is acknowledged as it is read.
pub fn run(data: &[u8]) {
    let mut input = Input(data);
    let mut incoming = ReceiveStream::default();
    let mut outgoing = SendStream::default();
    // By offset.
    let mut arrived = vec![true];
    let mut read = 1;
    while let Some((ahead, len, reading)) = arrival(&mut input) {
        let offset = (read + ahead).saturating_sub(64).max(1);
        if offset + len > outgoing.end() {
            let more = (offset + len - outgoing.end()) as usize;
            outgoing.write(&bytes(outgoing.end(), more));
        }
        let payload = match offset.checked_sub(outgoing.start()) {
            Some(_) => outgoing.slices(offset, len as usize).concat(),
            // A repetition of acknowledged bytes.
            None => bytes(offset, len as usize),
        };
        incoming.insert(offset, &payload);
        let end = (offset + len) as usize;
        arrived.resize(arrived.len().max(end + 1), false);
        arrived[offset as usize..end].fill(true);
        let gap = arrived[read as usize..].iter().position(|arrived| !arrived);
        let next = read + gap.expect("one after the last") as u64;
        assert_eq!(incoming.next(), next);
        let mut out = vec![0; reading];
        let got = incoming.read(&mut out);
        assert_eq!(got, reading.min((next - read) as usize));
        assert!(
            (read..)
                .zip(&out[..got])
                .all(|(offset, &is)| is == byte(offset))
        );
        read += got as u64;
        assert_eq!(
            (incoming.start(), incoming.readable() as u64),
            (read, next - read)
        );
        outgoing.acknowledge(read);
    }
}

fn arrival(input: &mut Input) -> Option<(u64, u64, usize)> {
    Some((
        u64::from(input.u16()? >> 6),
        input.u8()?.into(),
        input.u8()?.into(),
    ))
}
