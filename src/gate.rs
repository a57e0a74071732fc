//! The six gates of a task, in order, and what proves them. Rules: two-tier-subagents notes,
//! section 6.

mod criterion;
mod evidence;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};
use crate::words::closed;

pub(crate) use criterion::{Criterion, find_shell_sign, for_shells, in_shell, words};
pub(crate) use evidence::{
    Cause, Evidence, Freshness, Origin, Present, Proof, check_url, freshness,
};

/// Rounds that a task may take: each failed gate begins a new one. A failure after the last is
/// recorded like any other, but the number of the round stays.
pub(crate) const ROUNDS_MAX: u32 = 5;

/// Agents that may set a gate.
pub(crate) const AGENTS: [&str; 7] = [
    "planner", "coder", "testing", "qa", "cleanup", "security", "docs",
];

closed! {
    /// A gate; the order is the order in which they are passed.
    Gate, "gate":
    /// The work is written.
    Implemented = "implemented",
    /// Its tests pass.
    TestsPassed = "testsPassed" | "tests-passed" | "testspassed",
    /// It was reviewed.
    QaPassed = "qaPassed" | "qa-passed" | "qapassed",
    /// Temporary files and code are removed.
    CleanupDone = "cleanupDone" | "cleanup-done" | "cleanupdone",
    /// It opens no security hole.
    SecurityPassed = "securityPassed" | "security-passed" | "securitypassed",
    /// It is documented.
    Documented = "documented",
}

impl Gate {
    /// Reads a gate that somebody names.
    pub(crate) fn read(text: &str) -> Result<Gate> {
        text.parse()
            .map_err(|why: String| Error::new(Code::GateUnknown, why))
    }
}

/// Adds a look at the open gates to an error: what proves them is not known.
pub(crate) fn or_look(task: &str, error: Error) -> Error {
    error
        .fix(format!("cleo verify {task}"))
        .or("see how a gate is passed on evidence", "cleo verify --help")
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Record {
    pub(crate) passed: bool,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Its author (`CLEO_AGENT`, else user and host).
    pub(crate) by: String,
    /// In which role, if one was named.
    pub(crate) agent: Option<String>,
    /// True when an earlier gate was open.
    pub(crate) forced: bool,
    /// The evidence: one piece at least.
    pub(crate) evidence: Vec<Evidence>,
    /// The mark of the user for whom it passed. It is never shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub(crate) mark: Option<String>,
}

impl Record {
    pub(crate) fn is_proven(&self) -> bool {
        let has_succeeded = |each: &Evidence| each.outcome() == Some(true);
        self.passed && self.evidence.iter().any(has_succeeded)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Gates {
    pub(crate) gates: BTreeMap<Gate, Record>,
    /// How often a gate has failed, [`ROUNDS_MAX`] at most.
    pub(crate) round: u32,
    /// Each failure, oldest first.
    pub(crate) failures: Vec<Failure>,
    /// The gates that the task names as its own; none means the usual ones.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) required: BTreeSet<Gate>,
    /// Records of acceptance criteria, by their line: a changed line is another criterion.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) criteria: BTreeMap<String, Record>,
    /// Records of gates that a command had proven before a failure opened them again.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) opened_proofs: BTreeMap<Gate, Record>,
    /// The completion by force, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forced: Option<Forced>,
}

/// A completion of a task that had not earned it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Forced {
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    pub(crate) by: String,
    /// The faults at that time.
    pub(crate) reasons: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Failure {
    pub(crate) gate: Gate,
    /// The round that it began; the last, for all failures after it.
    pub(crate) round: u32,
    pub(crate) record: Record,
}

impl Gates {
    /// Returns whether a command has shown that a needed gate holds, which no statement does.
    pub(crate) fn has_proof(&self) -> bool {
        let needed = self.list_needed().into_iter();
        let mut records = needed.filter_map(|gate| self.gates.get(&gate));
        records.any(Record::is_proven)
    }

    /// Returns whether completing the task depends on its gates: one was set, or is named as needed.
    pub(crate) fn has_gates(&self) -> bool {
        !self.gates.is_empty() || !self.required.is_empty()
    }

    pub(crate) fn needs(&self, gate: Gate) -> bool {
        match self.required.is_empty() {
            true => gate != Gate::CleanupDone,
            false => self.required.contains(&gate),
        }
    }

    pub(crate) fn list_needed(&self) -> Vec<Gate> {
        let all = Gate::ALL.iter().copied();
        all.filter(|gate| self.needs(*gate)).collect()
    }

    pub(crate) fn open(&self) -> Vec<Gate> {
        let needed = self.list_needed().into_iter();
        needed.filter(|gate| !self.has_passed(*gate)).collect()
    }

    fn has_passed(&self, gate: Gate) -> bool {
        self.gates.get(&gate).is_some_and(|record| record.passed)
    }

    pub(crate) fn open_before(&self, gate: Gate) -> Vec<Gate> {
        let open = self.open().into_iter();
        open.filter(|other| *other < gate).collect()
    }

    /// Checks that the gate may be set: to pass it while an earlier one is open takes force. A
    /// failure may always be recorded, because a gate that does not hold must not stay passed.
    pub(crate) fn check(&self, task: &str, gate: Gate, passed: bool, force: bool) -> Result<()> {
        let open = self.open_before(gate);
        if !passed || open.is_empty() || force {
            return Ok(());
        }
        let names: Vec<&str> = open.iter().map(|gate| gate.word()).collect();
        let message = format!(
            "{gate} of {task} comes after {}, still open",
            names.join(", ")
        );
        Err(or_look(task, Error::new(Code::GateOrder, message)))
    }

    /// Drops records that rest on git worktrees of runs. The command that proves a gate, and that one failed, stay
    /// known.
    pub(crate) fn forget_worktrees(&mut self) {
        let has_worktree = |one: &Evidence| {
            let worktree = one.origin.worktree.as_ref();
            worktree.is_some_and(|worktree| worktree.contains("/.cleo/runs/"))
        };
        let is_kept = |record: &Record| !record.evidence.iter().any(has_worktree);
        (self.gates).retain(|_, record| !record.passed || record.is_proven() || is_kept(record));
        self.criteria.retain(|_, record| is_kept(record));
    }

    /// Returns the record of the command that proved a gate, also if a failure has opened the gate since.
    pub(crate) fn proof(&self, gate: Gate) -> Option<&Record> {
        let record = self.gates.get(&gate);
        record
            .filter(|record| record.is_proven())
            .or_else(|| self.opened_proofs.get(&gate))
    }

    /// Sets a gate. A failure clears the later gates and begins a new round, if there is one.
    pub(crate) fn set(&mut self, gate: Gate, record: Record) {
        if record.passed {
            self.opened_proofs.remove(&gate);
        } else {
            self.round = (self.round + 1).min(ROUNDS_MAX);
            let opened = self.gates.split_off(&gate).into_iter();
            self.opened_proofs
                .extend(opened.filter(|(_, record)| record.is_proven()));
            self.failures.push(Failure {
                gate,
                round: self.round,
                record: record.clone(),
            });
        }
        self.gates.insert(gate, record);
    }
}

pub(crate) fn check_agent(agent: Option<&str>) -> Result<()> {
    let Some(agent) = agent.filter(|agent| !AGENTS.contains(agent)) else {
        return Ok(());
    };
    let message = format!(
        "there is no agent `{agent}`; agents are {}",
        AGENTS.join(", ")
    );
    Err(Error::new(Code::AgentUnknown, message))
}
