#![no_main]

use tidegate_transfer_fuzz::targets::files;

libfuzzer_sys::fuzz_target!(|data: &[u8]| files::run(data));
