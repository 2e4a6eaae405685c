#![no_main]

use tidegate_transfer_fuzz::targets::ends;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ends::run(data));
