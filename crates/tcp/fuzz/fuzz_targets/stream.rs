#![no_main]

use tidegate_tcp_fuzz::targets::stream;

libfuzzer_sys::fuzz_target!(|data: &[u8]| stream::run(data));
