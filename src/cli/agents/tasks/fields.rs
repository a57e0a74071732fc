//! The fields of a task as options, for `create` and `update`.

use clap::Args;

use crate::ops::agent_tasks::Change;

// A doc comment here would become the help of the commands.
#[derive(Args)]
pub(super) struct Fields {
    /// Full text
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,

    /// The agent that it is assigned to
    #[arg(long = "agent", value_name = "ID")]
    assigned_agent: Option<String>,

    /// low, medium, high or urgent
    #[arg(long, short, value_name = "PRIORITY")]
    priority: Option<String>,

    /// When it is due: a date or an RFC 3339 time
    #[arg(long, value_name = "DATE")]
    due: Option<String>,

    /// Estimated hours, such as 2.5
    #[arg(long, value_name = "HOURS", allow_negative_numbers = true)]
    estimate: Option<f64>,

    /// Tag; may be repeated or separated by commas
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,

    /// Feature that it belongs to
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,
}

impl Fields {
    /// Makes a change of what was said.
    pub(super) fn change(self, title: Option<String>) -> Change {
        Change {
            title,
            description: self.description,
            priority: self.priority,
            assigned_to: self.assigned_agent,
            due_date: self.due,
            estimated_hours: self.estimate,
            tags: self.tags,
            feature: self.feature,
            ..Change::default()
        }
    }
}
