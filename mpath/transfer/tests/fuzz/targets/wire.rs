//! Target: any bytes as a packet. A packet that is read and written again reads the same.

use tidegate_mpath::wire::{
    Packet, parse, write_answer, write_control, write_data, write_feedback, write_hello,
    write_relay, write_sealed,
};

pub fn run(data: &[u8]) {
    let Ok(packet) = parse(data) else { return };
    let mut out = Vec::new();
    match &packet {
        Packet::Data {
            connection,
            data,
            payload,
        } => {
            write_data(&mut out, *connection, data);
            out.extend(*payload);
        }
        Packet::Feedback {
            connection,
            feedback,
        } => write_feedback(&mut out, *connection, feedback),
        Packet::Relay(relay) => {
            write_relay(&mut out, relay.destination, relay.capability);
            out.extend(relay.packet);
        }
        Packet::Sealed(sealed) => {
            let length = sealed.ciphertext.len().try_into().unwrap();
            write_sealed(&mut out, sealed.connection, sealed.nonce, length);
            out.extend(sealed.ciphertext);
        }
        Packet::Hello(hello) => write_hello(&mut out, hello),
        Packet::Answer(answer) => write_answer(&mut out, answer),
        Packet::Control {
            connection,
            control,
        } => write_control(&mut out, *connection, *control),
    }
    assert_eq!(parse(&out), Ok(packet));
}
