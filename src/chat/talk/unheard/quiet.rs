//! Words that a reply need not repeat: they say nothing by themselves, or other rules ask about them.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::spoken::Said;
use crate::chat::request::Request;
use crate::chat::vocabulary::{
    ADVICE, ARTICLES, DESIGN, ELEMENTS, PHRASES, POLITE, QUESTIONS, STATUS, STATUS_VERBS, VERBS,
    Verb,
};

/// Words that say nothing by themselves, and those by which other rules ask again.
const QUIET: &str = "about actually added am are as asap at away be been being by called can cannot changed clientid client \
    clients completely component componentid components could currently current d do entire entirely \
    existing field fields for forever from group groups had has have he her here him his i id ids \
    adding changing deleting immediately in instead into is it just kindly let like ll m making may me might mind must named no non not number \
    of off on one page permanently please possible properties property quickly re really removing renamed removed right s security \
    securitygroup set shall she should simply site so soon sorry status still sure t that their them there these \
    they those titled to un updated updating us value values ve want was we website well were whole whose will with \
    would yes yet your";
/// Words in a row that say nothing together.
const PASSED: &[&[&str]] = &[
    &["go", "ahead"],
    &["go", "and"],
    &["i", "need"],
    &["we", "need"],
    &["if", "possible"],
    &["if", "you", "can"],
    &["is", "all"],
    &["i", "think"],
    &["we", "think"],
    &["go", "with"],
    &["what", "about"],
    &["how", "about"],
    &["good", "morning"],
    &["good", "afternoon"],
    &["good", "evening"],
    &["when", "you", "can"],
    &["when", "you", "have", "time"],
    &["when", "possible"],
    &["when", "ready"],
    &["when", "done"],
    &["while", "you", "are", "at", "it"],
    &["once", "you", "are", "ready"],
    &["before", "i", "forget"],
    &["after", "all"],
    &["no", "problem"],
    &["is", "there", "a", "way", "to"],
    &["are", "you", "able", "to"],
];
/// Most words that say what something was.
const BEFORE_MAX: usize = 8;
/// Quiet words that may begin with a capital letter; any other is a name then: "the About card".
const CAPITAL: &[&str] = &[
    "client",
    "clients",
    "component",
    "components",
    "i",
    "id",
    "please",
];
/// Words for all that there is to see.
const SEEN: &str = "again all any both details each every everything info information look looks many one ones only overview";

/// Words for what is shown anyway.
static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let fields = PHRASES.iter().flat_map(|(words, _)| *words);
    let parts = ELEMENTS
        .iter()
        .flat_map(|element| element.words.iter().copied().flatten());
    let words = fields.chain(parts).chain(DESIGN).chain(ADVICE).copied();
    words
        .chain(STATUS.iter().chain(STATUS_VERBS).map(|status| status.0))
        .chain(SEEN.split_whitespace())
        .collect()
});

/// Words for what is to be done.
static DONE: LazyLock<HashSet<&str>> = LazyLock::new(|| VERBS.iter().map(|verb| verb.0).collect());

/// Returns the words that are quiet in a request, which only looks at something or does not.
pub(super) fn quiet(request: &Request, is_read: bool) -> HashSet<&'static str> {
    let lists = [ARTICLES, POLITE].into_iter().flatten().copied();
    let mut quiet: HashSet<&str> = lists.chain(QUIET.split_whitespace()).collect();
    if is_read {
        quiet.extend(QUESTIONS);
        quiet.extend(KNOWN.iter());
    }
    if request.verb == Some(Verb::Create) {
        quiet.insert("another");
    }
    let own = request.verb.unwrap_or(Verb::Update);
    let verbs = VERBS
        .iter()
        .filter(|verb| [own, Verb::Read].contains(&verb.1));
    let is_status = |word: &str| STATUS_VERBS.iter().any(|status| status.0 == word);
    quiet.extend(
        verbs
            .map(|verb| verb.0)
            .filter(|word| is_read || !is_status(word)),
    );
    quiet
}

/// Finds the words that are passed over where they stand: the first verb, some words in a row, and what
/// something was before in "from "Home" to".
pub(super) fn passed(spoken: &[Said], heard: &HashSet<String>) -> HashSet<usize> {
    let open = |at: usize| spoken.get(at).filter(|said| !said.is_quoted);
    let text = |at: usize| open(at).map_or("", |said| said.text.as_str());
    let is_told = |at: usize| {
        spoken
            .get(at)
            .is_some_and(|said| heard.contains(&said.text))
    };
    let is_verb = |at: &usize| DONE.contains(text(*at));
    let mut passed: HashSet<usize> = (0..spoken.len()).find(is_verb).into_iter().collect();
    for at in 0..spoken.len() {
        let is_said = |row: &&&[&str]| (at..).zip(**row).all(|(at, word)| text(at) == *word);
        let row = PASSED.iter().find(is_said);
        passed.extend(at..at + row.map_or(0, |row| row.len()));
        // What it was: "from Home to Welcome", "instead of small".
        let (lead, ends): (usize, &[&str]) = match (text(at), text(at + 1)) {
            ("from", _) => (1, &["to", "into"]),
            ("instead", "of") => (2, &[]),
            _ => continue,
        };
        let from = at + lead;
        let mut rest = from..spoken.len().min(from + BEFORE_MAX);
        let end = rest.find(|end| ends.contains(&text(*end)) || ends.is_empty() && *end > from);
        let is_heard = |end: &usize| ends.is_empty() || is_told(end + 1);
        let end = end.filter(is_heard);
        let end = end.unwrap_or(if ends.is_empty() { from + 1 } else { from });
        passed.extend(from..end);
    }
    passed
}

/// Says whether a word is quiet where it stands. One with a capital letter is a name: "the About card".
pub(super) fn is_quiet(said: &Said, quiet: &HashSet<&str>) -> bool {
    let word = said.text.as_str();
    let is_name = said.is_name && !CAPITAL.contains(&word);
    !said.is_quoted && !is_name && quiet.contains(word)
}
