//! Packets that we write are read again, by us and by `etherparse`.

use etherparse::{SlicedPacket, TcpOptionReadError, TransportSlice};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::net::{IpAddr, SocketAddr};
use tidegate_tcp::wire::{self, Addresses};
use tidegate_tcp::{Ecn, Flags, ReadReport, SackBlocks, Segment, Seq, SynOptions, Timestamps};

fn addresses() -> impl Strategy<Value = Addresses> {
    let v4 = any::<[[u8; 4]; 2]>().prop_map(|ends| ends.map(IpAddr::from));
    let v6 = any::<[[u8; 16]; 2]>().prop_map(|ends| ends.map(IpAddr::from));
    (prop_oneof![v4, v6], any::<[u16; 2]>()).prop_map(|(ips, ports)| {
        let [source, destination] = [0, 1].map(|end| SocketAddr::new(ips[end], ports[end]));
        Addresses::new(source, destination).unwrap()
    })
}

prop_compose! {
    fn sack(most: usize)(blocks in vec(any::<(u32, u32)>(), 0..=most)) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for (left, right) in blocks {
            sack.push(Seq(left), Seq(right));
        }
        sack
    }
}

prop_compose! {
    fn syn_options()(
        mss in option::of(1..=u16::MAX),
        window_scale in option::of(any::<u8>()),
        sack_permitted: bool,
        afc_permitted: bool,
    ) -> SynOptions {
        SynOptions { mss, window_scale, sack_permitted, afc_permitted }
    }
}

/// Segments that a header can hold.
fn segments() -> impl Strategy<Value = Segment> {
    let fields = (
        (any::<(u32, u32, u16)>(), 0..512u16, 0..4u8),
        option::of(any::<(u32, u32)>()),
        option::of(any::<u32>()),
    );
    fields.prop_flat_map(
        |(((seq, ack, window), flags, ecn), timestamps, read_rate)| {
            let segment = Segment {
                seq: Seq(seq),
                ack: Seq(ack),
                flags: Flags(flags),
                ecn: Ecn::from_bits(ecn),
                window,
                timestamps: timestamps.map(|(val, ecr)| Timestamps { val, ecr }),
                ..Segment::default()
            };
            if segment.flags.has(Flags::SYN) {
                syn_options()
                    .prop_map(move |syn| Segment { syn, ..segment })
                    .boxed()
            } else {
                let most = 4 - usize::from(timestamps.is_some()) - usize::from(read_rate.is_some());
                sack(most)
                    .prop_map(move |sack| Segment {
                        sack,
                        read_rate: read_rate.map(ReadReport::from_word),
                        ..segment
                    })
                    .boxed()
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        addresses in addresses(),
        mut segment in segments(),
        payload in vec(any::<u8>(), 0..3000),
        cut in any::<prop::sample::Index>(),
    ) {
        segment.len = payload.len() as u32;
        let (front, back) = payload.split_at(cut.index(payload.len() + 1));
        let mut packet = vec![0xee; 7];
        wire::write(&mut packet, &addresses, &segment, [front, back]);
        let ip = addresses.ip_header_bytes();
        prop_assert_eq!(packet.len(), ip + segment.header_bytes() + payload.len());
        let parsed = wire::parse(&packet).unwrap();
        prop_assert_eq!(parsed.addresses, addresses);
        prop_assert_eq!(parsed.segment, segment);
        prop_assert_eq!(parsed.payload, &payload[..]);
    }

    /// Fields and checksums as another implementation sees them.
    #[test]
    fn what_is_written_is_read_by_etherparse(
        addresses in addresses(),
        mut segment in segments(),
        payload in vec(any::<u8>(), 0..200),
    ) {
        segment.len = payload.len() as u32;
        let mut packet = Vec::new();
        wire::write(&mut packet, &addresses, &segment, [&payload, &[]]);
        let sliced = SlicedPacket::from_ip(&packet).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else {
            panic!("no TCP");
        };
        let checksum = match (addresses.source().ip(), addresses.destination().ip()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                tcp.calc_checksum_ipv4(source.octets(), destination.octets())
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                tcp.calc_checksum_ipv6(source.octets(), destination.octets())
            }
            _ => unreachable!(),
        };
        prop_assert_eq!(checksum.unwrap(), tcp.checksum());
        prop_assert_eq!(tcp.source_port(), addresses.source().port());
        prop_assert_eq!(tcp.destination_port(), addresses.destination().port());
        prop_assert_eq!(Seq(tcp.sequence_number()), segment.seq);
        prop_assert_eq!(Seq(tcp.acknowledgment_number()), segment.ack);
        prop_assert_eq!(tcp.window_size(), segment.window);
        prop_assert_eq!(tcp.psh(), segment.flags.has(Flags::PSH));
        let known = |option| matches!(option, Ok(_) | Err(TcpOptionReadError::UnknownId(253)));
        prop_assert!(tcp.options_iterator().all(known));
        prop_assert_eq!(tcp.payload(), &payload[..]);
    }

    #[test]
    fn no_bytes_are_a_panic(bytes in vec(any::<u8>(), 0..120), version in prop_oneof![Just(0x45), Just(0x60), any::<u8>()]) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = version;
        }
        prop_assert!(wire::parse(&bytes).is_err(), "a checksum cannot be guessed");
    }
}
