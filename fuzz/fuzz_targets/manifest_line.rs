//! Any bytes as a line of the manifest: nothing panics, and a valid entry is the same after it was
//! written as a line and read again.
#![no_main]

use cleo::manifest::entry::Entry;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(entry) = Entry::read(text) else {
        return;
    };
    let Ok(line) = entry.line() else {
        return;
    };
    assert!(!line.contains('\n'), "an entry is one line");
    let again = Entry::read(&line).expect("what was written can be read");
    assert_eq!(again.line().expect("it was a line before"), line);
});
