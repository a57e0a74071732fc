#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cleo::checks::import(bytes));
