//! The last commit, noted beside the database. SQLite ends its log at the first frame whose checksum is wrong. After a
//! kill that is right, but a log that was damaged or cut off would lose commits without a message. The note is written
//! after a commit and not flushed, so it is never ahead of what was acknowledged.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::opening::log_of;
use super::place::beside;
use crate::file::PRIVATE_FILE;
use crate::store::left_out::{self, Damage};

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
            frames: salts.map_or(0, |_| count_frames(connection)),
        },
    );
}

/// Notes that nothing has to be in the log, before it is emptied.
pub(super) fn forget_commit(database: &Path) {
    write(database, Position::default());
}

/// Adds a warning to the answer when the log ends before the last commit that was noted.
pub(super) fn report_lost_commits(connection: &Connection, database: &Path) {
    let Some(noted) = read(database) else {
        return;
    };
    let frames = count_frames(connection);
    // The note is read again, because another process may have emptied the log meanwhile.
    if noted.frames > frames && is_log_of(noted, database) && read(database) == Some(noted) {
        let what = format!(
            "{frames} of {} pages can be read, so the last changes are missing",
            noted.frames
        );
        let row = "the end of the write-ahead log".to_string();
        left_out::note(Damage { row, what });
    }
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
            changed(database) < changed(&place(database))
        }
    }
}

fn place(database: &Path) -> PathBuf {
    let [.., place] = beside(database);
    place
}

fn read(database: &Path) -> Option<Position> {
    let mut bytes = [0; 12];
    let file = File::open(place(database)).ok()?;
    file.read_exact_at(&mut bytes, 0).ok()?;
    let [salts @ .., a, b, c, d] = bytes;
    let frames = u32::from_be_bytes([a, b, c, d]);
    Some(Position { salts, frames })
}

fn write(database: &Path, Position { salts, frames }: Position) {
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(false);
    if let Ok(file) = options.mode(PRIVATE_FILE).open(place(database)) {
        let bytes = [salts.as_slice(), &frames.to_be_bytes()].concat();
        let _ = file.write_all_at(&bytes, 0);
    }
}

/// Reads the first bytes of the log, as far as its salts. No locks are on the log, which would end with any file of
/// this process that is closed.
fn read_header(database: &Path) -> Option<[u8; 24]> {
    let mut header = [0; 24];
    let log = File::open(log_of(database)).ok()?;
    log.read_exact_at(&mut header, 0).ok()?;
    Some(header)
}

fn salts_of(header: &[u8; 24]) -> [u8; 8] {
    let [.., a, b, c, d, e, f, g, h] = *header;
    [a, b, c, d, e, f, g, h]
}

fn count_frames(connection: &Connection) -> u32 {
    let count = connection
        .prepare_cached("PRAGMA main.wal_checkpoint(NOOP)")
        .and_then(|mut statement| statement.query_row((), |row| row.get::<_, i64>(1)));
    count
        .ok()
        .and_then(|frames| u32::try_from(frames).ok())
        .unwrap_or_default()
}
