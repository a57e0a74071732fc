//! The two marker lines of a block. Nothing else may stand on them: whatever does would be read by
//! an agent and checked by nobody.

/// Says whether a line begins a block: with a version, then perhaps the names of the protocols that
/// follow the base, then perhaps a digest.
pub(super) fn is_begin(line: &str) -> bool {
    let Some(inner) = inner(line, "<!-- BEGIN SUBAGENT PROTOCOL ") else {
        return false;
    };
    let mut words = inner.split(' ').peekable();
    let has_version = words.next().is_some_and(is_version);
    words.next_if(|word| is_stack(word));
    words.next_if(|word| is_digest(word));
    has_version && words.next().is_none()
}

/// Says whether a line ends a block.
pub(super) fn is_end(line: &str) -> bool {
    inner(line, "<!-- END SUBAGENT PROTOCOL ").is_some_and(is_version)
}

/// Returns what stands in a marker behind its start, which may be in any letter case.
fn inner<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    after(line, start)?.trim_end().strip_suffix(" -->")
}

fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let own = text.get(..start.len())?;
    let is_it = own.eq_ignore_ascii_case(start);
    is_it.then(|| &text[start.len()..])
}

fn is_name(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !word.is_empty() && word.bytes().all(is_part)
}

fn is_version(word: &str) -> bool {
    after(word, "v").is_some_and(is_name)
}

fn is_stack(word: &str) -> bool {
    let names = word.strip_prefix('+');
    names.is_some_and(|names| names.split('+').all(is_name))
}

fn is_digest(word: &str) -> bool {
    let digits = after(word, "sha256:").filter(|digits| !digits.is_empty());
    digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_has_a_version_names_and_a_digest_in_this_order_and_nothing_else() {
        for (inner, expected) in [
            ("v1", true),
            ("V1.2-rc_3", true),
            ("v1 +a", true),
            ("v1 +a+b-c.d", true),
            ("v1 sha256:0aF", true),
            ("v1 +a SHA256:0", true),
            ("v", false),
            ("1", false),
            ("", false),
            ("v1 ", false),
            ("v1  +a", false),
            ("v1 +", false),
            ("v1 +a+", false),
            ("v1 +a +b", false),
            ("v1 sha256:", false),
            ("v1 sha256:g", false),
            ("v1 sha256:0 +a", false),
            ("v1 sha256:0 sha256:0", false),
            ("v1 more", false),
            ("vä", false),
        ] {
            let line = format!("<!-- begin Subagent PROTOCOL {inner} --> \r\n");
            assert_eq!(is_begin(&line), expected, "{line}");
        }
        for (line, expected) in [
            ("<!-- END SUBAGENT PROTOCOL v1 -->", true),
            ("<!-- end subagent protocol v1 -->\n", true),
            ("<!-- END SUBAGENT PROTOCOL v1 +a -->", false),
            (" <!-- END SUBAGENT PROTOCOL v1 -->", false),
            ("<!-- END SUBAGENT PROTOCOL v1-->", false),
            ("<!-- END SUBAGENT PROTOCOL -->", false),
            ("<!-- END SUBAGENT PROTOCOL v1", false),
            ("<!-- END SUBAGENT PROTOCOLä v1 -->", false),
        ] {
            assert_eq!(is_end(line), expected, "{line}");
        }
    }
}
