#![no_main]

use tidegate_transfer_fuzz::targets::token;

libfuzzer_sys::fuzz_target!(|data: &[u8]| token::run(data));
