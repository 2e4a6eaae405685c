#![no_main]

#[path = "../../tests/fuzz/input.rs"]
mod input;
#[path = "../../tests/fuzz/stream.rs"]
mod stream;

libfuzzer_sys::fuzz_target!(|data: &[u8]| stream::run(data));
