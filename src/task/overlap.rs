//! Tells which file patterns may mean the same file. A pattern is a path below the workspace root; what it has before
//! the first name with a wildcard is its literal prefix. Two patterns overlap when their literal prefixes are equal or
//! one lies below the other: at worst, a task comes a wave later than it could.

use std::collections::HashMap;
use std::iter::successors;
use std::rc::Rc;

use foldhash::fast::RandomState;
use memchr::memrchr;

/// The literal prefix of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// The place of its text in the list that it comes from.
    source: usize,
    prefix: Rc<str>,
}

pub(crate) fn patterns(texts: &[String]) -> Vec<Pattern> {
    let texts = texts.iter().enumerate();
    let read = |(source, text): (usize, &String)| Pattern {
        source,
        prefix: literal_prefix(text),
    };
    texts.map(read).collect()
}

fn literal_prefix(text: &str) -> Rc<str> {
    let is_special = |byte: u8| matches!(byte, b'*' | b'?' | b'[' | b'{' | b'\\');
    let literal = match text.bytes().position(is_special) {
        Some(at) => &text[..memrchr(b'/', &text.as_bytes()[..at]).unwrap_or(0)],
        None => text,
    };
    let mut names = literal.as_bytes().split(|byte| *byte == b'/');
    if names.all(|name| !matches!(name, b"" | b"." | b"..")) {
        return literal.into();
    }
    let names = literal.split('/').filter(|name| !matches!(*name, "" | "."));
    let names: Vec<&str> = names.collect();
    match names.contains(&"..") {
        // It may lead anywhere.
        true => "".into(),
        false => names.join("/").into(),
    }
}

/// Returns a path and the folders above it, up to the root, which is empty.
fn path_and_parents(path: &str) -> impl Iterator<Item = &str> {
    successors(Some(path), |path| match memrchr(b'/', path.as_bytes()) {
        Some(end) => Some(&path[..end]),
        None => (!path.is_empty()).then_some(""),
    })
}

impl Pattern {
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// Patterns that tasks have taken.
#[derive(Default)]
pub(crate) struct Occupied {
    /// Owner and prefix of each, in order.
    taken: Vec<(u32, Rc<str>)>,
    /// The first pattern with each prefix.
    first: HashMap<Rc<str>, usize, RandomState>,
    /// The first pattern below each folder.
    first_below: HashMap<String, usize, RandomState>,
}

/// The overlap of patterns with those of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) owner: u32,
    /// The places of the texts that mean it.
    pub(crate) texts: Vec<usize>,
    /// The prefix by which it is taken.
    pub(crate) prefix: Rc<str>,
}

impl Occupied {
    pub(crate) fn occupy(&mut self, owner: u32, patterns: Vec<Pattern>) {
        for Pattern { prefix, .. } in patterns {
            let at = self.taken.len();
            let is_new = |folder: &&str| !self.first_below.contains_key(*folder);
            // With a folder all above it are there.
            let new: Vec<&str> = path_and_parents(&prefix)
                .skip(1)
                .take_while(is_new)
                .collect();
            for folder in new {
                self.first_below.insert(folder.to_string(), at);
            }
            self.first.entry(prefix.clone()).or_insert(at);
            self.taken.push((owner, prefix));
        }
    }

    /// Finds who has taken something that overlaps `patterns`.
    pub(crate) fn conflict(&self, patterns: &[Pattern]) -> Option<Taken> {
        let mut found: Option<Taken> = None;
        for pattern in patterns {
            let Some(at) = self.first_overlap(&pattern.prefix) else {
                continue;
            };
            let (owner, prefix) = &self.taken[at];
            let taken = found.get_or_insert_with(|| Taken {
                owner: *owner,
                texts: Vec::new(),
                prefix: prefix.clone(),
            });
            if taken.owner == *owner {
                taken.texts.push(pattern.source);
            }
        }
        found
    }

    fn first_overlap(&self, prefix: &str) -> Option<usize> {
        let above = path_and_parents(prefix).filter_map(|folder| self.first.get(folder));
        above.chain(self.first_below.get(prefix)).min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Vec<Pattern> {
        let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        patterns(&texts)
    }

    #[test]
    fn patterns_overlap_when_one_prefix_is_in_other() {
        for (a, b, expected) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/b.rs", false),
            ("src/auth", "src/auth/token.rs", true),
            ("src/auth/", "./src//auth/token.rs", true),
            ("src/auth", "src/authority.rs", false),
            ("src/auth/**", "src/web/**", false),
            ("src/**/*.rs", "src/auth/token.md", true),
            ("**/*.rs", "docs/x.md", true),
            ("src/{auth,web}/**", "src/db/x.rs", true),
            ("src/[ab].rs", "lib/a.rs", false),
            ("/src/a.rs", "src/a.rs", true),
            ("src/../lib/x.rs", "lib/x.rs", true),
            ("src\\auth\\x.rs", "src/auth/x.rs", true),
            (".", "anything", true),
            ("", "anything", true),
            ("Ünï/*.md", "Ünï/ä.md", true),
            ("docs", "src", false),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                let mut occupied = Occupied::default();
                occupied.occupy(1, read(&[a]));
                assert_eq!(
                    occupied.conflict(&read(&[b])).is_some(),
                    expected,
                    "{a} {b}"
                );
            }
        }
    }

    #[test]
    fn first_owner_is_named_with_texts_that_overlap() {
        let mut occupied = Occupied::default();
        occupied.occupy(1, read(&["src/auth/**", "docs/auth.md"]));
        occupied.occupy(2, read(&["src/web/x.rs"]));
        let found = |of: &[&str]| {
            let taken = occupied.conflict(&read(of));
            taken.map(|taken| (taken.owner, taken.texts))
        };
        let texts = ["src/db", "src/auth/x.rs", "docs"];
        assert_eq!(found(&texts), Some((1, vec![1, 2])));
        assert_eq!(found(&["src/web"]), Some((2, vec![0])));
        assert_eq!(found(&["src", "src/web"]), Some((1, vec![0])));
        assert_eq!(found(&["src/db", "README.md"]), None);
    }
}
