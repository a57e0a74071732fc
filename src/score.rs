//! The one scorer: how words are read, compared and ranked. Dispatch uses it for tasks and the router for messages. Rules:
//! two-tier-subagents notes, section 2.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Shortest word that counts, in characters.
const TERM_MIN: usize = 3;
const ACCENTS: RangeInclusive<char> = '\u{300}'..='\u{36f}';

/// Returns `text` in lower case, decomposed (NFD) and without accents (U+0300 to U+036F).
pub(crate) fn normalize(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.to_lowercase()
        .nfd()
        .filter(|c| !ACCENTS.contains(c))
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term<'a> {
    pub(crate) text: &'a str,
    /// Where it starts in the normalized text, in bytes.
    pub(crate) start: usize,
}

pub(crate) fn terms(normalized: &str) -> impl Iterator<Item = Term<'_>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = find_border(normalized, rest, true);
        rest = find_border(normalized, start, false);
        let text = &normalized[start..rest];
        (!text.is_empty()).then_some(Term { text, start })
    })
}

/// Returns the words of a normalized text; of scripts without spaces between words, overlapping pairs of letters.
pub(crate) fn units(normalized: &str) -> impl Iterator<Item = Term<'_>> {
    // Most texts have none of these scripts, which shows without a look at each letter.
    let is_plain = normalized.is_ascii();
    let (mut terms, mut parts) = (terms(normalized), Vec::new().into_iter());
    std::iter::from_fn(move || {
        parts.next().or_else(|| {
            let term = terms.next()?;
            if is_plain || !term.text.contains(is_unspaced) {
                return Some(term);
            }
            parts = divide(term).into_iter();
            parts.next()
        })
    })
}

/// Divides a term into the runs of one kind of script, and a run without spaces into pairs of letters.
fn divide(term: Term<'_>) -> Vec<Term<'_>> {
    // A sign belongs to the letter before it.
    let letters = term
        .text
        .char_indices()
        .filter(|(_, c)| !is_combining_mark(*c));
    let ends = letters
        .clone()
        .skip(1)
        .map(|(at, _)| at)
        .chain([term.text.len()]);
    let letters = letters
        .zip(ends)
        .map(|((at, c), end)| (at, end, is_unspaced(c)));
    let letters: Vec<(usize, usize, bool)> = letters.collect();
    let mut parts = Vec::new();
    for run in letters.chunk_by(|a, b| a.2 == b.2) {
        let length = if run[0].2 {
            2.min(run.len())
        } else {
            run.len()
        };
        parts.extend(run.windows(length).map(|part| {
            let (start, end) = (part[0].0, part[length - 1].1);
            Term {
                text: &term.text[start..end],
                start: term.start + start,
            }
        }));
    }
    parts
}

/// Returns whether a letter is of a script without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns whether a normalized word counts: it has three characters, or two letters of a script without spaces.
pub(crate) fn is_long_enough(word: &str) -> bool {
    let has = |length: usize| word.chars().nth(length - 1).is_some();
    word.len() >= TERM_MIN && (has(TERM_MIN) || has(2) && word.starts_with(is_unspaced))
}

/// Returns whether a message can name a tag, which is one word that counts or several words.
pub(crate) fn can_be_named(tag: &str) -> bool {
    let normalized = normalize(tag);
    let mut words = units(normalized.trim());
    let first = words.next();
    words.next().is_some()
        || first.is_some_and(|word| word.text == normalized.trim() && is_long_enough(word.text))
}

/// Finds the first character from `start` on that begins a word, or that is in none; else the end of the text.
fn find_border(text: &str, start: usize, is_word: bool) -> usize {
    // A sign belongs to the letter before it, so it begins no word and ends none.
    let is_part = |c: char| c.is_alphanumeric() || (!is_word && is_combining_mark(c));
    let (bytes, mut at) = (text.as_bytes(), start);
    loop {
        // Most characters are ASCII, which takes no decoding.
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii()) {
            if byte.is_ascii_alphanumeric() == is_word {
                return at;
            }
            at += 1;
        }
        match text[at..].chars().next() {
            Some(c) if is_part(c) != is_word => at += c.len_utf8(),
            _ => return at,
        }
    }
}

/// Returns whether words contain this character: a letter, a digit, or a sign of one.
fn is_in_words(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Returns whether `word` is `keyword` or one of its common forms: plan, plans, planned, planning.
/// Both are normalized single words.
pub(crate) fn is_form_of(word: &str, keyword: &str) -> bool {
    // All forms begin alike, but of a single letter nothing may be left. Most words end here.
    if keyword.len() > 1 && word.bytes().next() != keyword.bytes().next() {
        return false;
    }
    let Some(ending) = word.strip_prefix(keyword) else {
        return is_changed_stem(word, keyword);
    };
    if matches!(ending, "" | "s" | "ed" | "ing") {
        return true;
    }
    match keyword.chars().next_back() {
        Some('e') => ending == "d",
        Some('s' | 'x' | 'z' | 'h') if ending == "es" => true,
        Some(last) if last.is_ascii_alphabetic() && !"aeiouy".contains(last) => ending
            .strip_prefix(last)
            .is_some_and(|rest| matches!(rest, "ed" | "ing")),
        _ => false,
    }
}

/// Covers forms that change the end of the keyword: execute, executing; verify, verifies, verified.
fn is_changed_stem(word: &str, keyword: &str) -> bool {
    if let Some(stem) = keyword.strip_suffix('e') {
        return word.strip_prefix(stem) == Some("ing");
    }
    let Some(stem) = keyword.strip_suffix('y') else {
        return false;
    };
    matches!(word.strip_prefix(stem), Some("ies" | "ied"))
}

/// A text that keywords are looked up in, read once.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    normalized: String,
    places: Vec<(usize, usize)>,
}

impl Words {
    pub(crate) fn parse(text: &str) -> Words {
        let normalized = normalize(text);
        let mut places = Vec::with_capacity(normalized.len() / 5 + 1);
        places.extend(units(&normalized).map(|term| (term.start, term.start + term.text.len())));
        Words { normalized, places }
    }

    /// Returns all words in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.places.len()).map(|at| self.get(at))
    }

    pub(crate) fn get(&self, at: usize) -> &str {
        let (start, end) = self.places[at];
        &self.normalized[start..end]
    }

    /// Finds the parts of the text that match a normalized pattern: a word as it is written, a beginning of
    /// words (`summar*`), or several of them in a row (`extract* entities`).
    pub(crate) fn fitting<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = &'a str> {
        let parts: Vec<&str> = pattern.split(' ').collect();
        let word = |place: &(usize, usize)| &self.normalized[place.0..place.1];
        self.places.windows(parts.len()).filter_map(move |row| {
            let fits = row.iter().zip(&parts).all(|(place, part)| {
                let stem = part.strip_suffix('*');
                stem.map_or(word(place) == *part, |stem| word(place).starts_with(stem))
            });
            fits.then(|| &self.normalized[row[0].0..row[row.len() - 1].1])
        })
    }

    /// Finds the position of a normalized keyword, in bytes. A keyword of letters and digits matches
    /// whole words in their common forms; any other (`lib/`) matches as written, at the start of a
    /// word.
    pub(crate) fn find(&self, keyword: &str) -> Option<usize> {
        let is_plain = keyword.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_plain && keyword.contains(is_unspaced) {
            return self.normalized.find(keyword);
        }
        if is_plain || keyword.chars().all(is_in_words) {
            let is_form =
                |place: &&(usize, usize)| is_form_of(&self.normalized[place.0..place.1], keyword);
            return self.places.iter().find(is_form).map(|place| place.0);
        }
        self.normalized
            .match_indices(keyword)
            .map(|(start, _)| start)
            .find(|start| !self.normalized[..*start].ends_with(is_in_words))
    }
}

/// The rank of a candidate: more points first, then the earliest evidence, then the first listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    pub(crate) points: u32,
    /// Position of its first evidence (of a tag in its list, of a word in a text).
    pub(crate) position: usize,
    pub(crate) order: usize,
}

impl Rank {
    pub(crate) fn key(&self) -> (Reverse<u32>, usize, usize) {
        (Reverse(self.points), self.position, self.order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizing_removes_case_and_accents_of_latin_only() {
        for (text, expected) in [
            ("Research", "research"),
            ("Évaluation", "evaluation"),
            ("DISEÑO", "diseno"),
            ("Исследование", "исследование"),
            ("İ", "i"),
            ("e\u{301}\u{36f}te", "ete"),
            ("लड़की", "लड\u{93c}की"),
            ("バ", "ハ\u{3099}"),
            ("ש\u{5c1}\u{5b8}", "ש\u{5b8}\u{5c1}"),
            ("a\u{1ab0}\u{20d7}", "a\u{1ab0}\u{20d7}"),
            ("", ""),
        ] {
            assert_eq!(normalize(text), expected);
        }
    }

    #[test]
    fn terms_are_runs_of_letters_and_digits_with_their_place() {
        let found: Vec<_> = terms("2x + five, snake_case 日本")
            .map(|t| (t.text, t.start))
            .collect();
        assert_eq!(
            found,
            [
                ("2x", 0),
                ("five", 5),
                ("snake", 11),
                ("case", 17),
                ("日本", 22)
            ]
        );
    }

    #[test]
    fn signs_belong_to_letter_before_them() {
        for (text, expected) in [
            ("लड़का, लड़की", &["लड\u{93c}का", "लड\u{93c}की"][..]),
            ("हिन्दी", &["हिन्दी"]),
            ("バス ハス", &["ハ\u{3099}ス", "ハス"]),
            ("\u{93c}war \u{93c} a\u{93c}", &["war", "a\u{93c}"]),
        ] {
            let normalized = normalize(text);
            let found: Vec<&str> = terms(&normalized).map(|term| term.text).collect();
            assert_eq!(found, expected, "{text}");
        }
        for (text, keyword, expected) in [
            ("लड़की, लड़का", "लड़का", Some(17)),
            ("लड़की", "लड", None),
            ("लड़की", "लड़", None),
            ("लड़/a", "/a", None),
        ] {
            assert_eq!(
                Words::parse(text).find(&normalize(keyword)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn words_match_in_their_common_forms_and_never_inside_others() {
        for (keyword, forms) in [
            ("plan", "plan plans planned planning"),
            ("test", "test tests tested testing"),
            ("execute", "execute executes executed executing"),
            ("verify", "verify verifies verified verifying"),
            ("publish", "publish publishes published publishing"),
            ("ship", "ship ships shipped shipping"),
            ("doc", "doc docs"),
            ("create", "create creates created creating"),
        ] {
            for form in forms.split(' ') {
                assert!(is_form_of(form, keyword), "{form} is a form of {keyword}");
            }
        }
        for (word, keyword) in [
            ("latest", "test"),
            ("airplane", "plan"),
            ("plant", "plan"),
            ("planet", "plan"),
            ("special", "spec"),
            ("dockerize", "doc"),
            ("rebuild", "build"),
            ("explanation", "plan"),
            ("testament", "test"),
            ("creature", "create"),
        ] {
            assert!(
                !is_form_of(word, keyword),
                "{word} is not a form of {keyword}"
            );
        }
    }

    #[test]
    fn keywords_with_other_chars_match_as_written() {
        assert_eq!(Words::parse("Move lib/core.sh").find("lib/"), Some(5));
        assert_eq!(Words::parse("/usr/lib/x").find("lib/"), Some(5));
        assert_eq!(Words::parse("glib/core").find("lib/"), None);
        assert_eq!(Words::parse("a library").find("lib/"), None);
    }

    #[test]
    fn patterns_fit_whole_words_beginnings_and_words_in_row() {
        let words = Words::parse("Extracting entities: summaries, a SUMMARY; search research");
        for (pattern, expected) in [
            ("summar*", &["summaries", "summary"][..]),
            ("summary", &["summary"]),
            ("search", &["search"]),
            ("extract* entities", &["extracting entities"]),
            ("entities summar*", &["entities: summaries"]),
            ("ner", &[]),
        ] {
            let found: Vec<&str> = words.fitting(pattern).collect();
            assert_eq!(found, expected, "{pattern}");
        }
    }

    #[test]
    fn ranks_sort_by_points_then_position_then_order() {
        let rank = |points, position, order| Rank {
            points,
            position,
            order,
        };
        let mut ranks = [rank(1, 0, 0), rank(2, 3, 1), rank(2, 1, 2), rank(2, 1, 1)];
        ranks.sort_by_key(Rank::key);
        assert_eq!(
            ranks,
            [rank(2, 1, 1), rank(2, 1, 2), rank(2, 3, 1), rank(1, 0, 0)]
        );
    }
}
