//! What an agent wrote, as files: where its lines are and in which order they came. What they say is read
//! when it is asked for, so a long log takes little memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Result;
use crate::file::{open, read_start, unreadable};
use crate::run::arrivals::{self, Arrival, Ends, INDEX_MAX, KEPT_MAX, LINES_MAX, Spoken, Stream};

/// Most bytes of an output that are looked at: what is kept of one, and what it says of the others.
const OUTPUT_MAX: u64 = KEPT_MAX + 1024;
/// Most bytes of a line that are read: as many as a runner hears of one.
const TEXT_MAX: u64 = 1 << 20;
/// How much is read at once, in bytes.
const CHUNK: usize = 64 * 1024;
/// After how long an index tells no more of an output: longer than it takes to be written.
const QUIET: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(super) struct Written {
    index: Vec<Arrival>,
    outputs: [Output; 2],
    spoken: Vec<Spoken>,
    /// Whether there are more lines.
    is_cut: bool,
}

/// A line that an agent wrote, without its end.
pub(super) struct Said {
    pub(super) stream: Stream,
    /// When its end had come, in milliseconds since 1970.
    pub(super) at: Option<i64>,
    pub(super) text: String,
    /// How many bytes of the line are not in the text.
    pub(super) beyond: usize,
}

impl Written {
    /// Reads where the lines are; `path` says where the file with an extension is. As long as the agent
    /// may write, lines are told that keep their place: those that the index tells of, and without one
    /// those of the standard output. Lines of which an index ought to have told by now are told as well,
    /// because somebody has hurt it.
    pub(super) fn read(path: &dyn Fn(&str) -> PathBuf, is_over: bool) -> Result<Written> {
        let place = path("index");
        // First, so that what it tells of is there in the outputs.
        let is_there = place.is_file();
        let index = is_there.then(|| read_start(&place, INDEX_MAX).ok());
        let index = index.flatten().map(|bytes| arrivals::read(&bytes));
        let out = Output::read(path("out"), is_over)?;
        let err = match is_over || index.is_some() {
            true => Output::read(path("err"), is_over)?,
            false => Output::default(),
        };
        // It came with the first output, and after the look at it.
        if !is_over && !is_there && place.is_file() {
            return Ok(Written::default());
        }
        let rest = [
            is_over || out.is_quiet || index.is_none(),
            is_over || err.is_quiet,
        ];
        Ok(Written::of(index.unwrap_or_default(), [out, err], rest))
    }

    fn of(index: Vec<Arrival>, outputs: [Output; 2], rest: [bool; 2]) -> Written {
        let ends = outputs.each_ref().map(|output| &output.ends);
        let mut spoken = arrivals::in_order(&index, ends, rest);
        let is_cut = spoken.len() > LINES_MAX;
        spoken.truncate(LINES_MAX);
        Written {
            index,
            outputs,
            spoken,
            is_cut,
        }
    }

    /// How many lines there are, with one for all that are too many.
    pub(super) fn total(&self) -> usize {
        self.spoken.len() + usize::from(self.is_cut)
    }

    /// Reads a line; none for the one that stands for all that are too many.
    pub(super) fn line(&mut self, n: usize) -> Result<Option<Said>> {
        let Some(spoken) = self.spoken.get(n) else {
            return Ok(None);
        };
        let output = &mut self.outputs[spoken.stream as usize];
        let (text, beyond) = output.text(spoken.line as usize)?;
        Ok(Some(Said {
            stream: spoken.stream,
            at: spoken.at(&self.index),
            text,
            beyond,
        }))
    }
}

/// An output; by itself one that is not there.
#[derive(Default)]
struct Output {
    path: PathBuf,
    input: Option<BufReader<File>>,
    /// How far it was read.
    at: u64,
    ends: Ends,
    /// Whether nothing was written to it for a while.
    is_quiet: bool,
}

impl Output {
    fn read(path: PathBuf, is_over: bool) -> Result<Output> {
        let mut output = Output {
            path,
            ..Output::default()
        };
        if output.path.is_file() {
            let file = open(&output.path)?;
            let looked = output.look_through(file);
            looked.map_err(|cause| unreadable(&output.path, cause))?;
        }
        if is_over {
            output.ends.close();
        }
        Ok(output)
    }

    fn look_through(&mut self, file: File) -> io::Result<()> {
        let mut input = BufReader::with_capacity(CHUNK, file);
        while !self.ends.are_full() {
            let bytes = input.fill_buf()?;
            let read = bytes.len().min((OUTPUT_MAX - self.at) as usize);
            if read == 0 {
                break;
            }
            self.ends.take(&bytes[..read]);
            input.consume(read);
            self.at += read as u64;
        }
        let since = input.get_ref().metadata()?.modified()?.elapsed();
        self.is_quiet = since.is_ok_and(|since| since > QUIET);
        self.input = Some(input);
        Ok(())
    }

    /// Reads what a line says, and how many bytes are left out of that.
    fn text(&mut self, line: usize) -> Result<(String, usize)> {
        let place = self.ends.line(line);
        let read = self.bytes(&place);
        let bytes = read.map_err(|cause| unreadable(&self.path, cause))?;
        let beyond = (place.end - place.start) as usize - bytes.len();
        let text = bytes.strip_suffix(b"\r").unwrap_or(&bytes);
        Ok((String::from_utf8_lossy(text).into_owned(), beyond))
    }

    fn bytes(&mut self, place: &Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let Some(input) = &mut self.input else {
            return Ok(bytes);
        };
        input.seek_relative(place.start as i64 - self.at as i64)?;
        let most = (place.end - place.start).min(TEXT_MAX);
        let read = input.by_ref().take(most).read_to_end(&mut bytes)?;
        self.at = place.start + read as u64;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::time::SystemTime;

    use tempfile::TempDir;

    use super::*;

    struct World {
        folder: TempDir,
    }

    impl World {
        fn of(out: &str, err: &str, index: Option<&str>) -> World {
            let folder = tempfile::tempdir().unwrap();
            let world = World { folder };
            let index = index.map(|index| ("index", index));
            for (end, text) in [("out", out), ("err", err)].into_iter().chain(index) {
                fs::write(world.path(end), text).unwrap();
            }
            world
        }

        fn path(&self, end: &str) -> PathBuf {
            self.folder.path().join(format!("T1-1.{end}"))
        }

        fn open(&self, end: &str) -> File {
            File::options().append(true).open(self.path(end)).unwrap()
        }

        /// Has an output be as it is for a minute.
        fn quiet(&self, end: &str) {
            let before = SystemTime::now() - Duration::from_secs(60);
            self.open(end).set_modified(before).unwrap();
        }

        fn read(&self, is_over: bool) -> Written {
            Written::read(&|end| self.path(end), is_over).unwrap()
        }

        fn live(&self) -> String {
            let mut written = self.read(false);
            let lines = (0..written.total()).map(|n| written.line(n).unwrap().unwrap().text);
            lines.collect::<Vec<_>>().join(" ")
        }
    }

    #[test]
    fn lines_that_a_hurt_index_ought_to_have_told_of_are_told() {
        for (index, at_once) in [("", ""), ("out 4 1\n", "one"), ("\u{0}\u{0}out 4", "")] {
            let world = World::of("one\nthree\nfo", "two\n", Some(index));
            assert_eq!(world.live(), at_once, "{index:?}");
            world.quiet("err");
            assert_eq!(world.live(), [at_once, "two"].join(" ").trim());
            world.quiet("out");
            assert_eq!(world.live(), "one three two");
        }
    }

    #[test]
    fn without_an_index_the_standard_output_is_told_at_once() {
        let world = World::of("one\nthree\nfo", "two\n", None);
        world.quiet("err");
        assert_eq!(world.live(), "one three");
        assert_eq!(world.read(true).total(), 4);
    }

    #[test]
    fn what_a_full_output_says_at_its_end_is_told() {
        let world = World::of("", "", None);
        let mut out = world.open("out");
        out.set_len(KEPT_MAX).unwrap();
        out.write_all(b"\n[cleo left out 5 more bytes]\n").unwrap();
        let mut written = world.read(true);
        assert_eq!(written.total(), 2);
        let note = written.line(1).unwrap().unwrap();
        assert_eq!(note.text, "[cleo left out 5 more bytes]");
        let long = written.line(0).unwrap().unwrap();
        let sizes = (long.text.len() as u64, long.beyond as u64);
        assert_eq!(sizes, (TEXT_MAX, KEPT_MAX - TEXT_MAX));
    }

    #[test]
    fn of_very_many_lines_the_first_are_told_and_one_for_the_rest() {
        let world = World::of(&"\n".repeat(LINES_MAX), "err\n", None);
        let mut written = world.read(true);
        assert_eq!(written.total(), LINES_MAX + 1);
        assert!(written.line(LINES_MAX).unwrap().is_none());
        assert!(written.line(LINES_MAX - 1).unwrap().is_some());
    }

    #[test]
    fn lines_can_be_read_in_any_order() {
        let text: String = (0..30_000).map(|n| format!("line {n}\r\n")).collect();
        let world = World::of(&text, "", None);
        let mut written = world.read(true);
        for n in [29_999, 0, 1, 2, 15_000, 14_999, 29_998, 29_999] {
            let said = written.line(n).unwrap().unwrap();
            assert_eq!((said.text, said.beyond), (format!("line {n}"), 0));
        }
    }
}
