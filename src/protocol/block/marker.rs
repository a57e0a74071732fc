//! The two marker lines of a block. Nothing else may stand on them: whatever does would be read by
//! an agent and checked by nobody.

use std::sync::LazyLock;

use regex::Regex;

static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
    let name = "[A-Za-z0-9._-]+";
    let form = format!(
        r"(?i)^<!-- BEGIN SUBAGENT PROTOCOL v{name}(?: (?:\+{name})+)?(?: sha256:[0-9a-f]+)? -->$"
    );
    Regex::new(&form).expect("the pattern is a constant that compiles")
});

static END: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^<!-- END SUBAGENT PROTOCOL v[A-Za-z0-9._-]+ -->$")
        .expect("the pattern is a constant that compiles")
});

/// Says whether a line begins a block.
pub(super) fn is_begin(line: &str) -> bool {
    starts_with(line, b"<!-- BEGIN ") && BEGIN.is_match(line.trim_end())
}

/// Says whether a line ends a block.
pub(super) fn is_end(line: &str) -> bool {
    starts_with(line, b"<!-- END ") && END.is_match(line.trim_end())
}

/// Says whether a line starts with a text, in any letter case: most lines of a prompt do not, and
/// need no closer look.
fn starts_with(line: &str, start: &[u8]) -> bool {
    let own = line.as_bytes().get(..start.len());
    own.is_some_and(|own| own.eq_ignore_ascii_case(start))
}

/// Says whether a text that somebody wrote has a line that begins a block, or one that would if
/// its white space were different.
pub fn begins(text: &str) -> bool {
    text.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = words.join(" ").to_ascii_lowercase();
        line.contains("<!-- begin subagent protocol")
    })
}
