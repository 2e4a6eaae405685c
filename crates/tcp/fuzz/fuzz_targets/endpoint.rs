#![no_main]

#[path = "../../tests/fuzz/input.rs"]
mod input;
#[path = "../../tests/fuzz/endpoint.rs"]
mod endpoint;

libfuzzer_sys::fuzz_target!(|data: &[u8]| endpoint::run(data));
