//! The manifest: append, read, validate.

mod append;
mod read;
mod validate;

pub use append::{Appended, append};
pub use read::{Filter, Listed, Shown, list, show};
pub use validate::{Validated, validate};

pub(super) use read::{require_entry, warnings_of};

use std::path::PathBuf;

use super::Context;
use crate::error::Result;
use crate::workspace::MANIFEST;

/// Returns where the manifest is; a link that leads out of the workspace is refused.
pub(super) fn path(context: &Context) -> Result<PathBuf> {
    context.workspace.confine(MANIFEST)
}
