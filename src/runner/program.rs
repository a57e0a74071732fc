//! Finds a program as the system would.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where a search of `path`, a list of folders as in the variable `PATH`, finds a program. None when it
/// finds none, when the program is named with a folder, or when the answer depends on the folder that
/// the program is started in.
///
/// A process that is started by its whole path is started without a copy of cleo's memory and without
/// trying every folder, which is much of what starting a small program costs.
pub(super) fn find(program: &OsStr, path: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() != 1 {
        return None;
    }
    std::env::split_paths(path)
        .take_while(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_with_a_program_that_can_be_run_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        for (place, mode) in [(&first, 0o644), (&second, 0o755)] {
            std::fs::create_dir(place).unwrap();
            let program = place.join("agent");
            std::fs::write(&program, "").unwrap();
            std::fs::set_permissions(&program, PermissionsExt::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([&first, &second]).unwrap();
        let find = |program: &str, path: &OsStr| find(program.as_ref(), path);
        assert_eq!(find("agent", &path), Some(second.join("agent")));
        assert_eq!(find("other", &path), None);
        assert_eq!(find("./agent", &path), None);
        let relative = std::env::join_paths([Path::new("here"), &second]).unwrap();
        assert_eq!(find("agent", &relative), None);
    }
}
