//! The manifest: append, read, validate.

mod append;
mod compact;
mod read;
mod validate;

pub use append::{Appended, append};
pub use compact::{Compaction, compact};
pub use read::{Filter, Listed, Shown, list, show};
pub use validate::{Validated, validate};

pub(super) use read::{require_entry, warnings_of};
