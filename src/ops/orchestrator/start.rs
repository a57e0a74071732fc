//! Everything that an orchestrating agent needs to begin, in under a thousand tokens.

use serde::Serialize;

use super::budget::Budget;
use super::few::{Few, Size, fit};
use super::overview::{Collected, Overview};
use crate::claim::Claim;
use crate::error::Result;
use crate::estimate;
use crate::ops::Context;
use crate::ops::tasks::Below;
use crate::task::{Status, TaskView};

/// Most tokens of the answer; the envelope around it takes some more, and all stays below 1,000.
const TOKENS: usize = 900;
/// Most ready tasks that are read.
const READY_MAX: u32 = 12;
/// How many problems are told.
const PROBLEMS_SHOWN: usize = 3;

/// Where the work stands and what comes next.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Start {
    #[serde(flatten)]
    pub(crate) overview: Overview,
    /// The most urgent ready task.
    pub(crate) next: Option<TaskView>,
    /// Claims whose lease ran out.
    pub(crate) expired_claims: Few<Claim>,
    /// What stands in the way.
    pub(crate) problems: Vec<String>,
    /// What this answer costs.
    pub(crate) budget: Budget,
}

/// Reads where the work of an epic, or all of it, stands. Its cost is compared with the tokens that an orchestrator
/// may use.
pub(crate) fn start(context: &mut Context, part: Below) -> Result<Start> {
    let limit = context.surroundings.defaults.context_tokens;
    let found = Collected::read(context, part.epic, READY_MAX)?;
    let answer = fit(TOKENS, |size| cut(&found, size, limit));
    Ok(weighed(answer))
}

/// Notes what the answer itself costs. The number is a part of the answer, so it is looked for
/// until it fits.
fn weighed(mut answer: Start) -> Start {
    let limit = answer.budget.limit;
    for _ in 0..4 {
        let tokens = estimate::tokens_of(&answer);
        answer.budget = Budget::of(tokens, limit, estimate::METHOD);
    }
    answer
}

fn cut(found: &Collected, size: Size, limit: usize) -> Start {
    let facts = &found.facts;
    let held = |claim: &Claim| Claim {
        holder: claim.holder.as_ref().map(|holder| size.cut(holder)),
        ..claim.clone()
    };
    Start {
        overview: found.overview(size),
        next: found.first.first().map(|task| size.view(task)),
        expired_claims: size.few(&facts.ran_out, facts.ran_out.len(), held),
        problems: problems(found, size),
        budget: Budget::of(0, limit, estimate::METHOD),
    }
}

fn problems(found: &Collected, size: Size) -> Vec<String> {
    let all = &found.ready.problems;
    let told = all.iter().take(PROBLEMS_SHOWN);
    let mut problems: Vec<String> = told.map(|one| size.cut(&one.message)).collect();
    if all.len() > PROBLEMS_SHOWN {
        problems.push(format!("and {} more", all.len() - PROBLEMS_SHOWN));
    }
    let n_blocked = found.facts.count(Status::Blocked);
    if n_blocked > 0 {
        problems.push(format!("{n_blocked} blocked: cleo list --status blocked"));
    }
    problems
}
