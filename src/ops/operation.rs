//! Operations: a function from a request to a reply, and the facts that faces need.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Context, Notes, Scope, Surroundings};
use crate::error::Result;

/// An operation with its types.
pub(crate) struct Operation<Request, Reply> {
    pub(crate) facts: Facts,
    pub(crate) run: Run<Request, Reply>,
}

/// The function of an operation.
pub(crate) enum Run<Request, Reply> {
    /// In a workspace.
    Inside(fn(&mut Context, Request) -> Result<Reply>),
    /// With or without a workspace.
    Anywhere(fn(&Surroundings, &mut Notes, Request) -> Result<Reply>),
}

/// Facts of an operation for the faces, besides its types.
pub(crate) struct Facts {
    /// The command that does the same, which the log names.
    pub(crate) name: &'static str,
    pub(crate) scope: Scope,
    /// Method and path, such as `PATCH /api/work/tasks/{id}`. Braces hold fields of the request.
    pub(crate) address: &'static str,
    pub(crate) about: &'static str,
    /// The usual and the largest `limit` of a caller from elsewhere; with bodies of a specification, more is read as the
    /// largest.
    pub(crate) limit: Option<(u32, u32)>,
    /// How bodies are framed.
    pub(crate) frame: Frame,
    /// Fields of the body that only cleo sets, and that are passed over: what was read may be sent as a whole.
    pub(crate) own: &'static [&'static str],
    /// Whether a recorded result has the status 201.
    pub(crate) creates: bool,
    /// Whether the caller may name the agent that acts.
    pub(crate) has_agent: bool,
    /// Whether the reply is followed by the number of the operation that was recorded.
    pub(crate) is_recorded: bool,
    /// Whether the reply is made of tasks and runs alone, so that it stays the same until one of them changes.
    pub(crate) is_versioned: bool,
    /// Whether it waits for workers.
    pub(crate) asks: bool,
}

/// How the body of a reply is framed, and that of an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The warnings at the end.
    Ours,
    /// As the multi-agent specification has it: `success` first.
    Success,
    /// The same, with the warnings at the end.
    SuccessAndWarnings,
}

impl<Request, Reply> Operation<Request, Reply> {
    pub(super) const fn new(
        name: &'static str,
        scope: Scope,
        address: &'static str,
        about: &'static str,
        run: Run<Request, Reply>,
    ) -> Operation<Request, Reply> {
        let writes = !matches!(scope, Scope::Read) && address.as_bytes()[0] != b'G';
        Operation {
            facts: Facts {
                name,
                scope,
                address,
                about,
                limit: None,
                frame: Frame::Ours,
                own: &[],
                creates: false,
                has_agent: writes,
                is_recorded: writes,
                is_versioned: false,
                asks: false,
            },
            run,
        }
    }

    pub(super) const fn limit(mut self, usual: u32, max: u32) -> Operation<Request, Reply> {
        self.facts.limit = Some((usual, max));
        self
    }

    pub(super) const fn creates(mut self) -> Operation<Request, Reply> {
        self.facts.creates = true;
        self
    }

    pub(super) const fn for_agent(mut self) -> Operation<Request, Reply> {
        self.facts.has_agent = true;
        self
    }

    pub(super) const fn with_version(mut self) -> Operation<Request, Reply> {
        self.facts.is_versioned = true;
        self
    }

    pub(super) const fn asks(mut self) -> Operation<Request, Reply> {
        self.facts.asks = true;
        self
    }

    /// Frames bodies as the multi-agent specification does.
    pub(super) const fn with_frame(mut self, frame: Frame) -> Operation<Request, Reply> {
        self.facts.frame = frame;
        self.facts.has_agent = false;
        self.facts.is_recorded = false;
        self
    }

    pub(super) const fn own(
        mut self,
        fields: &'static [&'static str],
    ) -> Operation<Request, Reply> {
        self.facts.own = fields;
        self
    }

    pub(super) const fn without_record(mut self) -> Operation<Request, Reply> {
        self.facts.is_recorded = false;
        self
    }
}

// The request of an operation that needs none. A doc comment would become the help of commands.
#[derive(clap::Args, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

#[cfg(test)]
pub(crate) type Describe = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

/// Gets each operation of the table with its types.
pub(crate) trait Visitor {
    fn visit<Request: DeserializeOwned + JsonSchema, Reply: Serialize + JsonSchema>(
        &mut self,
        operation: &'static Operation<Request, Reply>,
    );
}
