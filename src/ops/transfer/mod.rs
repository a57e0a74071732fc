//! Tasks in and out: import from files of other tools, export, and merging with a copy in a file.

mod again;
mod ahead;
mod export;
mod import;
mod known;
mod phases;
mod source;
mod sync;

pub use export::{Exported, Target, each as each_task, export};
pub use import::{Imported, Request, import, import_text};
pub use sync::{Changes, Renumbered, Synced, Touched, sync};
