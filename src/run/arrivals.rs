//! The order of an agent's output. Its two streams are two files; the index tells step by step how far a
//! stream had come by when, in lines such as `out 1234 1769418000000`. A corrupt index loses timestamps and
//! ordering, never output. Pure.

use std::fmt;
use std::ops::Range;

use crate::words::closed;

/// How much of one output is kept, in bytes.
pub(crate) const KEPT_MAX: u64 = 64 << 20;
/// Most bytes of an index that are looked at, and the size that none comes to in practice.
pub(crate) const INDEX_MAX: u64 = 4 << 20;
/// Most lines that are told of an agent: the first ones.
pub(crate) const LINES_MAX: usize = 1_000_000;

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
pub(crate) struct Arrival {
    pub(crate) stream: Stream,
    /// How many bytes of it had come.
    pub(crate) to: u64,
    /// By when, in milliseconds since 1970.
    pub(crate) at: i64,
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

pub(crate) fn read(index: &[u8]) -> Vec<Arrival> {
    let lines = index.split_inclusive(|byte| *byte == b'\n');
    lines.filter_map(Arrival::read).collect()
}

/// A line that an agent wrote. There may be very many, so it holds nothing but its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spoken {
    pub(crate) stream: Stream,
    /// Which of its lines, from 0.
    pub(crate) line: u32,
    /// The number, from 1, of the step in which its end came; 0 where no step tells.
    step: u32,
}

impl Spoken {
    /// When its end had come, in milliseconds since 1970; none where the index does not tell.
    pub(crate) fn at(&self, index: &[Arrival]) -> Option<i64> {
        let step = self.step.checked_sub(1)?;
        index.get(step as usize).map(|step| step.at)
    }
}

/// Orders the lines of both streams by when their ends came, up to one more than [`LINES_MAX`]. Indexed lines
/// come first and keep their place while more come; `rest` says of which streams the others are included. An
/// unterminated last line ends with the agent.
pub(crate) fn in_order(index: &[Arrival], [out, err]: [&Ends; 2], rest: [bool; 2]) -> Vec<Spoken> {
    let (out, err) = (Output::new(Stream::Out, out), Output::new(Stream::Err, err));
    let mut outputs = [out, err];
    let mut spoken = Vec::new();
    for (step, arrival) in (1..).zip(index) {
        let output = &mut outputs[arrival.stream as usize];
        output.came = output.came.max(arrival.to);
        let ends = output.ends.whole[output.told..].iter();
        let count = ends
            .take_while(|end| u64::from(**end) <= arrival.to)
            .count();
        output.tell(count, step, &mut spoken);
    }
    let last = index.len() as u32;
    for (output, has_rest) in outputs.into_iter().zip(rest) {
        if has_rest {
            output.rest(last, &mut spoken);
        }
    }
    spoken
}

struct Output<'a> {
    stream: Stream,
    ends: &'a Ends,
    /// How many of its lines were told.
    told: usize,
    came: u64,
}

impl<'a> Output<'a> {
    fn new(stream: Stream, ends: &'a Ends) -> Output<'a> {
        Output {
            stream,
            ends,
            told: 0,
            came: 0,
        }
    }

    /// Tells the others. The time of a last line without an end is that of the last step.
    fn rest(mut self, last: u32, spoken: &mut Vec<Spoken>) {
        self.tell(self.ends.whole.len() - self.told, 0, spoken);
        if let Some(end) = self.ends.open {
            let is_known = u64::from(end) <= self.came;
            self.tell(1, if is_known { last } else { 0 }, spoken);
        }
    }

    fn tell(&mut self, count: usize, step: u32, spoken: &mut Vec<Spoken>) {
        let stream = self.stream;
        let lines = (self.told..self.told + count).map(|line| Spoken {
            stream,
            line: line as u32,
            step,
        });
        let room = (LINES_MAX + 1).saturating_sub(spoken.len());
        spoken.extend(lines.take(room));
        self.told += count;
    }
}

/// Where the lines of an output end, in bytes from its beginning, as far as they can be told.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// Those of whole lines, one more than are told at most.
    whole: Vec<u32>,
    /// That of a last line that has no end of its own.
    open: Option<u32>,
    size: u32,
}

impl Ends {
    /// Takes the bytes that come next. Together they are a few times [`KEPT_MAX`] at
    /// most.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let before = self.size;
        let room = (LINES_MAX + 1).saturating_sub(self.whole.len());
        let ends = memchr::memchr_iter(b'\n', bytes).take(room);
        self.whole.extend(ends.map(|end| before + end as u32 + 1));
        self.size += bytes.len() as u32;
    }

    /// Says that no more bytes come: what follows the last end is a line as well.
    pub(crate) fn close(&mut self) {
        let last = self.whole.last().copied().unwrap_or(0);
        self.open = Some(self.size).filter(|size| *size > last && !self.are_full());
    }

    pub(crate) fn are_full(&self) -> bool {
        self.whole.len() > LINES_MAX
    }

    pub(crate) fn line(&self, line: usize) -> Range<u64> {
        let former = line.checked_sub(1).and_then(|line| self.whole.get(line));
        let start = former.copied().unwrap_or(0);
        let whole = self.whole.get(line).map(|end| end - 1);
        let end = whole.or(self.open).unwrap_or(start);
        u64::from(start)..u64::from(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUT: &[u8] = b"one\nthree\r\nfi";
    const ERR: &[u8] = b"two\nfour\n";
    const INDEX: &str = "out 5 1\nerr 4 2\nout 11 3\nerr 9 4\nout 13 5\n";

    fn ends(bytes: &[u8], is_over: bool) -> Ends {
        let mut ends = Ends::default();
        ends.take(bytes);
        if is_over {
            ends.close();
        }
        ends
    }

    fn told(index: &str, is_over: bool, rest: [bool; 2]) -> String {
        let steps = read(index.as_bytes());
        let ends = [OUT, ERR].map(|bytes| ends(bytes, is_over));
        let one = |line: &Spoken| {
            let which = line.stream as usize;
            let place = ends[which].line(line.line as usize);
            let text = &[OUT, ERR][which][place.start as usize..place.end as usize];
            let text = String::from_utf8_lossy(text).trim_end().to_string();
            match line.at(&steps) {
                Some(at) => format!("{text}@{at}"),
                None => text,
            }
        };
        let spoken = in_order(&steps, [&ends[0], &ends[1]], rest);
        spoken.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn told_all(index: &str) -> String {
        told(index, true, [true; 2])
    }

    #[test]
    fn lines_stand_where_their_ends_came() {
        assert_eq!(told_all(INDEX), "one@1 two@2 three@3 four@4 fi@5");
    }

    #[test]
    fn a_line_keeps_its_place_while_more_comes() {
        let whole = told_all(INDEX);
        let ends = INDEX.match_indices('\n').map(|(end, _)| end + 1);
        for end in ends.chain([0, 3, INDEX.len() - 1]) {
            let live = told(&INDEX[..end], false, [false; 2]);
            assert!(whole.starts_with(&live), "{live} at {end}");
        }
        let live = told(INDEX, false, [false; 2]);
        assert_eq!(live, "one@1 two@2 three@3 four@4");
    }

    #[test]
    fn without_an_index_the_outputs_follow_one_another() {
        assert_eq!(told_all(""), "one three fi two four");
        assert_eq!(told("", false, [true, false]), "one three");
        assert_eq!(told("", false, [true, true]), "one three two four");
        assert_eq!(told("", false, [false, false]), "");
    }

    #[test]
    fn what_cannot_be_read_of_an_index_costs_no_more_than_itself() {
        let hurt = INDEX.replace("err 4 2\n", "\u{0}\u{0}err 4 2\nout 1");
        assert_eq!(told_all(&hurt), "one@1 two@4 four@4 three@5 fi@5");
    }

    #[test]
    fn no_more_lines_are_told_than_shows_that_there_are_too_many() {
        let many = ends("\n".repeat(LINES_MAX + 3).as_bytes(), true);
        assert!(many.are_full());
        let spoken = in_order(&[], [&many, &many], [true; 2]);
        assert_eq!(spoken.len(), LINES_MAX + 1);
        // There may be that many, so a line has to be small.
        assert!(size_of::<Spoken>() <= 12);
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
            let told = told_all(index);
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

    #[test]
    fn lines_are_where_they_are_however_the_bytes_come() {
        let text = b"one\n\nthree\nfo";
        for size in 1..=text.len() {
            let mut ends = Ends::default();
            text.chunks(size).for_each(|bytes| ends.take(bytes));
            assert_eq!(ends.open, None);
            ends.close();
            let lines: Vec<_> = (0..4).map(|line| ends.line(line)).collect();
            assert_eq!(lines, [0..3, 4..4, 5..10, 11..13], "{size}");
        }
    }

    #[test]
    fn after_a_last_end_no_line_is_left() {
        for text in ["", "\n", "one\n"] {
            let mut ends = Ends::default();
            ends.take(text.as_bytes());
            ends.close();
            assert_eq!(ends.open, None, "{text:?}");
        }
    }
}
