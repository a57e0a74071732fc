//! In which order what an agent wrote came in. Its two outputs are two files; a third one, the index,
//! tells step by step how far an output had come by when, in lines such as `out 1234 1769418000000`.
//! What is wrong with an index costs times and the order, never a line. Pure.

use std::borrow::Cow;
use std::fmt;
use std::iter::Peekable;

use crate::words::closed;

/// Most bytes of an index that are looked at, and the size that none comes to in practice.
pub const INDEX_MAX: u64 = 1 << 20;

closed! {
    /// What an agent writes to.
    Stream, "output of an agent":
    /// Its standard output.
    Out = "out",
    /// Its standard error.
    Err = "err",
}

/// A step of an index: how far an output had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Which output.
    pub stream: Stream,
    /// How many bytes of it had come.
    pub to: u64,
    /// By when, in milliseconds since 1970.
    pub at: i64,
}

impl fmt::Display for Arrival {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Arrival { stream, to, at } = self;
        writeln!(formatter, "{stream} {to} {at}")
    }
}

impl Arrival {
    fn read(line: &[u8]) -> Option<Arrival> {
        let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
        let mut words = line.split(' ');
        let arrival = Arrival {
            stream: words.next()?.parse().ok()?,
            to: words.next()?.parse().ok()?,
            at: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(arrival)
    }
}

/// Reads the steps of an index, as far as they are whole.
pub fn read(index: &[u8]) -> Vec<Arrival> {
    let lines = index.split_inclusive(|byte| *byte == b'\n');
    lines.map_while(Arrival::read).collect()
}

/// A line that an agent wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken<'a> {
    /// To which output.
    pub stream: Stream,
    /// The line, without its end.
    pub text: Cow<'a, str>,
    /// When its end had come, in milliseconds since 1970; none where the index does not tell.
    pub at: Option<i64>,
}

/// Puts the lines of both outputs into the order in which their ends came. As long as the agent may
/// write, only lines are told that keep their place: those that the index tells of, and without an
/// index those of the standard output. A last line without an end ends with the agent.
pub fn in_order<'a>(
    index: Option<&[Arrival]>,
    out: &'a [u8],
    err: &'a [u8],
    is_over: bool,
) -> Vec<Spoken<'a>> {
    let mut outputs = [
        Output::new(Stream::Out, out, is_over),
        Output::new(Stream::Err, err, is_over),
    ];
    let mut spoken = Vec::new();
    for arrival in index.unwrap_or_default() {
        outputs[arrival.stream as usize].come(arrival, &mut spoken);
    }
    let last = index.and_then(|index| index.last()).map(|last| last.at);
    let [out, err] = outputs;
    if is_over || index.is_none() {
        spoken.extend(out.rest(last));
    }
    if is_over {
        spoken.extend(err.rest(last));
    }
    spoken
}

/// What is left of an output.
struct Output<'a> {
    stream: Stream,
    lines: Peekable<Lines<'a>>,
    came: u64,
}

impl<'a> Output<'a> {
    /// A line that may still grow is left out.
    fn new(stream: Stream, bytes: &'a [u8], is_over: bool) -> Output<'a> {
        let whole = match is_over {
            true => bytes.len(),
            false => memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1),
        };
        let lines = Lines {
            rest: &bytes[..whole],
            end: 0,
        };
        Output {
            stream,
            lines: lines.peekable(),
            came: 0,
        }
    }

    /// Takes the lines that ended in a step.
    fn come(&mut self, arrival: &Arrival, spoken: &mut Vec<Spoken<'a>>) {
        self.came = self.came.max(arrival.to);
        let has_ended = |line: &Line<'_>| line.is_whole() && line.end <= arrival.to;
        while let Some(line) = self.lines.next_if(has_ended) {
            spoken.push(line.spoken(self.stream, Some(arrival.at)));
        }
    }

    /// Takes the others. The time of a last line without an end is that of the last step.
    fn rest(self, last: Option<i64>) -> impl Iterator<Item = Spoken<'a>> {
        let Output {
            stream,
            lines,
            came,
        } = self;
        lines.map(move |line| {
            let is_known = !line.is_whole() && line.end <= came;
            line.spoken(stream, last.filter(|_| is_known))
        })
    }
}

/// A line with what ends it.
struct Line<'a> {
    bytes: &'a [u8],
    /// How many bytes of the output there are up to its end.
    end: u64,
}

impl<'a> Line<'a> {
    fn is_whole(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }

    fn spoken(&self, stream: Stream, at: Option<i64>) -> Spoken<'a> {
        let text = match self.bytes.strip_suffix(b"\n") {
            Some(text) => text.strip_suffix(b"\r").unwrap_or(text),
            None => self.bytes,
        };
        let text = String::from_utf8_lossy(text);
        Spoken { stream, text, at }
    }
}

/// The lines of an output.
struct Lines<'a> {
    rest: &'a [u8],
    end: u64,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let length = memchr::memchr(b'\n', self.rest).map_or(self.rest.len(), |end| end + 1);
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.end += length as u64;
        Some(Line {
            bytes,
            end: self.end,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: &[u8] = b"one\nthree\r\nfi";
    const ERR: &[u8] = b"two\nfour\n";
    const INDEX: &str = "out 5 1\nerr 4 2\nout 11 3\nerr 9 4\nout 13 5\n";

    /// Says in which order lines are told, with their times.
    fn told(index: Option<&str>, is_over: bool) -> String {
        let steps = index.map(|index| read(index.as_bytes()));
        let spoken = in_order(steps.as_deref(), OUT, ERR, is_over);
        let one = |line: &Spoken<'_>| match line.at {
            Some(at) => format!("{}@{at}", line.text),
            None => line.text.to_string(),
        };
        spoken.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lines_stand_where_their_ends_came() {
        assert_eq!(told(Some(INDEX), true), "one@1 two@2 three@3 four@4 fi@5");
    }

    #[test]
    fn a_line_keeps_its_place_while_more_comes() {
        let whole = told(Some(INDEX), true);
        let ends = INDEX.match_indices('\n').map(|(end, _)| end + 1);
        for end in ends.chain([0, 3, INDEX.len() - 1]) {
            let live = told(Some(&INDEX[..end]), false);
            assert!(whole.starts_with(&live), "{live} at {end}");
        }
        assert_eq!(told(Some(INDEX), false), "one@1 two@2 three@3 four@4");
    }

    #[test]
    fn without_an_index_the_outputs_follow_one_another() {
        assert_eq!(told(None, true), "one three fi two four");
        assert_eq!(told(None, false), "one three");
    }

    #[test]
    fn no_index_loses_a_line() {
        let huge = format!("out {} {}\n", u64::MAX, i64::MIN);
        for index in [
            "",
            "\n",
            "out 4",
            "out 4 1",
            "out 4 1 \n",
            "out -4 1\n",
            "log 4 1\n",
            "out 4 1\nerr 99999999999999999999 2\n",
            "out 9 1\nout 1 0\nerr 9 0\nerr 4 9\n",
            "\u{0}\u{0}\u{0}",
            &huge,
        ] {
            let told = told(Some(index), true);
            let lines = told.split(' ').filter_map(|line| line.split('@').next());
            let mut lines: Vec<&str> = lines.collect();
            lines.sort_unstable();
            assert_eq!(lines, ["fi", "four", "one", "three", "two"], "{index:?}");
        }
    }

    #[test]
    fn a_step_is_read_as_it_was_written_and_a_torn_one_is_none() {
        let steps = read(INDEX.as_bytes());
        let written: String = steps.iter().map(Arrival::to_string).collect();
        assert_eq!(written, INDEX);
        for end in 33..INDEX.len() {
            assert_eq!(read(&INDEX.as_bytes()[..end]).len(), 4, "{end}");
        }
    }
}
