//! Any template and any value: what is between the tokens stays byte for byte, a value goes in
//! once and is never looked at again, and the check of a prompt never panics.
#![no_main]

use cleo::protocol::block;
use cleo::template::{Bindings, inject, pieces};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|parts: (&str, &str)| {
    let (template, value) = parts;
    let mut bindings = Bindings::new();
    bindings.set("TASK_TITLE", value);
    let injected = inject(template, &bindings);
    let own: usize = pieces(template).map(|(literal, _)| literal.len()).sum();
    assert!(injected.text.len() >= own, "text of the template is lost");
    let mut rest = injected.text.as_str();
    for (literal, _) in pieces(template) {
        let place = rest.find(literal).expect("text of the template is kept");
        rest = &rest[place + literal.len()..];
    }
    if template == "{{TASK_TITLE}}" {
        assert_eq!(injected.text, value);
    }
    let _ = block::check(&injected.text);
});
