//! The manifest: append, read, validate.

mod append;
pub(crate) mod read;
mod validate;

pub(crate) use append::{Appended, append};
pub(crate) use read::{Compaction, compact};
pub(crate) use read::{Filter, Listed, list, show};
pub(crate) use validate::{Validated, validate};

pub(super) use read::{require_entry, warnings_of};
