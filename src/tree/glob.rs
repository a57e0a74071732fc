//! Which paths match the file patterns of a task.
//!
//! - `*` matches any run of characters within a name, `?` for one, also at the front of a name
//!   that begins with a dot.
//! - `**/` matches any number of folders, none included; `/**` at the end for all below.
//! - `[a-z]` and `[!a-z]` match one character, `{ts,tsx}` for one of several texts. Outside of ASCII, `?`
//!   and `[…]` match a part of a character.
//! - `\` takes the next character as it is.
//! - A pattern without such a sign in its last part also matches all below it: `src/auth`.
//!
//! Paths count from the workspace root. An absolute path, or one with `..`, matches nothing.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet};

use crate::error::{Code, Error, Result};

/// How long all patterns of a task may be together, in bytes.
const LENGTH_MAX: usize = 256 << 10;
/// Most groups `{…}` of a pattern.
const GROUPS_MAX: usize = 100;
/// Characters that make a pattern of a path.
const SIGNS: [char; 5] = ['*', '?', '[', '{', '\\'];

pub(crate) struct Globs {
    set: Option<GlobSet>,
    patterns: Vec<String>,
}

impl Globs {
    /// Reads patterns; no patterns match everything.
    pub(crate) fn new(patterns: &[String]) -> Result<Globs> {
        let refused = || {
            let message = "the files that the task declares cannot be used as patterns";
            Error::new(Code::TaskInvalid, message)
        };
        if patterns.iter().map(String::len).sum::<usize>() > LENGTH_MAX {
            return Err(refused());
        }
        let patterns: Vec<String> = patterns.iter().filter_map(|text| normalize(text)).collect();
        let mut set = GlobSet::builder();
        for pattern in &patterns {
            // Globset reads groups by recursion, one within another.
            if pattern.matches('{').count() > GROUPS_MAX {
                return Err(refused());
            }
            for glob in globs(pattern).map_err(|cause| refused().because(cause))? {
                set.add(glob);
            }
        }
        let set = set.build().map_err(|cause| refused().because(cause))?;
        Ok(Globs {
            set: Some(set),
            patterns,
        })
    }

    pub(super) fn everything() -> Globs {
        Globs {
            set: None,
            patterns: Vec::new(),
        }
    }

    pub(crate) fn has(&self, path: &Path) -> bool {
        self.set.as_ref().is_none_or(|set| set.is_match(path))
    }

    pub(super) fn without_signs(&self) -> impl Iterator<Item = &str> {
        let patterns = self.patterns.iter().map(String::as_str);
        patterns.filter(|pattern| !pattern.contains(SIGNS))
    }

    /// Returns the paths at or below which files can match.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        if self.set.is_none() {
            return vec![PathBuf::new()];
        }
        let folders = self.patterns.iter().map(|text| folders_before_signs(text));
        let mut folders: Vec<PathBuf> = folders.collect();
        folders.sort_unstable();
        folders.dedup_by(|later, earlier| later.starts_with(earlier));
        folders
    }
}

/// Returns the folders of a pattern before its first sign; all of it when it has none.
fn folders_before_signs(pattern: &str) -> PathBuf {
    match pattern.find(SIGNS) {
        None => PathBuf::from(pattern),
        Some(at) => PathBuf::from(pattern[..at].rsplit_once('/').map_or("", |(base, _)| base)),
    }
}

fn normalize(pattern: &str) -> Option<String> {
    let parts: Vec<&str> = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let leads_out = pattern.starts_with('/') || parts.contains(&"..") || parts.is_empty();
    (!leads_out).then(|| parts.join("/"))
}

/// Reads one pattern, with all that is below it if its last part has no sign. A pattern that globset cannot read
/// matches a file of that name.
fn globs(pattern: &str) -> std::result::Result<Vec<Glob>, globset::Error> {
    let glob = |text: &str, escapes| {
        let mut builder = GlobBuilder::new(text);
        builder.literal_separator(true).backslash_escape(escapes);
        builder.build()
    };
    let last = pattern.rsplit('/').next().unwrap_or_default();
    let Ok(own) = glob(pattern, true) else {
        return Ok(vec![glob(&globset::escape(pattern), false)?]);
    };
    match last.contains(SIGNS) {
        true => Ok(vec![own]),
        false => Ok(vec![own, glob(&format!("{pattern}/**"), true)?]),
    }
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
                vec!["file.ts", "fule.tsx"],
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
    fn folders_are_those_above_first_sign() {
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
        let nested = "{".repeat(LENGTH_MAX / 2) + &"}".repeat(LENGTH_MAX / 2);
        for patterns in [many, vec![nested]] {
            let refused = Globs::new(&patterns).err().map(|error| error.code);
            assert_eq!(refused, Some(Code::TaskInvalid));
        }
    }
}
