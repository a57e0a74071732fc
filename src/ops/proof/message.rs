//! The check of the last message of an agent.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Report, violation};
use crate::error::{Code, Result};
use crate::ops::{Notes, Surroundings};
use crate::protocol::message::{self, Status};

/// The result of checking a message.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct MessageVerdict {
    #[serde(flatten)]
    pub(crate) report: Report,
    /// The status that the message reports.
    pub(crate) status: Option<Status>,
    /// The allowed sentence nearest to a message that is refused.
    pub(crate) nearest: Option<String>,
}

// A doc comment would become the help of the command.
#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageSent {
    /// The message
    #[arg(allow_hyphen_values = true)]
    pub(crate) message: String,
}

pub(crate) fn message(text: &str) -> MessageVerdict {
    let checked = message::check(text);
    let violations = checked.as_ref().err().map(|refused| {
        let allowed = message::list_allowed();
        let message = format!("it {}; allowed are {allowed}", refused.reason);
        violation(Code::ReturnMessage, "OUT-003", message)
    });
    MessageVerdict {
        report: Report::new(Vec::from_iter(violations)),
        status: checked.as_ref().ok().copied(),
        nearest: checked.err().map(|refused| refused.nearest),
    }
}

pub(crate) fn check_message(
    _: &Surroundings,
    notes: &mut Notes,
    sent: MessageSent,
) -> Result<MessageVerdict> {
    let found = message(&sent.message);
    let error = found.report.error("the message");
    notes.failure = error.map(|error| error.did_you_mean(found.nearest.as_deref().unwrap_or("")));
    Ok(found)
}
