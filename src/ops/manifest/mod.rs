//! The manifest: append, read, validate.

mod append;
pub(crate) mod read;
mod validate;

pub(crate) use append::{Appended, append};
pub(crate) use read::{Compact, Compaction, EntryId, Filter, Listed, compact, list, show};
pub(crate) use validate::{Validated, validate};

pub(super) use read::require_entry;
