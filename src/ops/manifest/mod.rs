//! The manifest: append, read, validate.

mod append;
mod compact;
pub(crate) mod read;
mod validate;

pub(crate) use append::{Appended, append};
pub(crate) use compact::{Compaction, compact};
pub(crate) use read::{Filter, Listed, list, show};
pub(crate) use validate::{Validated, validate};

pub(super) use read::{require_entry, warnings_of};
