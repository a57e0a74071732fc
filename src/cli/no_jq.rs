//! `--jq` in a program that was built without it: refused, with another way to the same end.

use std::convert::Infallible;
use std::io::{self, Write};

use crate::error::{Code, Error, Result};

/// There is no filter.
pub(super) struct Jq(Infallible);

/// How far a filter came.
#[expect(dead_code, reason = "no filter fails where there is none")]
pub(super) enum Ended {
    /// To its end.
    Whole,
    /// It failed with this message.
    Failed(String),
}

impl Jq {
    /// Refuses every filter.
    pub(super) fn read(_: &str) -> Result<Jq> {
        let message = "this cleo was built without --jq; pipe its answer into jq instead";
        Err(Error::new(Code::Usage, message).fix("cargo install --path . --features jq"))
    }

    /// Never called.
    pub(super) fn write(&self, _: &str, _: &mut dyn Write, _: bool) -> io::Result<Ended> {
        match self.0 {}
    }
}
