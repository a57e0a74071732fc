//! Wakes everybody who drives an agent, so that nobody has to look all the time whether it is time to
//! end it. The bell is a pipe: when its end for writing is closed, all who wait at the other wake.

use std::io::{PipeReader, PipeWriter};
use std::sync::{Arc, Mutex, PoisonError};

/// The bell that hangs now, with its end for writing.
static BELL: Mutex<Option<(Arc<PipeReader>, PipeWriter)>> = Mutex::new(None);

pub(crate) fn wake() {
    let bell = BELL.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(bell);
}

/// Returns a pipe that is readable once the bell rings, or `None` where there can be no pipe.
pub(super) fn listen() -> Option<Arc<PipeReader>> {
    let mut bell = BELL.lock().unwrap_or_else(PoisonError::into_inner);
    if bell.is_none() {
        let (ear, rope) = std::io::pipe().ok()?;
        *bell = Some((Arc::new(ear), rope));
    }
    bell.as_ref().map(|(ear, _)| Arc::clone(ear))
}
