//! Which file patterns may mean the same file. Pure, and careful: what it cannot tell apart, it
//! takes for the same.
//!
//! A pattern is a path below the workspace root. `*` and `?` stand for letters of a name, `**` for
//! any folders, `{a,b}` for one of several texts. A path that ends in a plain name also means
//! everything below it; if the name has an end like that of a file (`x.rs`), only what another
//! pattern says to be below it. `[…]`, of which nobody knows whether it is a set of letters or a part of a
//! name, stands for any letters, and a name with a backslash for any path.

mod path;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use memchr::memrchr;

use self::path::{Part, part, paths_meet};
use path::alternatives;

/// Most steps that comparing patterns may take in all: about a second where nothing is optimized.
const STEPS_MAX: u64 = 20_000_000;

/// What it costs to find that two plain paths meet.
const STEPS_OF_PLAIN: u64 = 10;

#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Which of the texts it comes from.
    source: usize,
    /// The path, without what says nothing.
    path: String,
    /// How many bytes of it are the folders that it begins with, as far as they are plain.
    prefix: usize,
    /// Whether that is all of it.
    is_plain: bool,
    /// Whether it means everything below it, too.
    is_deep: bool,
    /// What the path is made of, once somebody asks: of plain ones hardly anybody does.
    parts: OnceCell<Vec<Part>>,
}

/// Reads file patterns. One text may make several.
pub(crate) fn patterns(texts: &[String]) -> Vec<Pattern> {
    let mut patterns = Vec::with_capacity(texts.len());
    for (source, text) in texts.iter().enumerate() {
        if memchr::memchr2(b'{', b'}', text.as_bytes()).is_none() {
            patterns.push(Pattern::read(source, text));
            continue;
        }
        let alternatives = alternatives(text);
        patterns.extend(alternatives.iter().map(|text| Pattern::read(source, text)));
    }
    patterns
}

/// Says whether there may be a file that both texts mean.
pub(crate) fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (patterns(&[a.to_string()]), patterns(&[b.to_string()]));
    a.iter().any(|a| b.iter().any(|b| a.meets(b)))
}

impl Pattern {
    fn read(source: usize, text: &str) -> Pattern {
        if is_simple(text) {
            let name = &text[memrchr(b'/', text.as_bytes()).map_or(0, |slash| slash + 1)..];
            return Pattern {
                source,
                path: text.to_string(),
                prefix: text.len(),
                is_plain: true,
                is_deep: !is_file(name),
                parts: OnceCell::new(),
            };
        }
        let names = text.split('/').filter(|name| !matches!(*name, "" | "."));
        let mut names: Vec<&str> = names.collect();
        if names.contains(&"..") {
            // It leads nobody knows where.
            names = vec!["**"];
        }
        let n_plain = names.iter().take_while(|name| is_plain(name)).count();
        let plain = &names[..n_plain];
        let is_folder = names.last().is_none_or(|name| is_plain(name));
        let is_deep = text.ends_with('/') || !names.last().is_some_and(|name| is_file(name));
        Pattern {
            source,
            path: names.join("/"),
            prefix: plain.iter().map(|name| name.len()).sum::<usize>() + n_plain.saturating_sub(1),
            is_plain: n_plain == names.len(),
            is_deep: is_folder && is_deep,
            parts: OnceCell::new(),
        }
    }

    /// Returns a name that patterns have in common only when they mean the same.
    pub(crate) fn name(&self) -> String {
        let below = if self.is_deep { "/" } else { "" };
        format!("{}{below}", self.path)
    }

    /// Returns the folders that it begins with, as far as they are plain.
    fn prefix(&self) -> &str {
        &self.path[..self.prefix]
    }

    fn parts(&self) -> &[Part] {
        self.parts.get_or_init(|| {
            let names = self.path.split('/').filter(|name| !name.is_empty());
            let below = self.is_deep.then_some(Part::Any);
            names.map(part).chain(below).collect()
        })
    }

    fn meets(&self, other: &Pattern) -> bool {
        let holds = |a: &Pattern, b: &Pattern| a.is_plain && b.begins_with(a.prefix());
        if holds(self, other) || holds(other, self) {
            return true;
        }
        paths_meet(self.parts(), other.parts())
    }

    fn begins_with(&self, folder: &str) -> bool {
        let rest = self.prefix().strip_prefix(folder);
        rest.is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the folders that the pattern begins with, from its plain beginning up to the root.
    fn folders(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.prefix()), |folder| {
            match memrchr(b'/', folder.as_bytes()) {
                Some(end) => Some(&folder[..end]),
                None => (!folder.is_empty()).then_some(""),
            }
        })
    }

    fn size(&self) -> u64 {
        self.parts().iter().map(Part::size).sum()
    }
}

/// Says whether a text is a path of plain names and nothing else, as most are.
fn is_simple(text: &str) -> bool {
    let mut before = b'/';
    for byte in text.bytes() {
        // What begins with a dot may be a step, which says nothing or leads away.
        let is_odd = matches!(byte, b'*' | b'?' | b'[' | b'\\');
        if is_odd || (before == b'/' && matches!(byte, b'/' | b'.')) {
            return false;
        }
        before = byte;
    }
    before != b'/'
}

/// Says whether a name has an end like that of a file.
fn is_file(name: &str) -> bool {
    memrchr(b'.', name.as_bytes()).is_some_and(|dot| dot > 0 && dot + 1 < name.len())
}

/// Says whether a name stands for itself.
fn is_plain(name: &str) -> bool {
    !name.contains(['*', '?', '[', '\\'])
}

/// Patterns that somebody has taken, so that others keep away. Only patterns whose plain beginnings
/// lie on one way are compared.
#[derive(Default)]
pub(crate) struct Occupied {
    taken: Vec<(u32, Pattern)>,
    /// Patterns by their plain beginning.
    beginning: Folders,
    /// Patterns by each folder above their plain beginning: the first so many of them, as it is
    /// seldom asked for.
    beneath: Folders,
    n_beneath: usize,
    /// Lengths of the folders above plain beginnings.
    above: Lengths,
}

/// What somebody has taken of what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) owner: u32,
    /// Which of the texts mean it.
    pub(crate) texts: Vec<usize>,
    /// The name of the pattern by which it is taken; see [`Pattern::name`].
    pub(crate) pattern: String,
}

impl Occupied {
    /// Says whether so many steps are more than comparing may take.
    pub(crate) fn is_spent(spent: u64) -> bool {
        spent >= STEPS_MAX
    }

    pub(crate) fn take(&mut self, owner: u32, patterns: Vec<Pattern>) {
        for pattern in patterns {
            self.beginning.add(pattern.prefix(), self.taken.len());
            for folder in pattern.folders().skip(1) {
                self.above.add(folder.len());
            }
            self.taken.push((owner, pattern));
        }
    }

    /// Sees to it that patterns are found by the folders above them, if one may be like `folder`.
    fn look_beneath(&mut self, folder: &str) {
        if !self.above.may_have(folder.len()) {
            return;
        }
        for (at, (_, pattern)) in self.taken.iter().enumerate().skip(self.n_beneath) {
            for folder in pattern.folders().skip(1) {
                self.beneath.add(folder, at);
            }
        }
        self.n_beneath = self.taken.len();
    }

    /// Finds who has taken something that `patterns` may mean too. `spent` counts the steps; when too
    /// many have been taken, nothing is found any more.
    pub(crate) fn conflict(&mut self, patterns: &[Pattern], spent: &mut u64) -> Option<Taken> {
        self.conflict_before(self.taken.len(), patterns, spent)
    }

    /// Finds who had taken something that `patterns` may mean when so many patterns were taken.
    pub(crate) fn conflict_before(
        &mut self,
        count: usize,
        patterns: &[Pattern],
        spent: &mut u64,
    ) -> Option<Taken> {
        let mut found: Option<Taken> = None;
        for pattern in patterns {
            let known = found.as_ref().map(|found| found.owner);
            let met = self.met_by(count, pattern, spent);
            let is_same = |at: &usize| known.is_none_or(|known| known == self.taken[*at].0);
            if let Some(at) = met.filter(is_same) {
                let found = found.get_or_insert_with(|| Taken {
                    owner: self.taken[at].0,
                    texts: Vec::new(),
                    pattern: self.taken[at].1.name(),
                });
                if found.texts.last() != Some(&pattern.source) {
                    found.texts.push(pattern.source);
                }
            }
        }
        found
    }

    pub(crate) fn len(&self) -> usize {
        self.taken.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Finds the first of the first `count` patterns that may mean what the pattern means.
    fn met_by(&mut self, count: usize, pattern: &Pattern, spent: &mut u64) -> Option<usize> {
        self.look_beneath(pattern.prefix());
        let beginning = pattern
            .folders()
            .filter_map(|folder| self.beginning.get(folder));
        let near = beginning
            .chain(self.beneath.get(pattern.prefix()))
            .flatten();
        for at in near.filter(|at| **at < count) {
            let (_, other) = &self.taken[*at];
            if Occupied::is_spent(*spent) {
                return None;
            }
            // Of two plain paths that lie on one way, one is within the other.
            let both_plain = pattern.is_plain && other.is_plain;
            *spent += if both_plain {
                STEPS_OF_PLAIN
            } else {
                pattern.size() * other.size()
            };
            if both_plain || pattern.meets(other) {
                return Some(*at);
            }
        }
        None
    }
}

/// Places of patterns by folder.
#[derive(Default)]
struct Folders {
    places: HashMap<String, Vec<usize>, RandomState>,
    lengths: Lengths,
}

impl Folders {
    fn add(&mut self, folder: &str, at: usize) {
        self.lengths.add(folder.len());
        match self.places.get_mut(folder) {
            Some(places) => places.push(at),
            None => drop(self.places.insert(folder.to_string(), vec![at])),
        }
    }

    fn get(&self, folder: &str) -> Option<&Vec<usize>> {
        // Where no folder is as long, there is nothing to look up.
        let is_known = self.lengths.may_have(folder.len());
        is_known.then(|| self.places.get(folder)).flatten()
    }
}

/// Which lengths there are; all from 127 on count as one.
#[derive(Clone, Copy, Default)]
struct Lengths(u128);

impl Lengths {
    fn add(&mut self, length: usize) {
        self.0 |= 1 << length.min(127);
    }

    fn may_have(self, length: usize) -> bool {
        self.0 & (1 << length.min(127)) != 0
    }
}
