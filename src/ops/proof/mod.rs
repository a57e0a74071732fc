//! Verification: a task is done when what its agent left verifies, and its gates and criteria are proven for the files
//! as they are. Only [`check()`] decides; an agent's words and exit code prove nothing.

mod by_agent;
mod check;
mod complete;
mod entries;
mod evidence;
mod faults;
mod file;
mod left;
mod message;
mod output;
mod prompt;
mod renewal;
mod request;
mod rules;
mod standing;
mod validate;
mod verify;

pub(crate) use check::{Undone, Verdict, check, find_undone};
pub(crate) use complete::{
    Complete, Completion, check_earlier_work, complete, complete_with_parts, has_earlier_work,
    is_unearned, needs_proof,
};
pub(crate) use entries::{ManifestVerdict, WhichEntry, manifest};
pub(crate) use left::{Left, read_left};
pub(crate) use message::{MessageSent, MessageVerdict, check_message, message};
pub(super) use output::check_output;
pub(crate) use output::{Output, OutputVerdict, check_task_output, output};
pub(crate) use prompt::{PromptSent, prompt};
pub(crate) use renewal::{Outcome, Ran, Renewed, renew};
pub(crate) use request::{Acceptance, GateRequest, RenewalRequest, accept_criterion, set_gate};
pub(super) use standing::gates_to_show;
pub(crate) use standing::{CriterionStanding, CriterionState, GateState, Summary, TaskGates, show};
pub(crate) use validate::{Compliance, TaskReport, validate};

use serde::Serialize;

use crate::error::{Code, Error};

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Report {
    /// `pass` or `fail`.
    pub(crate) verdict: &'static str,
    /// The first decides the exit code.
    pub(crate) violations: Vec<Violation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Violation {
    #[serde(serialize_with = "code_name")]
    #[schemars(with = "String")]
    pub(crate) code: Code,
    /// The rule that is broken: `OUT-001`, `MARKER`, …
    pub(crate) rule: String,
    pub(crate) message: String,
}

fn code_name<S: serde::Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}

fn violation(code: Code, rule: &str, message: impl Into<String>) -> Violation {
    Violation {
        code,
        rule: rule.to_string(),
        message: message.into(),
    }
}

impl Report {
    fn new(violations: Vec<Violation>) -> Report {
        let verdict = match violations.is_empty() {
            true => "pass",
            false => "fail",
        };
        Report {
            verdict,
            violations,
        }
    }

    fn add(&mut self, violation: Violation) {
        self.verdict = "fail";
        self.violations.push(violation);
    }

    pub(crate) fn has_passed(&self) -> bool {
        self.violations.is_empty()
    }

    fn join_messages(&self) -> String {
        let messages = self.violations.iter().map(|found| found.message.as_str());
        messages.collect::<Vec<_>>().join("; ")
    }

    pub(crate) fn error(&self, what: &str) -> Option<Error> {
        let first = self.violations.first()?;
        let message = format!("{what} does not verify: {}", self.join_messages());
        Some(Error::new(first.code, message))
    }
}
