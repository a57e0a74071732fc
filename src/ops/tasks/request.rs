//! Requests about tasks that no single verb owns.

use clap::Args;
use serde::Deserialize;

use crate::id::TaskId;

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct One {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Below {
    /// Only tasks below this one, at any depth
    #[arg(long, value_name = "TASK")]
    pub(crate) epic: Option<TaskId>,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NextRequest {
    /// Only tasks below this one, at any depth
    #[arg(long, value_name = "TASK")]
    pub(crate) epic: Option<TaskId>,

    /// Only tasks that are assigned to this agent or to none
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Extract {
    /// Only tasks below this one, at any depth
    #[arg(long, value_name = "TASK")]
    pub(crate) epic: Option<TaskId>,

    /// Maximum number of items [default: 20 for `ready`, 10 for `analyze`, all for `waves`]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}
