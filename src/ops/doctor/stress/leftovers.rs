//! Scratch folders of a `doctor --stress` that was killed. As long as one runs it holds a lock on a
//! file in its folder, which no end of it can leave behind.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How the name of a scratch folder begins.
pub(super) const PREFIX: &str = "cleo-stress-";
/// The file that is locked.
const MARK: &str = ".in-use";

/// Marks a folder as in use, until what is returned goes. The mark is locked before it has its name,
/// so that nobody ever finds it unlocked in between.
pub(super) fn mark(folder: &Path) -> io::Result<File> {
    let draft = folder.join(".new-mark");
    let file = File::create_new(&draft)?;
    file.lock()?;
    fs::rename(draft, folder.join(MARK))?;
    Ok(file)
}

/// Removes the scratch folders of this user that nobody uses any more. What cannot be removed stays.
pub(super) fn remove(above: &Path) {
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        if is_left(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Says whether a folder is one of ours that was marked and is in use no longer.
fn is_left(folder: &Path) -> bool {
    let (Ok(there), Ok(mark)) = (
        fs::symlink_metadata(folder),
        fs::symlink_metadata(folder.join(MARK)),
    ) else {
        return false;
    };
    let user = rustix::process::geteuid().as_raw();
    let is_own = there.is_dir() && there.uid() == user && mark.is_file() && mark.uid() == user;
    is_own && File::open(folder.join(MARK)).is_ok_and(|mark| mark.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_were_marked_and_are_in_use_no_longer_go() {
        let above = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let folder = above.path().join(format!("{PREFIX}{name}"));
            fs::create_dir(&folder).unwrap();
            folder
        };
        let (left, used, foreign) = (folder("left"), folder("used"), folder("foreign"));
        fs::write(left.join("file"), "x").unwrap();
        drop(mark(&left).unwrap());
        let _used = mark(&used).unwrap();
        std::os::unix::fs::symlink(&used, above.path().join("cleo-stress-link")).unwrap();
        remove(above.path());
        assert!(!left.exists());
        assert!(
            used.exists() && foreign.exists() && above.path().join("cleo-stress-link").exists()
        );
    }
}
