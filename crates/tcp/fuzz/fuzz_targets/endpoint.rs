#![no_main]

use tidegate_tcp_fuzz::targets::endpoint;

libfuzzer_sys::fuzz_target!(|data: &[u8]| endpoint::run(data));
