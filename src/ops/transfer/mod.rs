//! Tasks in and out: import from files of other tools, and export.

mod circles;
pub(crate) mod export;
mod import;
mod plan;
mod references;
mod source;
#[cfg(test)]
mod tests;
mod versions;

pub(super) use export::write_copy;
pub(crate) use export::{backup, copy_store, each as each_task, export};
pub(crate) use import::{Request, import, import_text};
