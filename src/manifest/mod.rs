//! The manifest: one line of JSON for each piece of work that an agent reports (OUT-002).
//!
//! [`entry`] says what an entry is, [`draft`] reads what somebody wrote and finds what is wrong with it,
//! [`mod@line`] takes one line of the file apart, as far as is needed; all of that is pure. [`log`] is the file.
//! Rules come from section 5 of the notes on two-tier-subagents.

mod draft;
pub(crate) mod entry;
mod line;
pub(crate) mod log;
mod rules;

pub(crate) use draft::Draft;
pub(crate) use entry::{Entry, Fault, Status};
pub(crate) use line::Faulty;
pub(crate) use rules::is_placeholder;

#[cfg(test)]
mod tests;
