//! How gates, criteria and their evidence look.

use crate::cli::screen::{Cell, Screen, Tone, dim, plain, strong};
use crate::error::quote_all;
use crate::gate::{Evidence, Gate, Proof, Record};
use crate::ops::proof::{
    CriterionStanding, CriterionState, GateState, Outcome, Ran, Renewed, TaskGates,
};

/// How much of a commit's id is shown, in digits.
const COMMIT_SHOWN: usize = 12;

pub(super) fn render(screen: &mut Screen, result: &TaskGates) {
    screen.field("worktree", result.worktree.as_deref().unwrap_or_default());
    let rows = Gate::ALL.iter().map(|gate| row(*gate, result));
    screen.rows(&["GATE", "STATE", "BY", "EVIDENCE"], rows);
    screen.field("round", result.round);
    if !result.criteria.is_empty() {
        screen.line(Tone::Plain, "");
        let rows = result.criteria.iter().map(criterion);
        screen.rows(&["NO", "STATE", "CRITERION", "EVIDENCE"], rows);
    }
    let problem = result.tree.as_ref().and_then(|tree| tree.problem.as_ref());
    screen.field("files", problem.cloned().unwrap_or_default());
    failures(screen, result);
}

pub(super) fn ran(screen: &mut Screen, renewed: &Renewed) {
    for ran in &renewed.ran {
        let (tone, word) = match ran.outcome {
            Outcome::Passed => (Tone::Good, "pass "),
            Outcome::Failed => (Tone::Bad, "fail "),
        };
        screen.say(tone, word).line(Tone::Plain, name(ran));
    }
    if renewed.ran.is_empty() {
        screen.line(Tone::Dim, "nothing to run");
    }
    screen.line(Tone::Plain, "");
    render(screen, &renewed.standing);
}

pub(super) fn name(ran: &Ran) -> String {
    let what = match (ran.gate, ran.criterion) {
        (Some(gate), _) => gate.to_string(),
        (None, number) => format!("criterion {}", number.unwrap_or_default()),
    };
    match ran.commands.is_empty() {
        true => what,
        false => format!("{what} (`{}`)", ran.commands.join("`, `")),
    }
}

pub(in crate::cli) fn state(state: GateState) -> (Tone, &'static str) {
    match state {
        GateState::Open => (Tone::Plain, "open"),
        GateState::Optional => (Tone::Dim, "open (optional)"),
        GateState::Passed => (Tone::Good, "passed"),
        GateState::Forced => (Tone::Warn, "passed by force"),
        GateState::Failed => (Tone::Bad, "failed"),
        GateState::Stale => (Tone::Warn, "stale"),
    }
}

pub(in crate::cli) fn proven(state: CriterionState) -> (Tone, &'static str) {
    match state {
        CriterionState::Proven => (Tone::Good, "proven"),
        CriterionState::Claimed => (Tone::Accent, "claimed"),
        CriterionState::Failed => (Tone::Bad, "failed"),
        CriterionState::Stale => (Tone::Warn, "stale"),
        CriterionState::Unproven => (Tone::Dim, "unproven"),
    }
}

fn row(gate: Gate, result: &TaskGates) -> [Cell; 4] {
    let record = result.gates.get(&gate);
    let (tone, state) = state(result.state(gate));
    [
        strong(gate),
        (tone, state.to_string()),
        dim(record.map_or("", |record| &record.by)),
        plain(record.map(summaries).unwrap_or_default()),
    ]
}

fn criterion(one: &CriterionStanding) -> [Cell; 4] {
    let (tone, state) = proven(one.state);
    let evidence = match (&one.record, &one.command) {
        (Some(record), _) => summaries(record),
        (None, Some(command)) => quote_all(command),
        (None, None) => String::new(),
    };
    [
        strong(one.number),
        (tone, state.to_string()),
        plain(&one.text),
        plain(evidence),
    ]
}

fn summaries(record: &Record) -> String {
    let all: Vec<String> = record.evidence.iter().map(summary).collect();
    all.join("; ")
}

pub(super) fn summary(evidence: &Evidence) -> String {
    match &evidence.proof {
        Proof::Command { command, .. } => quote_all(command),
        Proof::File { path, .. } => format!("file {path}"),
        Proof::Commit { id, .. } => {
            let short: String = id.chars().take(COMMIT_SHOWN).collect();
            format!("commit {short}")
        }
        Proof::Url { url } => url.clone(),
        Proof::Note { text } => format!("note: {text}"),
        Proof::Claim => "claimed".to_string(),
    }
}

fn failures(screen: &mut Screen, result: &TaskGates) {
    let gates = result.gates.iter();
    let gates = gates.map(|(gate, record)| (gate.to_string(), record));
    let criteria = result.criteria.iter().filter_map(|one| {
        let record = one.record.as_ref()?;
        Some((format!("criterion {}", one.number), record))
    });
    for (name, record) in gates.chain(criteria) {
        for each in record
            .evidence
            .iter()
            .filter(|it| it.outcome() == Some(false))
        {
            if let Proof::Command { last_lines, .. } = &each.proof {
                let heading = format!("Last lines for {name}");
                screen.section(&heading, &last_lines.join("\n"));
            }
        }
    }
}
