//! Paths of patterns, part by part: what a name is made of, and whether one path fits two of them.
//! Braces are expanded before that.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Any number of folders and names.
    Any,
    Name(Vec<Piece>),
}

impl Part {
    /// Returns what it costs to compare it.
    pub(super) fn size(&self) -> u64 {
        match self {
            Part::Any => 1,
            Part::Name(pieces) => 1 + pieces.len() as u64,
        }
    }
}

/// A piece of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Any number of letters.
    Any,
    /// One letter, whichever.
    One,
    Letter(char),
}

pub(super) fn part(name: &str) -> Part {
    // Within a name, `**` may or may not end with the name.
    if name.contains("**") || name.contains('\\') {
        return Part::Any;
    }
    let mut pieces = Vec::new();
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        pieces.push(match letter {
            '*' => Piece::Any,
            '?' => Piece::One,
            '[' => {
                // Names such as `[slug]` are meant as they stand, so the end may be another one.
                match letters.as_str().rfind(']') {
                    Some(end) => letters = letters.as_str()[end + 1..].chars(),
                    None => letters = "".chars(),
                }
                Piece::Any
            }
            letter => Piece::Letter(letter),
        });
    }
    Part::Name(pieces)
}

pub(super) fn paths_meet(a: &[Part], b: &[Part]) -> bool {
    meet(
        a,
        b,
        |part| *part == Part::Any,
        |a, b| match (a, b) {
            (Part::Name(a), Part::Name(b)) => meet(
                a,
                b,
                |piece| *piece == Piece::Any,
                |a, b| a == b || *a == Piece::One || *b == Piece::One,
            ),
            _ => true,
        },
    )
}

/// Says whether there is a sequence that fits both patterns. `any` tells which steps stand for any
/// number of things, `same` whether two other steps can stand for the same thing.
fn meet<T>(a: &[T], b: &[T], any: impl Fn(&T) -> bool, same: impl Fn(&T, &T) -> bool) -> bool {
    // For each place in `b`: whether the rests of both, from here and from the next step of `a`
    // on, fit one sequence.
    let mut after = vec![false; b.len() + 1];
    for at_a in (0..=a.len()).rev() {
        let mut here = vec![false; b.len() + 1];
        for at_b in (0..=b.len()).rev() {
            here[at_b] = match (a.get(at_a), b.get(at_b)) {
                (None, None) => true,
                (Some(one), None) => any(one) && after[at_b],
                (None, Some(other)) => any(other) && here[at_b + 1],
                // It stands for nothing, or for what the other has here.
                (Some(one), Some(other)) if any(one) || any(other) => after[at_b] || here[at_b + 1],
                (Some(one), Some(other)) => after[at_b + 1] && same(one, other),
            };
        }
        after = here;
    }
    after[0]
}

/// Most patterns that one text with braces is taken apart into.
const ALTERNATIVES_MAX: usize = 64;

/// Takes a text with braces apart: `a{b,c}` means `ab` and `ac`. With too many of them, or braces
/// that do not fit, everything from the first on can be anything.
pub(super) fn alternatives(text: &str) -> Vec<String> {
    let (mut done, mut left) = (Vec::<String>::new(), vec![text.to_string()]);
    while let Some(text) = left.pop() {
        match first_braces(&text) {
            None => done.push(text),
            Some((start, end)) => {
                let (before, after) = (&text[..start], &text[end + 1..]);
                for choice in choices(&text[start + 1..end]) {
                    left.push(format!("{before}{choice}{after}"));
                }
            }
        }
        if left.len() + done.len() > ALTERNATIVES_MAX {
            return vec!["**".to_string()];
        }
    }
    // Braces that are left over fit nothing and may be meant as they stand, or not.
    for text in done.iter_mut().filter(|text| text.contains(['{', '}'])) {
        *text = "**".to_string();
    }
    done
}

/// Finds the first braces that fit, by the places of both.
fn first_braces(text: &str) -> Option<(usize, usize)> {
    let start = text.find('{')?;
    let mut depth = 0_u32;
    for (at, letter) in text[start..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 1 => return Some((start, start + at)),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Splits what stands between braces at its own commas.
fn choices(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut choices) = (0_u32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                choices.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    choices.push(&text[from..]);
    choices
}
