//! Any bytes as a SKILL.md: nothing panics, every fault has a place in the file, and what the
//! strict judge takes the lenient reader can read.
#![no_main]

use std::borrow::Cow;

use cleo::skill::{Skill, Source, validate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let faults = validate::validate_bytes("folder", bytes);
    assert!(faults.iter().all(|fault| fault.line >= 1 && fault.column >= 1));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let path = "folder/SKILL.md".to_string();
    let skill = Skill::read("folder", Cow::Owned(text.to_string()), Source::Project, path);
    assert!(!faults.is_empty() || skill.is_ok(), "valid and not readable");
});
