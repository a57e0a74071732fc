//! Where agents, and what they ran and said, are kept: apart from the tasks, so that commands about
//! tasks neither read nor lock it. Traits like those of [`super`]; `conformance` proves the backends.

mod agents;
mod chat;
#[cfg(test)]
pub(in crate::store) mod conformance;
mod conversations;
mod runs;

use crate::error::Result;

pub(crate) use agents::Agents;
pub(crate) use chat::{Chats, Components};
pub(crate) use conversations::{ConversationFilter, ConversationPage, Conversations};
pub(crate) use runs::{Glimpse, RunFilter, RunPage, Runs, StoodIn, Tally};

pub(crate) trait Agency {
    /// Begins a transaction that only reads. It sees one state and never waits for a writer.
    fn read(&mut self) -> Result<Box<dyn AgencyTransaction + '_>>;

    /// Begins a transaction that may write; one at a time, others wait. What it did becomes visible
    /// and durable at once when it commits, and never if it is dropped before.
    fn write(&mut self) -> Result<Box<dyn AgencyTransaction + '_>>;
}

pub(crate) trait AgencyTransaction:
    Agents + Runs + Conversations + Chats + Components
{
    fn commit(self: Box<Self>) -> Result<()>;
}
