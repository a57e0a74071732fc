//! The files of an agent's output, and an index that tells in which order both streams came, so that they can
//! be read as one. An error of the index ends the index and nothing else.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::error::Result;
use crate::file::{create_anew, create_private_folder, unwritable};
use crate::run::arrivals::{Arrival, KEPT_MAX, Stream};

/// Shortest time between two writes; it doubles with every so many bytes of the file.
const PAUSE: (Duration, usize) = (Duration::from_millis(20), 64 * 1024);
/// Longest time between two writes: no further behind is who looks on while the agent works.
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// Size in bytes beyond which the pause doubles again. Output without a break takes over a day to get here,
/// and weeks from here to the maximum size.
const LATE: usize = 3 << 20;
/// Up to which size the order within a pause is kept, in bytes.
const EXACT_MAX: usize = 256 * 1024;
/// About how long a step is, in bytes.
const STEP: usize = 32;

pub(super) struct Index {
    path: PathBuf,
    /// None before anything came, and after the file failed.
    file: Option<File>,
    size: usize,
    /// When the last step was, in milliseconds since 1970.
    at: i64,
    noted: [u64; 2],
    steps: Vec<Arrival>,
    due: Option<Instant>,
}

impl Index {
    pub(super) fn of(attempt: &Path) -> Index {
        let mut path = OsString::from(attempt);
        path.push(".index");
        Index {
            path: path.into(),
            file: None,
            size: 0,
            at: 0,
            noted: [0; 2],
            steps: Vec::new(),
            due: None,
        }
    }

    /// Creates the file before the first output is kept: outputs without one are known to have none.
    pub(super) fn expect(&mut self) {
        if self.noted == [0; 2] && self.file.is_none() {
            self.file = create_anew(&self.path).ok();
        }
    }

    pub(super) fn note(&mut self, stream: Stream, to: u64) {
        let noted = &mut self.noted[stream as usize];
        if *noted == to {
            return;
        }
        *noted = to;
        if self.file.is_some() {
            // The clock of the wall goes on while the machine sleeps, but it may be set back.
            self.at = self.at.max(now());
            let at = self.at;
            self.step(Arrival { stream, to, at });
            self.due = self.due.or(Some(Instant::now() + self.pause()));
        }
    }

    /// Adds a step. It takes the place of the last one of the same output where nothing of the other came
    /// since, and beyond some size always.
    fn step(&mut self, arrival: Arrival) {
        let is_exact = self.size + self.steps.len() * STEP < EXACT_MAX;
        let last = self.steps.len().wrapping_sub(1);
        let same = |one: &Arrival| one.stream == arrival.stream;
        let former = self.steps.iter().rposition(same);
        if let Some(place) = former.filter(|place| *place == last || !is_exact) {
            self.steps.remove(place);
        }
        self.steps.push(arrival);
    }

    fn pause(&self) -> Duration {
        let (pause, _) = PAUSE;
        let pause = pause.saturating_mul(times(self.size)).min(PAUSE_MAX);
        pause.saturating_mul(times(self.size.saturating_sub(LATE)))
    }

    pub(super) fn wait(&self) -> Option<Duration> {
        let due = self.due?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    pub(super) fn settle(&mut self) {
        if self.wait().is_some_and(|wait| wait.is_zero()) {
            self.write();
        }
    }

    /// Recovers when somebody has truncated the file: everything so far becomes one step of each stream.
    fn mend(&mut self) {
        let there = self.file.as_ref().and_then(|file| file.metadata().ok());
        let Some(there) = there.filter(|there| there.len() < self.size as u64) else {
            return;
        };
        self.size = usize::try_from(there.len()).unwrap_or_default();
        let (at, noted) = (self.at, self.noted);
        let step = |stream: Stream| (noted[stream as usize] > 0).then_some(stream);
        let streams = [Stream::Out, Stream::Err].into_iter().filter_map(step);
        let steps = streams.map(|stream| Arrival {
            stream,
            to: noted[stream as usize],
            at,
        });
        self.steps = steps.collect();
    }

    fn write(&mut self) {
        self.due = None;
        self.mend();
        let text: String = self.steps.drain(..).map(|step| step.to_string()).collect();
        self.size += text.len();
        let failed = |file: &mut File| file.write_all(text.as_bytes()).is_err();
        if self.file.take_if(failed).is_some() {
            // What it does not tell of would not be shown while the agent works.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What was not written yet is written at the end, however that comes.
impl Drop for Index {
    fn drop(&mut self) {
        if !self.steps.is_empty() {
            self.write();
        }
    }
}

fn times(size: usize) -> u32 {
    2_u32.saturating_pow(u32::try_from(size / PAUSE.1).unwrap_or(u32::MAX))
}

/// Now, in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    i64::try_from(millis).unwrap_or(i64::MAX)
}

pub(super) struct Raw {
    path: PathBuf,
    file: File,
    size: u64,
    left_out: u64,
}

impl Raw {
    /// Begins a file: the name of the attempt with an extension.
    pub(super) fn begin(attempt: &Path, extension: &str) -> Result<Raw> {
        let mut path = OsString::from(attempt);
        path.push(extension);
        let path = PathBuf::from(path);
        let file = match create_anew(&path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(&path);
                create_private_folder(folder).and_then(|()| create_anew(&path))
            }
            file => file,
        };
        let file = file.map_err(|cause| unwritable(&path, cause))?;
        Ok(Raw {
            path,
            file,
            size: 0,
            left_out: 0,
        })
    }

    pub(super) fn keep(&mut self, bytes: &[u8]) -> Result<()> {
        let room = KEPT_MAX.saturating_sub(self.size).min(bytes.len() as u64);
        let (now, beyond) = bytes.split_at(room as usize);
        self.left_out += beyond.len() as u64;
        self.write(now)
    }

    pub(super) fn end(&mut self) -> Result<()> {
        if self.left_out == 0 {
            return Ok(());
        }
        let note = format!("\n[cleo left out {} more bytes]\n", self.left_out);
        self.write(note.as_bytes())
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.size += bytes.len() as u64;
        let written = self.file.write_all(bytes);
        written.map_err(|cause| unwritable(&self.path, cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::arrivals::Stream::{Err, Out};
    use crate::run::arrivals::{INDEX_MAX, read};
    use tempfile::TempDir;

    struct World {
        folder: TempDir,
        index: Index,
    }

    impl World {
        fn new() -> World {
            let folder = tempfile::tempdir().unwrap();
            let mut index = Index::of(&folder.path().join("T1-1"));
            index.expect();
            World { folder, index }
        }

        fn note(&mut self, steps: &[(Stream, u64)]) {
            for (stream, to) in steps {
                self.index.note(*stream, *to);
            }
        }

        fn text(&self) -> String {
            fs::read_to_string(self.folder.path().join("T1-1.index")).unwrap()
        }

        fn end(self) -> Vec<(Stream, u64)> {
            let World { folder, index } = self;
            drop(index);
            let text = fs::read(folder.path().join("T1-1.index")).unwrap();
            let steps = read(&text);
            assert!(steps.is_sorted_by_key(|step| step.at));
            steps.iter().map(|step| (step.stream, step.to)).collect()
        }
    }

    #[test]
    fn what_follows_on_the_same_output_is_one_step() {
        let mut world = World::new();
        world.note(&[(Out, 1), (Out, 2), (Err, 1), (Err, 1), (Out, 2), (Out, 5)]);
        assert_eq!(world.end(), [(Out, 2), (Err, 1), (Out, 5)]);
    }

    #[test]
    fn steps_are_written_when_they_are_due() {
        let mut world = World::new();
        assert_eq!(world.index.wait(), None);
        world.note(&[(Out, 1)]);
        assert!(world.index.wait().unwrap() <= PAUSE.0);
        world.index.due = Some(Instant::now());
        world.index.settle();
        assert!(world.text().starts_with("out 1 "));
        assert_eq!(world.index.wait(), None);
        world.note(&[(Out, 2)]);
        assert_eq!(world.end(), [(Out, 1), (Out, 2)]);
    }

    #[test]
    fn a_flood_takes_little_room_and_its_end_is_known() {
        let mut world = World::new();
        for to in 1..=100_000 {
            world.note(&[(Out, to), (Err, to)]);
        }
        let exact = world.index.steps.len();
        assert!(exact * STEP <= EXACT_MAX + STEP, "{exact}");
        let steps = world.end();
        assert_eq!(steps[..2], [(Out, 1), (Err, 1)]);
        assert!(steps.ends_with(&[(Out, 100_000), (Err, 100_000)]));
    }

    #[test]
    fn the_larger_it_is_the_less_often_it_is_written() {
        let mut world = World::new();
        for (size, times) in [(0, 1), (PAUSE.1, 2), (3 * PAUSE.1 + 1, 8), (LATE, 100)] {
            world.index.size = size;
            assert_eq!(world.index.pause(), PAUSE.0 * times, "{size}");
        }
        world.index.size = usize::MAX;
        assert!(world.index.pause() > Duration::from_secs(3_600));
    }

    #[test]
    fn weeks_of_output_stay_within_the_bound() {
        let mut world = World::new();
        // What both outputs take at most at once: their two steps.
        let (mut passed, both) = (Duration::ZERO, 2 * STEP);
        world.index.size = EXACT_MAX;
        while world.index.size + both < INDEX_MAX as usize && passed.as_secs() < 30 * 86_400 {
            passed += world.index.pause();
            world.index.size += both;
        }
        assert!(passed.as_secs() >= 30 * 86_400, "{passed:?}");
    }

    #[test]
    fn times_are_those_of_the_clock_and_never_go_back() {
        let mut world = World::new();
        let before = now();
        world.note(&[(Out, 1)]);
        let at = world.index.steps[0].at;
        assert!((before..=now()).contains(&at), "{at}");
        // As if the machine had slept, and then as if the clock were set back.
        world.index.at = 1;
        world.note(&[(Err, 1)]);
        assert!(world.index.steps[1].at >= at);
        world.index.at = i64::MAX;
        world.note(&[(Out, 2)]);
        assert_eq!(world.index.steps[2].at, i64::MAX);
    }

    #[test]
    fn one_that_is_emptied_is_made_up_for_and_has_no_hole() {
        let mut world = World::new();
        world.note(&[(Out, 1)]);
        world.index.write();
        File::create(&world.index.path).unwrap();
        world.note(&[(Err, 1), (Out, 2)]);
        assert_eq!(world.end(), [(Out, 2), (Err, 1)]);
    }

    #[test]
    fn one_that_cannot_be_written_is_removed() {
        let mut world = World::new();
        world.note(&[(Out, 1)]);
        world.index.write();
        // Nothing can be written to what was opened to be read.
        world.index.file = File::open(&world.index.path).ok();
        world.note(&[(Out, 2)]);
        world.index.write();
        world.note(&[(Out, 3)]);
        assert!(world.index.file.is_none() && world.index.steps.is_empty());
        assert!(!world.index.path.exists());
    }

    #[test]
    fn without_a_file_nothing_is_noted_and_nothing_fails() {
        let mut index = Index::of(Path::new("/nowhere/T1-1"));
        index.expect();
        index.note(Out, 1);
        assert_eq!((index.wait(), index.steps.len()), (None, 0));
    }
}
