//! How gates, criteria and their evidence look.

use crate::cli::screen::{Cell, Screen, Tone, dim, plain, status, strong};
use crate::error::quote_all;
use crate::gate::{Evidence, Gate, Proof, Record};
use crate::ops::proof::{
    CriterionStanding, CriterionState, GateState, Outcome, Ran, Renewed, TaskGates,
};

/// How much of a commit's id is shown, in digits.
const COMMIT_SHOWN: usize = 12;

pub(super) fn render(screen: &mut Screen, result: &TaskGates) {
    screen.field("worktree", result.worktree.as_deref().unwrap_or_default());
    // The table would ask for gates that the task does not use.
    if result.states.is_some() {
        let rows = Gate::ALL.iter().map(|gate| row(*gate, result));
        screen.rows(&["GATE", "STATE", "BY", "EVIDENCE"], rows);
        screen.field("round", result.round);
    } else {
        screen.field("gates", "none in use");
    }
    if !result.criteria.is_empty() {
        screen.line(Tone::Plain, "");
        let rows = result.criteria.iter().map(criterion);
        screen.rows(&["NO", "STATE", "CRITERION", "EVIDENCE"], rows);
    }
    let problem = result.tree.as_ref().and_then(|tree| tree.problem.as_ref());
    screen.field("files", problem.cloned().unwrap_or_default());
    screen.field("missing", result.missing.join(", "));
    failures(screen, result);
}

pub(super) fn render_renewed(screen: &mut Screen, renewed: &Renewed) {
    for ran in &renewed.ran {
        let word = ["fail", "pass"][usize::from(ran.outcome == Outcome::Passed)];
        screen.verdict(word, 5, describe_ran(ran));
    }
    let standing = &renewed.standing;
    if renewed.ran.is_empty() {
        screen.line(Tone::Dim, "nothing to run");
        if standing.states.is_none() && standing.criteria.is_empty() {
            return;
        }
    }
    screen.line(Tone::Plain, "");
    render(screen, &renewed.standing);
}

pub(super) fn describe_ran(ran: &Ran) -> String {
    let what = match (ran.gate, ran.criterion) {
        (Some(gate), _) => gate.to_string(),
        (None, number) => format!("criterion {}", number.unwrap_or_default()),
    };
    match ran.commands.is_empty() {
        true => what,
        false => format!("{what} (`{}`)", ran.commands.join("`, `")),
    }
}

pub(in crate::cli) fn describe_gate(state: GateState) -> &'static str {
    match state {
        GateState::Open => "open",
        GateState::Optional => "open (optional)",
        GateState::Passed => "passed",
        GateState::Forced => "passed by force",
        GateState::Failed => "failed",
        GateState::Stale => "stale",
    }
}

pub(in crate::cli) fn describe_criterion(state: CriterionState) -> &'static str {
    match state {
        CriterionState::Proven => "proven",
        CriterionState::Claimed => "claimed",
        CriterionState::Failed => "failed",
        CriterionState::Stale => "stale",
        CriterionState::Unproven => "unproven",
    }
}

fn row(gate: Gate, result: &TaskGates) -> [Cell; 4] {
    let record = result.gates.get(&gate);
    [
        strong(gate),
        status(describe_gate(result.state(gate))),
        dim(record.map_or("", |record| &record.by)),
        plain(record.map(summaries).unwrap_or_default()),
    ]
}

fn criterion(one: &CriterionStanding) -> [Cell; 4] {
    let evidence = match (&one.record, &one.command) {
        (Some(record), _) => summaries(record),
        (None, Some(command)) => quote_all(command),
        (None, None) => format!(
            "no command; after a look, accept it: --accept {} --note 'why it holds'",
            one.number
        ),
    };
    [
        strong(one.number),
        status(describe_criterion(one.state)),
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
        Proof::Command { command, .. } => match evidence.proof.describe_end() {
            Some(how) => format!("{}: {how}", quote_all(command)),
            None => quote_all(command),
        },
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
