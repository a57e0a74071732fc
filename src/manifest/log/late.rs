//! What is still appended to a manifest that another file has taken the place of: whoever opened it before
//! with `>>` knows of no lock, and writes on to the old one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::thread;
use std::time::{Duration, Instant};

use super::append::{PAUSE, is_torn, put};
use super::lines::CHUNK;

/// After how long without anything new no more is waited for.
const QUIET: Duration = Duration::from_millis(250);
/// How long is waited at most, however much comes.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Waits for what comes late. It is told after each look whether something came, and says whether to look
/// again.
pub(super) fn waits() -> impl FnMut(bool) -> bool {
    let mut times = None;
    move |came| {
        let now = Instant::now();
        let (begun, last) = times.get_or_insert((now, now));
        if came {
            *last = now;
        }
        let goes_on = now - *last < QUIET && now - *begun < WAIT_MAX;
        if goes_on && !came {
            thread::sleep(PAUSE);
        }
        goes_on
    }
}

/// Takes over to the new file what is appended to the old one behind `length`, as long as it is waited for:
/// whole lines at once, and in the end a line without end, which gets one. What is there when this returns is
/// on disk.
pub(super) fn follow(
    old: &mut File,
    new: &mut File,
    length: u64,
    waits: &mut dyn FnMut(bool) -> bool,
) -> io::Result<()> {
    old.seek(SeekFrom::Start(length))?;
    let mut late = Vec::new();
    loop {
        let read = old.by_ref().take(CHUNK as u64).read_to_end(&mut late)?;
        let whole = memchr::memrchr(b'\n', &late).map_or(0, |end| end + 1);
        take_over(new, &late[..whole])?;
        late.drain(..whole);
        if !waits(read > 0) {
            break;
        }
    }
    if !late.is_empty() {
        late.push(b'\n');
    }
    take_over(new, &late)
}

/// Appends lines behind whatever others have appended to the new file meanwhile.
fn take_over(new: &mut File, lines: &[u8]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let start: &[u8] = if is_torn(new)? { b"\n" } else { b"" };
    put(new, &[start, lines].concat())?;
    new.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    fn open(path: &Path) -> File {
        let mut options = OpenOptions::new();
        options.read(true).append(true).open(path).unwrap()
    }

    #[test]
    fn lines_are_taken_over_as_soon_as_they_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old, "litter\n2\n").unwrap();
        fs::write(&new, "2\n").unwrap();
        let mut agent = open(&old);
        let mut writes = ["3\n4", "", "4\n5", "\n6"].into_iter();
        let mut seen = Vec::new();
        let mut waits = |came: bool| {
            seen.push((came, fs::read_to_string(&new).unwrap()));
            let text = writes.next();
            text.is_some_and(|text| agent.write_all(text.as_bytes()).is_ok())
        };
        follow(&mut open(&old), &mut open(&new), 9, &mut waits).unwrap();
        let expected = [
            (false, "2\n"),
            (true, "2\n3\n"),
            (false, "2\n3\n"),
            (true, "2\n3\n44\n"),
            (true, "2\n3\n44\n5\n"),
        ];
        let seen: Vec<(bool, &str)> = seen.iter().map(|(came, text)| (*came, &**text)).collect();
        assert_eq!(seen, expected);
        assert_eq!(fs::read_to_string(&new).unwrap(), "2\n3\n44\n5\n6\n");
    }

    #[test]
    fn a_line_that_somebody_left_without_end_in_the_new_file_stays_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old, "late\n").unwrap();
        fs::write(&new, "torn").unwrap();
        follow(&mut open(&old), &mut open(&new), 0, &mut |_| false).unwrap();
        assert_eq!(fs::read_to_string(&new).unwrap(), "torn\nlate\n");
    }
}
