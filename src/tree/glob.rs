//! Which paths the files that a task declares stand for.
//!
//! - `*` stands for any run of characters within a name, `?` for one, also at the front of a name
//!   that begins with a dot.
//! - `**/` stands for any number of folders, none included; `/**` at the end for all below.
//! - `[a-z]` and `[!a-z]` stand for one character, `{ts,tsx}` for one of several texts.
//! - `\` takes the next character as it is.
//! - What has no such sign in its last part also stands for all below it: `src/auth`.
//!
//! Paths count from the workspace root. One that is absolute or holds `..` stands for nothing.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use regex::bytes::{Regex, RegexBuilder};

use crate::error::{Code, Error, Result};

/// How long all patterns of a task may be together, in bytes.
const LENGTH_MAX: usize = 256 << 10;
/// How large they may become, in bytes of compiled regular expressions.
const SIZE_MAX: usize = 8 << 20;
/// Characters that make a pattern of a path.
const SIGNS: [char; 5] = ['*', '?', '[', '{', '\\'];

pub(super) struct Globs {
    regex: Option<Regex>,
    patterns: Vec<String>,
}

impl Globs {
    /// Reads patterns; none of them stands for everything.
    pub(super) fn new(patterns: &[String]) -> Result<Globs> {
        let refused = || {
            let message = "the files that the task declares cannot be used as patterns";
            Error::new(Code::TaskInvalid, message)
        };
        if patterns.iter().map(String::len).sum::<usize>() > LENGTH_MAX {
            return Err(refused());
        }
        let patterns: Vec<String> = patterns.iter().filter_map(|text| cleaned(text)).collect();
        let all: Vec<String> = patterns.iter().map(|pattern| expression(pattern)).collect();
        let built = RegexBuilder::new(&format!("^(?:{})$", all.join("|")))
            .size_limit(SIZE_MAX)
            .build();
        let regex = built.map_err(|cause| refused().because(cause))?;
        Ok(Globs {
            regex: Some(regex),
            patterns,
        })
    }

    pub(super) fn everything() -> Globs {
        Globs {
            regex: None,
            patterns: Vec::new(),
        }
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        let bytes = path.as_os_str().as_bytes();
        self.regex
            .as_ref()
            .is_none_or(|regex| regex.is_match(bytes))
    }

    pub(super) fn plain(&self) -> impl Iterator<Item = &str> {
        let patterns = self.patterns.iter().map(String::as_str);
        patterns.filter(|pattern| !pattern.contains(SIGNS))
    }

    pub(super) fn folders(&self) -> Vec<PathBuf> {
        if self.regex.is_none() {
            return vec![PathBuf::new()];
        }
        let mut folders: Vec<PathBuf> = self.patterns.iter().map(|text| base(text)).collect();
        folders.sort();
        folders.dedup_by(|later, earlier| later.starts_with(earlier));
        folders
    }
}

/// Returns the folders of a pattern before its first sign; all of it when it has none.
fn base(pattern: &str) -> PathBuf {
    match pattern.find(SIGNS) {
        None => PathBuf::from(pattern),
        Some(at) => PathBuf::from(pattern[..at].rsplit_once('/').map_or("", |(base, _)| base)),
    }
}

fn cleaned(pattern: &str) -> Option<String> {
    let parts: Vec<&str> = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let leads_out = pattern.starts_with('/') || parts.contains(&"..") || parts.is_empty();
    (!leads_out).then(|| parts.join("/"))
}

/// Writes a pattern as a regular expression over bytes.
fn expression(pattern: &str) -> String {
    let mut written = String::new();
    let mut open = 0;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let at_start = written.is_empty() || written.ends_with('/');
        let (text, length) = match first {
            '*' if rest == "**" && at_start => ("(?s-u:.)*".to_string(), 2),
            '*' if rest.starts_with("**/") && at_start => ("(?:(?-u:[^/])+/)*".to_string(), 3),
            '*' => ("(?-u:[^/])*".to_string(), 1),
            '?' => ("[^/]".to_string(), 1),
            '[' => class(rest).unwrap_or((r"\[".to_string(), 1)),
            '{' if closes(rest) => {
                open += 1;
                ("(?:".to_string(), 1)
            }
            ',' if open > 0 => ("|".to_string(), 1),
            '}' if open > 0 => {
                open -= 1;
                (")".to_string(), 1)
            }
            '\\' if rest.len() > 1 => literal(&rest[1..], 1),
            _ => literal(rest, 0),
        };
        written.push_str(&text);
        rest = &rest[length..];
    }
    let last = pattern.rsplit('/').next().unwrap_or_default();
    if !last.contains(SIGNS) {
        written.push_str("(?:/(?s-u:.)*)?");
    }
    written
}

/// Writes the first character of a text as it is; `before` bytes stand in front of it.
fn literal(text: &str, before: usize) -> (String, usize) {
    let Some(first) = text.chars().next() else {
        return (String::new(), before);
    };
    (
        regex::escape(first.encode_utf8(&mut [0; 4])),
        first.len_utf8() + before,
    )
}

fn closes(text: &str) -> bool {
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return true;
        }
    }
    false
}

/// Reads `[…]`; none when it is no set of characters within a name.
fn class(text: &str) -> Option<(String, usize)> {
    let end = text[1..].find(']').map(|at| at + 1)?;
    let inner = &text[1..end];
    let (inner, not) = match inner.strip_prefix(['!', '^']) {
        Some(rest) => (rest, "^/"),
        None => (inner, ""),
    };
    let characters: Vec<char> = inner.chars().collect();
    let has_wrong_order = characters
        .windows(3)
        .any(|three| three[1] == '-' && three[0] > three[2]);
    if characters.is_empty() || characters.contains(&'/') || has_wrong_order {
        return None;
    }
    let last = characters.len() - 1;
    let mut set = String::new();
    for (at, c) in characters.iter().enumerate() {
        match c {
            '-' if at > 0 && at < last => set.push('-'),
            c => set.push_str(&format!("\\x{{{:x}}}", u32::from(*c))),
        }
    }
    Some((format!("[{not}{set}]"), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_paths_like_in_other_tools() {
        for (pattern, yes, no) in [
            (
                "src/auth/**",
                vec!["src/auth/a.rs", "src/auth/b/c.rs"],
                vec!["src/auth", "src/authx/a"],
            ),
            (
                "src/auth",
                vec!["src/auth", "src/auth/b/c.rs"],
                vec!["src/auth.rs", "x/src/auth"],
            ),
            ("./src/auth/", vec!["src/auth/a"], vec!["src/b"]),
            (
                "src/*.rs",
                vec!["src/a.rs", "src/.rs"],
                vec!["src/a/b.rs", "src/a.rs.bak"],
            ),
            ("src/*", vec!["src/a"], vec!["src/a/b"]),
            ("**/*.rs", vec!["a.rs", "x/y/a.rs"], vec!["a.rsx"]),
            ("a/**/z", vec!["a/z", "a/b/c/z", "a/z/below"], vec!["az"]),
            ("**", vec!["a", "a/b"], vec![]),
            ("a**b", vec!["axb"], vec!["a/b"]),
            (
                "f?le.{ts,tsx}",
                vec!["file.ts", "füle.tsx"],
                vec!["f/le.ts", "file.t"],
            ),
            (
                "[a-c]x[!0-9]",
                vec!["axy", "cxz"],
                vec!["dxy", "ax1", "ax/"],
            ),
            ("[z-a]", vec!["[z-a]"], vec!["z"]),
            ("a[", vec!["a["], vec!["a"]),
            ("a{b", vec!["a{b"], vec!["ab"]),
            (r"a\*b", vec!["a*b"], vec!["axb"]),
            ("a.b", vec!["a.b"], vec!["axb"]),
            ("[]", vec!["[]"], vec![]),
            ("/etc/passwd", vec![], vec!["etc/passwd", "/etc/passwd"]),
            ("../x", vec![], vec!["x"]),
            ("[a&&b~]", vec!["&", "~"], vec!["c"]),
        ] {
            let globs = Globs::new(&[pattern.to_string()]).unwrap();
            for path in yes {
                assert!(globs.has(Path::new(path)), "{pattern} has {path}");
            }
            for path in no {
                assert!(!globs.has(Path::new(path)), "{pattern} has not {path}");
            }
        }
    }

    #[test]
    fn folders_are_those_above_the_first_sign() {
        let globs = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|text| text.to_string()).collect();
            Globs::new(&patterns).unwrap().folders()
        };
        assert_eq!(
            globs(&["src/a/*.rs", "src", "x/y"]),
            [Path::new("src"), Path::new("x/y")]
        );
        assert_eq!(globs(&["*.rs", "src"]), [Path::new("")]);
        assert_eq!(globs(&[]), [] as [PathBuf; 0]);
    }

    #[test]
    fn patterns_without_end_are_refused() {
        let many: Vec<String> = (0..1_000).map(|_| "{a,b}?".repeat(300)).collect();
        let refused = Globs::new(&many).err().map(|error| error.code);
        assert_eq!(refused, Some(Code::TaskInvalid));
    }
}
