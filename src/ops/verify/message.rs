//! Checking an agent's last message.

use serde::Serialize;

use super::{Verdict, violation};
use crate::error::Code;
use crate::protocol::message::{self, Status};

/// What a check of a message found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct MessageVerdict {
    /// Verdict and violations.
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    /// What the message says of the work.
    pub(crate) status: Option<Status>,
    /// The allowed sentence that is most like a message that is refused.
    pub(crate) nearest: Option<String>,
}

/// Checks that a message is exactly one of the allowed sentences (OUT-003).
pub(crate) fn message(text: &str) -> MessageVerdict {
    let (status, refused) = match message::check(text) {
        Ok(status) => (Some(status), None),
        Err(refused) => (None, Some(refused)),
    };
    let told = refused.as_ref().map(|refused| {
        let message = format!("it {}; allowed are {}", refused.reason, message::allowed());
        violation(Code::ReturnMessage, "OUT-003", message)
    });
    MessageVerdict {
        verdict: Verdict::of(told.into_iter().collect()),
        status,
        nearest: refused.map(|refused| refused.nearest),
    }
}
