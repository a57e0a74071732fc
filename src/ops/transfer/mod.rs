//! Tasks in and out: import from files of other tools, and export.

mod again;
mod ahead;
pub(crate) mod export;
mod import;
mod known;
mod merge;
mod phases;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use export::{Target, each as each_task, export};
pub(crate) use import::{Request, import, import_text};
