#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cleo::checks::manifest_line(bytes));
