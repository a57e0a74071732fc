//! Composes, finds and checks the protocol block of a prompt.
//!
//! The block is the very end of a prompt, so nothing after it can revoke it, and a forged begin or end marker
//! in a task's text can neither replace nor end it. The marker lines may hold nothing else: an agent would
//! read it without a check.

mod filled;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::Serialize;

use super::ProtocolFile;
use crate::id::{TaskId, digest};
use crate::markdown::{html_blocks, remove_comments};
use crate::template::{PROSE, split_at_tokens};
use filled::{find_changed_line, is_filled_in};

const NAME: &str = "SUBAGENT PROTOCOL";

pub(crate) const RULES: [&str; 4] = ["OUT-001", "OUT-002", "OUT-003", "OUT-004"];

/// One way in which a prompt fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Violation {
    /// The rule: `MARKER`, `OUT-001` …, `DIGEST`, `TEXT`.
    pub(crate) rule: String,
    pub(crate) message: String,
}

impl Violation {
    fn new(rule: &str, message: impl Into<String>) -> Violation {
        Violation {
            rule: rule.to_string(),
            message: message.into(),
        }
    }
}

/// Puts the block together: base first, then the others in their order. Tokens stay.
pub(crate) fn compose(files: &[&ProtocolFile]) -> String {
    let text = stack_text(files);
    let version = files.first().map_or("0", |base| base.version.as_str());
    let names: Vec<&str> = files
        .iter()
        .skip(1)
        .map(|file| file.name.as_str())
        .collect();
    let digest = digest(&text);
    let with = if names.is_empty() {
        String::new()
    } else {
        format!(" +{}", names.join("+"))
    };
    format!(
        "<!-- BEGIN {NAME} v{version}{with} {digest} -->\n{text}\n<!-- END {NAME} v{version} -->\n"
    )
}

fn stack_text(files: &[&ProtocolFile]) -> String {
    files
        .iter()
        .map(|file| file.text.as_str())
        .collect::<Vec<_>>()
        .join("\n\n")
}

struct Block<'a> {
    start: usize,
    begin: &'a str,
    inner: &'a str,
    end: &'a str,
}

/// Checks a template before tokens are replaced: the block must be last and hold no prose token, whose value
/// could end the block early or speak in its name.
pub(crate) fn check_template(template: &str) -> Vec<Violation> {
    let block = match find(template) {
        Ok(block) => block,
        Err(violation) => return vec![violation],
    };
    let named = split_at_tokens(block.inner).filter_map(|(_, name)| name);
    let named: BTreeSet<&str> = named.collect();
    let prose = PROSE.iter().filter(|name| named.contains(*name));
    prose
        .map(|name| {
            let message = format!("the block holds {{{{{name}}}}}, which is free text");
            Violation::new("TEXT", message)
        })
        .collect()
}

/// Returns whether the block of a prompt is that of `template` with values in the place of tokens.
pub(crate) fn is_of_template(prompt: &str, template: &str) -> bool {
    match (find(prompt), find(template)) {
        (Ok(block), Ok(own)) => {
            let own_text = unix_lines(own.inner);
            block.begin == own.begin && is_filled_in(&own_text, &unix_lines(block.inner))
        }
        _ => false,
    }
}

/// A copy, or a file of a project, may have come through a program that writes line ends of its own.
pub(super) fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Checks that a prompt without task text ends with a block that has both markers, its name and every rule.
pub(crate) fn check(prompt: &str) -> Vec<Violation> {
    let block = match find(prompt) {
        Ok(block) => block,
        Err(violation) => return vec![violation],
    };
    // A comment is hidden from readers and does not count.
    let inner = remove_comments(block.inner).to_ascii_uppercase();
    let mut violations = Vec::new();
    if !inner.contains(NAME) {
        violations.push(Violation::new(
            "MARKER",
            format!("the block does not name the {NAME}"),
        ));
    }
    // Most lines name no rule.
    let lines = inner.lines().filter(|line| line.contains("OUT-"));
    let stated: BTreeSet<&str> = lines.flat_map(rules_of).collect();
    for rule in RULES.into_iter().filter(|rule| !stated.contains(rule)) {
        let message = format!("the block lacks {rule}: no line of it begins with that");
        violations.push(Violation::new(rule, message));
    }
    violations
}

/// Checks that a block is the only one outside of code, and that nothing before it swallows it.
fn check_place(prompt: &str, block: &Block<'_>) -> Option<Violation> {
    let mut starts = html_blocks(prompt);
    starts.retain(|range| has_block_start(&prompt[range.clone()]));
    let is_seen = starts.iter().any(|range| range.start == block.start);
    let message = match starts.len() {
        1 if is_seen => return None,
        count if is_seen => format!("there are {count} blocks of the {NAME}, and a prompt has one"),
        _ => format!("a code fence or HTML that is open before the {NAME} swallows it"),
    };
    Some(Violation::new("MARKER", message))
}

/// Removes the first block of a template, which another one replaces.
pub(crate) fn remove(template: &str) -> String {
    let begin = find_marker_lines(template).find(|(_, line)| is_begin(line));
    let (before, rest) = template.split_at(begin.map_or(template.len(), |(start, _)| start));
    let end = find_marker_lines(rest).find(|(_, line)| is_end(line));
    let end = end.map_or(rest.len(), |(at, line)| at + line.len());
    format!("{before}{}", &rest[end..])
}

/// Returns where the block of a prompt starts, if it has one.
pub(crate) fn find_start(prompt: &str) -> Option<usize> {
    Some(find(prompt).ok()?.start)
}

/// Returns the rules that an upper-case line begins with, after bullets such as `- **`. A rule that is only
/// mentioned ("after OUT-002 run …") does not count.
fn rules_of(line: &str) -> impl Iterator<Item = &'static str> {
    let line = strip_decoration(line);
    let mut rest = strip_decoration(line.strip_prefix(NAME).unwrap_or(line));
    std::iter::from_fn(move || {
        let (rule, after) = RULES
            .into_iter()
            .find_map(|rule| Some((rule, rest.strip_prefix(rule)?)))?;
        if after.starts_with(char::is_alphanumeric) {
            return None;
        }
        rest = strip_decoration(after);
        Some(rule)
    })
}

fn strip_decoration(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphabetic())
}

/// Also checks that the block is the only one, and a known one: the digest in its marker is that of `known` files, and
/// its text is theirs with values for tokens.
pub(crate) fn check_strictly(prompt: &str, known: &[ProtocolFile]) -> Vec<Violation> {
    let violations = check(prompt);
    let Ok(block) = find(prompt) else {
        return violations;
    };
    let violations = [violations, Vec::from_iter(check_place(prompt, &block))].concat();
    if !violations.is_empty() {
        return violations;
    }
    let Some(files) = find_named_files(block.begin, known) else {
        let message = "the block names a protocol that is not known";
        return vec![Violation::new("DIGEST", message)];
    };
    let text = stack_text(&files);
    if !block.begin.contains(&digest(&text)) {
        let message = "the digest of the block is that of no known version";
        return vec![Violation::new("DIGEST", message)];
    }
    if !is_filled_in(&text, &unix_lines(block.inner)) {
        let line =
            find_changed_line(&text, &unix_lines(block.inner)).zip(prompt.rfind(block.inner));
        let place =
            line.map(|(line, at)| format!(": line {}", prompt[..at].lines().count() + line));
        let message = "the text of the block was changed".to_string() + &place.unwrap_or_default();
        return vec![Violation::new("TEXT", message)];
    }
    let version = files.first().map_or("0", |base| base.version.as_str());
    let is_it = |word: &str| word.strip_prefix('v') == Some(version);
    let has_version = |marker: &str| marker.split_whitespace().any(is_it);
    if !has_version(block.begin) || !has_version(block.end) {
        let message = "the markers of the block name a version that is not known";
        return vec![Violation::new("MARKER", message)];
    }
    Vec::new()
}

/// Describes the change of a block that passes although it differs from the known ones.
pub(crate) fn describe_edit(change: &Violation) -> String {
    let change = &change.message;
    format!("the protocol differs from the known versions: {change}; --strict refuses it")
}

/// Returns whether a known block names `task` wherever it names a task; `None` for an unknown block.
/// Unreplaced tokens name no task.
pub(crate) fn is_for(prompt: &str, known: &[ProtocolFile], task: &str) -> Option<bool> {
    let block = find(prompt).ok()?;
    let text = stack_text(&find_named_files(block.begin, known)?);
    let inner = unix_lines(block.inner);
    let token = "{{TASK_ID}}";
    let is_known = is_filled_in(&text, &inner);
    let fits = |id| is_filled_in(&text.replace(token, id), &inner);
    is_known.then(|| inner.contains(token) || fits(task))
}

fn find(prompt: &str) -> Result<Block<'_>, Violation> {
    let missing = |message: &str| Violation::new("MARKER", message);
    let begin = find_marker_lines(prompt)
        .rev()
        .find(|(_, line)| is_begin(line));
    let Some((start, inner_start)) = begin.map(|(start, line)| (start, start + line.len())) else {
        return Err(missing(
            "there is no line that begins the SUBAGENT PROTOCOL",
        ));
    };
    let rest = &prompt[inner_start..];
    let Some((offset, end)) = find_marker_lines(rest).find(|(_, line)| is_end(line)) else {
        return Err(missing("the SUBAGENT PROTOCOL has no line that ends it"));
    };
    if !rest[offset + end.len()..].trim().is_empty() {
        return Err(missing(
            "text follows the SUBAGENT PROTOCOL, which must come last",
        ));
    }
    Ok(Block {
        start,
        begin: prompt[start..inner_start].trim(),
        inner: &rest[..offset],
        end: end.trim(),
    })
}

/// Returns the few lines that begin like a marker, each with its place.
fn find_marker_lines(text: &str) -> impl DoubleEndedIterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let starts = memchr::memchr_iter(b'<', bytes);
    let starts = starts.filter(|at| *at == 0 || bytes[at - 1] == b'\n');
    starts.map(|at| {
        let line = text[at..].split_inclusive('\n').next();
        (at, line.unwrap_or_default())
    })
}

/// Finds the files that a begin marker names; the base is first in `known`.
fn find_named_files<'a>(begin: &str, known: &'a [ProtocolFile]) -> Option<Vec<&'a ProtocolFile>> {
    let mut files = vec![known.first()?];
    let names = begin
        .split_whitespace()
        .find_map(|word| word.strip_prefix('+'))
        .unwrap_or("");
    for name in names.split('+').filter(|name| !name.is_empty()) {
        files.push(known.iter().find(|file| file.name == name)?);
    }
    Some(files)
}

pub(crate) fn find_task(text: &str) -> Option<TaskId> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix("Id: ")?;
        rest.split_whitespace().next()?.parse().ok()
    })
}

/// Returns true for a begin marker: a version, then optional names of further protocols, then an optional
/// digest.
pub(crate) fn is_begin(line: &str) -> bool {
    let Some(inner) = marker_text(line, "<!-- BEGIN SUBAGENT PROTOCOL ") else {
        return false;
    };
    let mut words = inner.split(' ').peekable();
    let has_version = words.next().is_some_and(is_version);
    words.next_if(|word| {
        let names = word.strip_prefix('+');
        names.is_some_and(|names| names.split('+').all(is_name))
    });
    words.next_if(|word| {
        let digits =
            strip_prefix_ignoring_case(word, "sha256:").filter(|digits| !digits.is_empty());
        digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    has_version && words.next().is_none()
}

fn is_end(line: &str) -> bool {
    marker_text(line, "<!-- END SUBAGENT PROTOCOL ").is_some_and(is_version)
}

fn marker_text<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    let marker = strip_prefix_ignoring_case(line, start)?;
    marker.trim_end().strip_suffix(" -->")
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let own = text.get(..start.len())?;
    let is_it = own.eq_ignore_ascii_case(start);
    is_it.then(|| &text[start.len()..])
}

fn is_name(word: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !word.is_empty() && word.bytes().all(is_part)
}

fn is_version(word: &str) -> bool {
    strip_prefix_ignoring_case(word, "v").is_some_and(is_name)
}

/// Returns true if a text has a line that begins a block, ignoring white space.
pub(crate) fn has_block_start(text: &str) -> bool {
    text.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = words.join(" ").to_ascii_lowercase();
        line.contains("<!-- begin subagent protocol")
    })
}
