//! From a task, a skill and protocols to a prompt that provably carries the protocol. Pure: the
//! same input gives the same bytes.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result, is_control_character, quote};
use crate::estimate;
use crate::id::digest;
use crate::protocol::block::{self, Violation};
use crate::protocol::{ProtocolFile, Situation};
use crate::task::Note;
use crate::template::{Bindings, UNSAID, has_token, inject};

/// Maximum number of notes in a prompt.
const NOTES_MAX: usize = 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub(crate) situation: Situation<'a>,
    pub(crate) base: &'a ProtocolFile,
    /// The conditional protocols in their order.
    pub(crate) protocols: &'a [ProtocolFile],
    /// The embedded protocols, the base first: `force_inject` adds them, and `strict` compares with them.
    pub(crate) known: &'a [ProtocolFile],
    /// The task section for a skill that has none.
    pub(crate) task_context: &'a str,
    pub(crate) bindings: &'a Bindings,
    pub(crate) force_inject: bool,
    pub(crate) strict: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Prepared {
    pub(crate) prompt: String,
    pub(crate) prompt_digest: String,
    /// The protocols in the block, base first.
    #[serde(skip)]
    pub(crate) protocols: Vec<UsedProtocol>,
    pub(crate) token_estimate: TokenEstimate,
    pub(crate) token_resolution: TokenResolution,
    #[serde(skip)]
    pub(crate) injected_by_force: bool,
}

/// A protocol in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct UsedProtocol {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Digest of its text before tokens are replaced.
    pub(crate) digest: String,
    pub(crate) why: String,
}

/// Estimated tokens of a prompt for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct TokenEstimate {
    pub(crate) method: &'static str,
    pub(crate) total: usize,
    /// Each section in the order of the prompt.
    pub(crate) sections: Vec<Section>,
}

/// Estimated tokens of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Section {
    /// `skill`, `task` or `protocol`.
    pub(crate) name: &'static str,
    pub(crate) tokens: usize,
    pub(crate) bytes: usize,
}

/// Whether all tokens of a prompt were resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenResolution {
    /// True if no token is left.
    pub(crate) fully_resolved: bool,
    /// Number of different tokens that are left.
    pub(crate) unresolved_count: usize,
    /// Their names, sorted.
    pub(crate) unresolved_tokens: Vec<String>,
}

pub(crate) fn prepare(input: &Input<'_>) -> Result<Prepared> {
    input.bindings.check_required()?;
    let Input { situation, .. } = input;
    // A skill that brings its own protocol gets no other.
    let stack_of = |base, others| select_protocols(base, others, situation);
    let own = situation.skill.own_protocol;
    let mut stack = (!own).then(|| stack_of(input.base, input.protocols));
    let parts = split_into_parts(input, stack.as_deref());
    let mut prepared = fill_tokens(&parts, input.bindings);
    let violations = violations(input, &parts, &prepared.prompt);
    if !violations.is_empty() {
        let Some((base, others)) = input.known.split_first().filter(|_| input.force_inject) else {
            return Err(protocol_missing(&violations, input));
        };
        stack = Some(stack_of(base, others));
        prepared = fill_tokens(
            &self::split_into_parts(input, stack.as_deref()),
            input.bindings,
        );
        prepared.injected_by_force = true;
    }
    prepared.protocols = list_used_protocols(stack.as_deref(), situation);
    match input.strict && !prepared.token_resolution.fully_resolved {
        true => Err(refuse_unresolved(&prepared.token_resolution, input)),
        false => Ok(prepared),
    }
}

pub(crate) type Stack<'a> = Vec<&'a ProtocolFile>;

/// Sections of a prompt by name, as templates. Each ends with its line, so no token continues in
/// the next one.
type Parts = Vec<(&'static str, String)>;

fn fill_tokens(parts: &Parts, bindings: &Bindings) -> Prepared {
    let (mut prompt, mut unresolved, mut sections) = (String::new(), BTreeSet::new(), Vec::new());
    for (name, template) in parts {
        let injected = inject(template, bindings);
        let text = escape_control_characters(injected.text);
        sections.push(Section {
            name,
            tokens: estimate::tokens(&text),
            bytes: text.len(),
        });
        prompt.push_str(&text);
        unresolved.extend(injected.unresolved);
    }
    Prepared {
        prompt_digest: digest(&prompt),
        prompt,
        protocols: Vec::new(),
        token_estimate: TokenEstimate {
            method: estimate::METHOD,
            total: sections.iter().map(|section| section.tokens).sum(),
            sections,
        },
        token_resolution: TokenResolution {
            fully_resolved: unresolved.is_empty(),
            unresolved_count: unresolved.len(),
            unresolved_tokens: unresolved.into_iter().collect(),
        },
        injected_by_force: false,
    }
}

/// Makes control characters and other invisible ones visible, except tabs and ends of lines: a prompt is printed as it
/// is, and an agent would read what nobody sees. The digest of a prompt is that of the outcome.
fn escape_control_characters(text: String) -> String {
    // Joiners and marks of direction belong to some scripts.
    let is_text = |c| matches!(c, '\n' | '\t' | '\u{61c}' | '\u{200c}'..='\u{200f}');
    let is_hidden = |c: char| is_control_character(c) && !is_text(c);
    // A prompt is nearly all of these, which need not be decoded.
    let is_plain = |byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let is_hidden_at = |at| text.is_char_boundary(at) && text[at..].starts_with(is_hidden);
    let mut bytes = text.bytes().enumerate();
    if !bytes.any(|(at, byte)| !is_plain(byte) && is_hidden_at(at)) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => shown.push(c),
            c if is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Returns the protocols of a block: the base, then those that apply, in their order.
pub(crate) fn select_protocols<'a>(
    base: &'a ProtocolFile,
    others: &'a [ProtocolFile],
    situation: &Situation<'_>,
) -> Stack<'a> {
    let mut stack: Stack<'a> = others
        .iter()
        .filter(|file| file.explain_why_applies(situation).is_some())
        .collect();
    stack.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    stack.insert(0, base);
    stack
}

/// Checks the template, the prompt without free text and the real prompt, so that the text of a task can neither
/// make a prompt pass nor fail.
fn violations(input: &Input<'_>, parts: &Parts, prompt: &str) -> Vec<Violation> {
    let template: String = parts.iter().map(|(_, text)| text.as_str()).collect();
    let masked = input.bindings.without_free_text();
    let mut found = check_prompt(input, &inject(&template, &masked).text);
    if found.is_empty() {
        found = block::check_template(&template);
    }
    if found.is_empty() {
        found = check_prompt(input, prompt);
    }
    found
}

fn check_prompt(input: &Input<'_>, prompt: &str) -> Vec<Violation> {
    if input.strict {
        block::check_strictly(prompt, input.known)
    } else {
        block::check(prompt)
    }
}

/// Returns the sections of the prompt as templates: the skill, which is the same for every task, then the task,
/// then the protocol, which has the most effect at the end.
fn split_into_parts(input: &Input<'_>, stack: Option<&[&ProtocolFile]>) -> Parts {
    let skill = input.situation.skill;
    // A block that is added by force replaces that of the skill.
    let replaced = stack.filter(|_| skill.own_protocol);
    let replaced = replaced.map(|_| block::remove(skill.body()));
    let body = replaced.as_deref().unwrap_or(skill.body()).trim();
    let has_task = ["TASK_DESCRIPTION", "TASK_INSTRUCTIONS"]
        .iter()
        .any(|name| has_token(body, name));
    let (skill, task) = match body.rfind("\n## Task\n").filter(|_| has_task) {
        Some(at) => (&body[..at], body[at + 1..].to_string()),
        None if has_task => (body, String::new()),
        None => (body, input.task_context.trim().to_string()),
    };
    let mut parts = vec![("skill", format!("{}\n\n", skill.trim_end()))];
    if !task.is_empty() {
        parts.push(("task", leave_out_unsaid(&task, input.bindings)));
    }
    let mut extra = ["EARLIER_WORK", "TASK_NOTES"].to_vec();
    extra.retain(|name| input.bindings.get(name).is_some());
    if let Some((_, text)) = parts.last_mut().filter(|_| !extra.is_empty()) {
        let extra = extra.iter().map(|name| format!("{{{{{name}}}}}\n"));
        *text = add_before_block(text, &extra.collect::<String>());
    }
    parts.extend(stack.map(|files| ("protocol", block::compose(files))));
    parts
}

/// Adds text to a prompt, before the protocol block, which must come last.
pub(crate) fn add_before_block(prompt: &str, text: &str) -> String {
    let (before, block) = prompt.split_at(block::find_start(prompt).unwrap_or(prompt.len()));
    let between = if block.is_empty() { "" } else { "\n" };
    format!("{}\n\n{text}{between}{block}", before.trim_end())
}

/// Writes the last notes of a task as a section, each line quoted, so that none looks like a part of the prompt.
pub(crate) fn format_notes<'a>(notes: impl IntoIterator<Item = &'a Note>) -> Option<String> {
    let notes = Vec::from_iter(notes);
    let mut text = "## Notes on the task\n".to_string();
    for note in notes.iter().skip(notes.len().saturating_sub(NOTES_MAX)) {
        text += &format!("\n{}, {}:\n", note.by, note.at);
        let lines = note.text.lines();
        text.extend(lines.map(|line| format!("> {line}\n")));
    }
    (!notes.is_empty()).then_some(text)
}

/// Leaves out the sections of a task that hold nothing but a value that says nothing.
fn leave_out_unsaid(task: &str, bindings: &Bindings) -> String {
    let task = format!("{task}\n\n### Related tasks\n\n{{{{RELATED_TASKS}}}}");
    let is_said = |section: &&str| {
        let text = section.split_once('\n').map_or("", |(_, text)| text.trim());
        let mut unsaid = UNSAID
            .iter()
            .filter(|(name, value)| bindings.get(name).is_none_or(|own| own == *value));
        !unsaid.any(|(name, _)| has_token(text, name) && text.len() == name.len() + 4)
    };
    let sections: Vec<&str> = task.split("\n### ").filter(is_said).collect();
    sections.join("\n### ").trim_end().to_string() + "\n\n"
}

fn list_used_protocols(
    stack: Option<&[&ProtocolFile]>,
    situation: &Situation<'_>,
) -> Vec<UsedProtocol> {
    let used = |file: &&ProtocolFile| UsedProtocol {
        name: file.name.clone(),
        version: file.version.clone(),
        digest: file.digest(),
        why: file
            .explain_why_applies(situation)
            .unwrap_or_else(|| "always".to_string()),
    };
    stack.unwrap_or_default().iter().map(used).collect()
}

/// The error of the specification for a prompt without the protocol, with a fix that adds it.
fn protocol_missing(violations: &[Violation], input: &Input<'_>) -> Error {
    let Situation { task, skill, .. } = input.situation;
    let faults: Vec<&str> = violations
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    let message = format!(
        "SPAWN BLOCKED: the prompt for {} fails the SUBAGENT PROTOCOL check: {}",
        task.id,
        faults.join("; ")
    );
    // Without `--strict` an edited base would pass, and nothing would be added.
    let strict = if input.strict { " --strict" } else { "" };
    Error::new(Code::ProtocolMissing, message)
        .fix(format!(
            "cleo orchestrator spawn {}{} --force-inject{strict}",
            task.id,
            template_option(&skill.name)
        ))
        .or(
            "print the block to append it yourself",
            format!("cleo research inject {}", task.id),
        )
}

/// Returns the option that names a skill; a name with a leading dash would be read as an option.
fn template_option(skill: &str) -> String {
    let joint = if skill.starts_with('-') { '=' } else { ' ' };
    format!(" --template{joint}{}", quote(skill))
}

fn refuse_unresolved(resolution: &TokenResolution, input: &Input<'_>) -> Error {
    let Situation { task, skill, .. } = input.situation;
    let names = resolution.unresolved_tokens.join(", ");
    let message = format!(
        "the prompt for {} from {} leaves tokens unresolved: {names}",
        task.id, skill.name
    );
    let force = if input.force_inject {
        " --force-inject"
    } else {
        ""
    };
    Error::new(Code::TokensUnresolved, message)
        .fix(format!(
            "cleo orchestrator spawn {}{}{force}",
            task.id,
            template_option(&skill.name)
        ))
        .or(
            "look at the template",
            format!("cleo skills show {}", quote(&skill.name)),
        )
}

#[cfg(test)]
mod tests;
