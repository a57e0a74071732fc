//! Tasks in and out: import from files of other tools, and export.

mod again;
mod ahead;
mod export;
mod import;
mod known;
mod phases;
mod source;

pub use export::{Exported, Target, each as each_task, export};
pub use import::{Imported, Request, import, import_text};
