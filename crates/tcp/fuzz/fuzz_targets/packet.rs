#![no_main]

use tidegate_tcp_fuzz::targets::packet;

libfuzzer_sys::fuzz_target!(|data: &[u8]| packet::run(data));
