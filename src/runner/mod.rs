//! Programs that cleo starts itself.

pub(crate) mod agent;
pub(crate) mod child;
pub(crate) mod crew;
pub(crate) mod git;
pub(crate) mod orphans;
mod pipes;
pub(crate) mod probe;
pub(crate) mod process;
pub(crate) mod signals;
mod strays;

use std::path::PathBuf;

pub(crate) fn beside(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
