//! Programs that cleo starts itself.

pub mod agent;
pub mod child;
pub mod crew;
pub mod git;
mod leash;
pub mod orphans;
mod pipes;
pub mod probe;
pub mod process;
mod program;
pub mod signals;
mod stat;
mod strays;

use std::path::PathBuf;

/// Says where a program that comes with cleo lies: beside this one.
pub fn beside(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
