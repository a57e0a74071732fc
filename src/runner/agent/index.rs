//! The index of what an agent writes: a file beside its outputs that says in which order they came, so
//! that both can be read as one. Nothing depends on it: what goes wrong with it ends it and nothing else.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::file::create_anew;
use crate::run::arrivals::{Arrival, Stream};

/// Shortest time between two writes; it doubles with every so many bytes of the file, which therefore
/// takes weeks of output to come to its bound.
const PAUSE: (Duration, usize) = (Duration::from_millis(20), 64 * 1024);
/// Up to which size the order within a pause is kept, in bytes.
const EXACT_MAX: usize = 256 * 1024;
/// About how long a step is, in bytes.
const STEP: usize = 32;

/// What came in, and when.
pub(super) struct Index {
    path: PathBuf,
    /// None before anything came, and after the file failed.
    file: Option<File>,
    size: usize,
    begun: Instant,
    /// When it was begun, in milliseconds since 1970.
    begun_at: i64,
    /// How far each output had come when it was noted last.
    noted: [u64; 2],
    steps: Vec<Arrival>,
    /// When the steps are to be written.
    due: Option<Instant>,
}

impl Index {
    /// Makes an index of an attempt.
    pub(super) fn of(attempt: &Path) -> Index {
        let mut path = OsString::from(attempt);
        path.push(".index");
        let begun_at = SystemTime::now().duration_since(UNIX_EPOCH);
        Index {
            path: path.into(),
            file: None,
            size: 0,
            begun: Instant::now(),
            begun_at: begun_at.map_or(0, millis),
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

    /// Notes that an output has come so far.
    pub(super) fn note(&mut self, stream: Stream, to: u64) {
        let noted = &mut self.noted[stream as usize];
        if *noted == to {
            return;
        }
        *noted = to;
        if self.file.is_some() {
            let now = Instant::now();
            let at = self.begun_at + millis(now.duration_since(self.begun));
            self.step(Arrival { stream, to, at });
            self.due = self.due.or(Some(now + self.pause()));
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
        let (pause, size) = PAUSE;
        let times = u32::try_from(self.size / size).unwrap_or(u32::MAX);
        pause.saturating_mul(2_u32.saturating_pow(times))
    }

    /// How long it is until steps are to be written, if there are any.
    pub(super) fn wait(&self) -> Option<Duration> {
        let due = self.due?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Writes the steps down when it is time.
    pub(super) fn settle(&mut self) {
        if self.wait().is_some_and(|wait| wait.is_zero()) {
            self.write();
        }
    }

    fn write(&mut self) {
        self.due = None;
        let text: String = self.steps.drain(..).map(|step| step.to_string()).collect();
        self.size += text.len();
        self.file
            .take_if(|file| file.write_all(text.as_bytes()).is_err());
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

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::run::arrivals::Stream::{Err, Out};
    use crate::run::arrivals::read;

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

        /// Ends the index and returns how far each output had come, step by step.
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
        for (size, times) in [(0, 1), (PAUSE.1, 2), (3 * PAUSE.1 + 1, 8)] {
            world.index.size = size;
            assert_eq!(world.index.pause(), PAUSE.0 * times, "{size}");
        }
        world.index.size = usize::MAX;
        assert!(world.index.pause() > Duration::from_secs(3_600));
    }

    #[test]
    fn without_a_file_nothing_is_noted_and_nothing_fails() {
        let mut index = Index::of(Path::new("/nowhere/T1-1"));
        index.expect();
        index.note(Out, 1);
        assert_eq!((index.wait(), index.steps.len()), (None, 0));
    }
}
