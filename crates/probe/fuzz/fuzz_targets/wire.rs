#![no_main]

use tidegate_probe_fuzz::target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
