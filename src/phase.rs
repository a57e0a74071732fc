//! Phases of a project: in which order, and which one the project is in.

use std::collections::BTreeMap;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::task::Status;
use crate::words::closed;

pub(crate) type Counts = BTreeMap<Status, u64>;

/// A phase that was added, set or begun. Others come into being when a task names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Phase {
    /// Its name in tasks: letters, digits, `.`, `_` and `-`.
    pub(crate) slug: String,
    /// Its place among the others, from 1.
    pub(crate) position: u32,
    /// Display name.
    pub(crate) name: String,
    /// Its purpose; may be empty.
    pub(crate) description: String,
    pub(crate) status: PhaseStatus,
    /// When it was first begun, RFC 3339 in UTC.
    pub(crate) started_at: Option<String>,
    /// When it was completed, RFC 3339 in UTC.
    pub(crate) completed_at: Option<String>,
}

impl Phase {
    pub(crate) fn new(slug: &str, position: u32) -> Phase {
        Phase {
            slug: slug.to_string(),
            position,
            name: slug.to_string(),
            description: String::new(),
            status: PhaseStatus::Pending,
            started_at: None,
            completed_at: None,
        }
    }

    /// Moves it to `status` at `now` and keeps its times true.
    pub(crate) fn move_to(&mut self, status: PhaseStatus, now: &str) {
        self.status = status;
        if status == PhaseStatus::Active && self.started_at.is_none() {
            self.started_at = Some(now.to_string());
        }
        self.completed_at = (status == PhaseStatus::Completed).then(|| now.to_string());
    }
}

closed! {
    PhaseStatus, "status of a phase":
    /// Not begun, or left again.
    Pending = "pending",
    /// The one that the project is in.
    Active = "active",
    /// Over.
    Completed = "completed",
}

#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct StartPhase {
    /// The phase
    #[serde(rename = "name")]
    pub(crate) phase: String,
}

#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct CompletePhase {
    /// The phase [default: the current one]
    #[serde(rename = "name")]
    pub(crate) phase: Option<String>,

    /// Complete the phase although it has open tasks
    #[arg(long)]
    pub(crate) force: bool,
}
