//! Whose turn it is to merge with a file. Two that merged at once would both begin with what the file
//! held before, and what one of them wrote would be gone. The file itself is locked, so that nothing is left
//! beside it; it is another one once somebody has written it.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::error::{Code, Error, Result, quote};
use crate::file::lock_in_turn;

/// How long is waited for others who merge with the file.
const PATIENCE: Duration = Duration::from_secs(60);

/// The turn, until it is dropped.
pub(super) struct Turn {
    _lock: File,
}

impl Turn {
    /// Waits for the turn; none where there is no file yet, or none that can be locked.
    pub(super) fn wait(path: &Path) -> Result<Option<Turn>> {
        loop {
            // A pipe would wait for a writer; whoever reads the file refuses it.
            let Some(file) = regular(path).and_then(|_| File::open(path).ok()) else {
                return Ok(None);
            };
            let Ok(locked) = lock_in_turn(file, PATIENCE) else {
                return Ok(None);
            };
            let lock = locked.ok_or_else(|| busy(path))?;
            if is_there(&lock, path) {
                return Ok(Some(Turn { _lock: lock }));
            }
        }
    }
}

fn regular(path: &Path) -> Option<Metadata> {
    fs::metadata(path).ok().filter(Metadata::is_file)
}

/// Says whether a file is still the one that stands at a path.
fn is_there(file: &File, path: &Path) -> bool {
    let place = |about: &Metadata| (about.dev(), about.ino());
    let own = file.metadata().ok().as_ref().map(place);
    own.is_some() && own == regular(path).as_ref().map(place)
}

fn busy(path: &Path) -> Error {
    let message = format!(
        "others have been merging with {} for more than {} seconds",
        path.display(),
        PATIENCE.as_secs()
    );
    let again = format!("cleo sync {}", quote(&path.to_string_lossy()));
    Error::new(Code::LockTimeout, message).fix(again)
}
