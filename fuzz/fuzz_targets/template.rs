#![no_main]

libfuzzer_sys::fuzz_target!(|parts: (&str, &str)| cleo::checks::template(parts));
