#![no_main]

use tidegate_transfer_fuzz::targets::proxy;

libfuzzer_sys::fuzz_target!(|data: &[u8]| proxy::run(data));
