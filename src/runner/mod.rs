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

/// Returns the path of this program, to start it again. Once its file has been replaced or removed, Linux
/// still starts the version that runs.
pub(crate) fn own_program() -> PathBuf {
    match std::env::current_exe() {
        Ok(program) if program.is_file() => program,
        _ => PathBuf::from("/proc/self/exe"),
    }
}
