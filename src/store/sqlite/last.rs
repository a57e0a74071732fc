//! The last commit, noted beside the database. SQLite ends its log at the first frame whose checksum is wrong. After a
//! kill that is right, but a log that was damaged or cut off would lose commits without a message. The note is written
//! after a commit and not flushed, so it is never ahead of what was acknowledged. A loss that was found stays noted until
//! `doctor --remove-damaged`.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::opening::log_of;
use super::place::companion_files;
use crate::file::PRIVATE_FILE;
use crate::store::left_out::{self, Damage, LOG_END};

/// Where the note of a loss stands, behind the position: how many frames were noted, and how many were there.
const LOSS_AT: u64 = 12;

/// Where the log ends: its salts, which it gets anew whenever it begins again, and how many frames it has.
#[derive(Clone, Copy, Default, PartialEq)]
struct Position {
    salts: [u8; 8],
    frames: u32,
}

/// Notes where the log ends. Failing is harmless: the note then is of an earlier commit.
pub(super) fn note_commit(connection: &Connection, database: &Path) {
    let salts = read_header(database).map(|header| salts_of(&header));
    write(
        database,
        Position {
            salts: salts.unwrap_or_default(),
            frames: salts.and_then(|_| count_frames(connection)).unwrap_or(0),
        },
    );
}

/// Notes that nothing has to be in the log, before it is emptied.
pub(super) fn forget_commit(database: &Path) {
    write(database, Position::default());
}

/// Adds a warning to the answer when the log ended before the last commit that was noted, now or since somebody
/// looked at it.
pub(super) fn report_lost_commits(connection: &Connection, database: &Path) {
    let Some(noted) = read(database) else {
        return;
    };
    // On a disk that cannot be written, and while another process writes the index of the log, SQLite does not count
    // them.
    let Some(frames) = count_frames(connection) else {
        return;
    };
    // The note is read again, because another process may have emptied the log meanwhile.
    if noted.frames > frames && is_log_of(noted, database) && read(database) == Some(noted) {
        note_loss(database, [noted.frames, frames]);
        left_out::note(describe_missing_commits([noted.frames, frames]));
    } else if let Some(loss) = read_loss(database) {
        left_out::note(describe_missing_commits(loss));
    }
}

/// Forgets the loss that was found, and returns it.
pub(super) fn forget_loss(database: &Path) -> Option<Damage> {
    let loss = read_loss(database)?;
    note_loss(database, [0, 0]);
    Some(describe_missing_commits(loss))
}

fn describe_missing_commits([noted, there]: [u32; 2]) -> Damage {
    let what = format!("{there} of {noted} pages can be read, so the last changes are missing");
    let row = LOG_END.to_string();
    Damage { row, what }
}

/// Returns whether the log that is there now, or is missing, must hold what was noted.
fn is_log_of(noted: Position, database: &Path) -> bool {
    match read_header(database) {
        // A damaged header hardly has two other salts. A log that begins again has.
        Some(header) => {
            let salts = salts_of(&header);
            let is_whole = header[..3] == [0x37, 0x7f, 0x06];
            !is_whole || salts[..4] == noted.salts[..4] || salts[4..] == noted.salts[4..]
        }
        // Other programs empty the log too, after they have written its pages to the database.
        None => {
            let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
            changed(database) < changed(&size_note_path(database))
        }
    }
}

fn size_note_path(database: &Path) -> PathBuf {
    let [.., place] = companion_files(database);
    place
}

fn read(database: &Path) -> Option<Position> {
    let [salts @ .., a, b, c, d] = read_at::<12>(&size_note_path(database), 0)?;
    let frames = u32::from_be_bytes([a, b, c, d]);
    Some(Position { salts, frames })
}

fn read_loss(database: &Path) -> Option<[u32; 2]> {
    let [a, b, c, d, there @ ..] = read_at::<8>(&size_note_path(database), LOSS_AT)?;
    let loss = [[a, b, c, d], there].map(u32::from_be_bytes);
    (loss != [0, 0]).then_some(loss)
}

fn write(database: &Path, Position { salts, frames }: Position) {
    let bytes = [salts.as_slice(), &frames.to_be_bytes()].concat();
    write_at(database, 0, &bytes);
}

fn note_loss(database: &Path, loss: [u32; 2]) {
    write_at(database, LOSS_AT, loss.map(u32::to_be_bytes).as_flattened());
}

fn write_at(database: &Path, at: u64, bytes: &[u8]) {
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(false);
    if let Ok(file) = options.mode(PRIVATE_FILE).open(size_note_path(database)) {
        let _ = file.write_all_at(bytes, at);
    }
}

fn read_at<const N: usize>(path: &Path, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    File::open(path).ok()?.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// Reads the first bytes of the log, as far as its salts. No locks are on the log, which would end with any file of
/// this process that is closed.
fn read_header(database: &Path) -> Option<[u8; 24]> {
    read_at(&log_of(database), 0)
}

fn salts_of(header: &[u8; 24]) -> [u8; 8] {
    let [.., a, b, c, d, e, f, g, h] = *header;
    [a, b, c, d, e, f, g, h]
}

fn count_frames(connection: &Connection) -> Option<u32> {
    let count = connection
        .prepare_cached("PRAGMA main.wal_checkpoint(NOOP)")
        .and_then(|mut statement| statement.query_row((), |row| row.get::<_, i64>(1)));
    // Where SQLite could not look, it answers -1.
    u32::try_from(count.ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_that_cannot_be_looked_at_is_no_loss() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("cleo.db");
        let [writer, reader] = [(); 2].map(|()| Connection::open(&database).unwrap());
        let begin = "PRAGMA journal_mode=WAL; CREATE TABLE t(a); BEGIN IMMEDIATE";
        writer.execute_batch(begin).unwrap();
        let frames = count_frames(&reader).unwrap();
        assert!(frames > 0);
        note_commit(&reader, &database);
        // Another process writes the header of the index. The file stays open: closing it would end the locks.
        let index = database.with_extension("db-shm");
        let index = File::options().read(true).write(true).open(index).unwrap();
        let mut byte = [0];
        index.read_exact_at(&mut byte, 8).unwrap();
        index.write_all_at(&[!byte[0]], 8).unwrap();
        reader.busy_timeout(std::time::Duration::ZERO).unwrap();
        assert_eq!(count_frames(&reader), None);
        report_lost_commits(&reader, &database);
        assert_eq!(read_loss(&database), None);
        index.write_all_at(&byte, 8).unwrap();
        assert_eq!(count_frames(&reader), Some(frames));
    }
}
