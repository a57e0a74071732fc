//! Operations: a function from a request to a reply, and the facts that faces need.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Context, Notes, Scope, Surroundings};
use crate::error::Result;

/// A type with a schema, which only the feature `schemas` asks for.
#[cfg(feature = "schemas")]
pub(crate) trait Described: schemars::JsonSchema {}
#[cfg(feature = "schemas")]
impl<T: schemars::JsonSchema> Described for T {}
/// A type with a schema, which only the feature `schemas` asks for.
#[cfg(not(feature = "schemas"))]
pub(crate) trait Described {}
#[cfg(not(feature = "schemas"))]
impl<T> Described for T {}

pub(crate) struct Operation<Request, Reply> {
    pub(crate) facts: Facts,
    pub(crate) run: Run<Request, Reply>,
}

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
    /// Whether the caller of a read may name the agent that acts, as that of a write.
    pub(super) for_agent: bool,
    /// Whether a write records no operation.
    pub(super) without_record: bool,
    /// Whether the reply is made of tasks and runs alone, so that it stays the same until one of them changes.
    pub(crate) is_versioned: bool,
    /// Whether it waits for workers.
    pub(crate) asks: bool,
    /// Whether a refusal lists the faults of all fields.
    pub(crate) lists_faults: bool,
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

impl Facts {
    pub(super) const fn new(
        name: &'static str,
        scope: Scope,
        address: &'static str,
        about: &'static str,
    ) -> Facts {
        Facts {
            name,
            scope,
            address,
            about,
            limit: None,
            frame: Frame::Ours,
            own: &[],
            creates: false,
            for_agent: false,
            without_record: false,
            is_versioned: false,
            asks: false,
            lists_faults: false,
        }
    }

    fn writes(&self) -> bool {
        self.scope != Scope::Read && !self.address.starts_with("GET ")
    }

    /// Returns whether the caller may name the agent that acts.
    pub(crate) fn has_agent(&self) -> bool {
        self.frame == Frame::Ours && (self.writes() || self.for_agent)
    }

    /// Returns whether the reply is followed by the number of the operation that was recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        self.frame == Frame::Ours && self.writes() && !self.without_record
    }
}

// The request of an operation that needs none.
#[derive(clap::Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

#[cfg(feature = "schemas")]
pub(crate) type Describe = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;

/// Gets each operation of the table with its types.
pub(crate) trait Visitor {
    fn visit<Request: DeserializeOwned + Described, Reply: Serialize + Described>(
        &mut self,
        operation: &'static Operation<Request, Reply>,
    );
}
