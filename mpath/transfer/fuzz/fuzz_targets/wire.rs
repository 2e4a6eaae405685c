#![no_main]

use tidegate_transfer_fuzz::targets::wire;

libfuzzer_sys::fuzz_target!(|data: &[u8]| wire::run(data));
