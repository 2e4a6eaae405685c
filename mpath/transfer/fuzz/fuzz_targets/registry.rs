#![no_main]

use tidegate_transfer_fuzz::targets::registry;

libfuzzer_sys::fuzz_target!(|data: &[u8]| registry::run(data));
