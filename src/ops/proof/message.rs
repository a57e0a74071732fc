//! Checking the last message of an agent.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Report, violation};
use crate::error::{Code, Result};
use crate::ops::{Notes, Surroundings};
use crate::protocol::message::{self, Status};

/// What a check of a message found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct MessageVerdict {
    #[serde(flatten)]
    pub(crate) report: Report,
    /// What the message says of the work.
    pub(crate) status: Option<Status>,
    /// The allowed sentence that is most like a message that is refused.
    pub(crate) nearest: Option<String>,
}

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageSent {
    /// The message
    #[arg(allow_hyphen_values = true)]
    pub(crate) message: String,
}

pub(crate) fn message(text: &str) -> MessageVerdict {
    match message::check(text) {
        Ok(status) => MessageVerdict {
            report: Report::new(Vec::new()),
            status: Some(status),
            nearest: None,
        },
        Err(refused) => {
            let message = format!(
                "it {}; allowed are {}",
                refused.reason,
                message::list_allowed()
            );
            let wrong = violation(Code::ReturnMessage, "OUT-003", message);
            MessageVerdict {
                report: Report::new(vec![wrong]),
                status: None,
                nearest: Some(refused.nearest),
            }
        }
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
