//! Programs that cleo starts itself.

pub(crate) mod agent;
pub(crate) mod child;
mod descendants;
pub(crate) mod git;
mod lines;
pub(crate) mod orphans;
mod pipes;
pub(crate) mod pool;
pub(crate) mod probe;
pub(crate) mod process;
pub(crate) mod signals;
mod supervise;

pub(crate) use descendants::mark_kept;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Returns the path of this program, to start it again. Once its file has been replaced or removed, Linux
/// still starts the version that runs.
pub(crate) fn find_own_program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    match std::env::current_exe() {
        // The name of a removed file, for which another file could be put there.
        Ok(program) if program.as_os_str().as_bytes().ends_with(b" (deleted)") => running,
        Ok(program) if program.is_file() => program,
        _ => running,
    }
}
