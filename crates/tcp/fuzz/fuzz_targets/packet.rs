#![no_main]

#[path = "../../tests/fuzz/packet.rs"]
mod packet;

libfuzzer_sys::fuzz_target!(|data: &[u8]| packet::run(data));
