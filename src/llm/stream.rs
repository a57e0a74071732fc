//! Answers that come piece by piece: server-sent events, or a JSON document a line. Pure.

/// Longest event, in bytes.
pub const EVENT_MAX: usize = 1 << 20;

/// How events are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events, of which the data counts.
    Events,
    /// One event a line.
    Lines,
}

/// Reads events out of text that arrives in any pieces.
#[derive(Debug)]
pub struct Reader {
    framing: Framing,
    /// The line that has not ended yet.
    line: String,
    /// The data of the event that has not ended yet.
    data: Option<String>,
    /// True after a carriage return, with which a line feed belongs.
    after_return: bool,
}

/// An event was longer than [`EVENT_MAX`].
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Reader {
    /// Begins to read.
    pub fn new(framing: Framing) -> Reader {
        Reader {
            framing,
            line: String::new(),
            data: None,
            after_return: false,
        }
    }

    /// Takes more text and returns the events that are whole now.
    pub fn push(&mut self, text: &str) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        for part in text.split_inclusive(['\n', '\r']) {
            let end = part
                .chars()
                .next_back()
                .filter(|c| matches!(c, '\n' | '\r'));
            let line = part.trim_end_matches(['\n', '\r']);
            let is_second = self.after_return && line.is_empty() && end == Some('\n');
            self.after_return = end == Some('\r');
            if is_second {
                continue;
            }
            self.line += line;
            let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
            if held > EVENT_MAX {
                return Err(TooLong);
            }
            if end.is_some() {
                events.extend(self.end_line());
            }
        }
        Ok(events)
    }

    /// Returns the event that was open when the text ended: some servers leave out its end.
    pub fn finish(&mut self) -> Option<String> {
        let last = self.end_line();
        last.or_else(|| self.data.take())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_start_matches('\u{feff}');
        match self.framing {
            Framing::Lines => Some(line.trim().to_string()).filter(|line| !line.is_empty()),
            Framing::Events if line.is_empty() => self.data.take(),
            Framing::Events => {
                self.field(line);
                None
            }
        }
    }

    /// Takes a field of an event. Names, ids, comments and unknown fields say nothing here.
    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name != "data" {
            return;
        }
        let value = value.strip_prefix(' ').unwrap_or(value);
        match &mut self.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            None => self.data = Some(value.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(framing: Framing, text: &str, size: usize) -> Vec<String> {
        let mut reader = Reader::new(framing);
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters
            .chunks(size)
            .map(|piece| piece.iter().collect::<String>());
        let mut events: Vec<String> = pieces
            .flat_map(|piece| reader.push(&piece).unwrap())
            .collect();
        events.extend(reader.finish());
        events
    }

    #[test]
    fn events_are_read_however_they_are_written_and_arrive() {
        for (text, events) in [
            ("data: a\n\ndata: b\n\n", vec!["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", vec!["a", "b"]),
            ("data: a\r\rdata: b\r\r", vec!["a", "b"]),
            ("event: x\nid: 7\n: comment\ndata:a\n\n", vec!["a"]),
            ("data: {\ndata: }\n\n", vec!["{\n}"]),
            ("\u{feff}data: a\n\n", vec!["a"]),
            ("\n\n: ping\n\n\n", vec![]),
            ("data: cut", vec!["cut"]),
            ("data: cut\n", vec!["cut"]),
            ("data\n\n", vec![""]),
            ("", vec![]),
        ] {
            for size in 1..8 {
                assert_eq!(
                    read(Framing::Events, text, size),
                    events,
                    "{text:?} by {size}"
                );
            }
        }
    }

    #[test]
    fn lines_are_events_and_empty_ones_are_none() {
        for size in 1..5 {
            let events = read(Framing::Lines, "{1}\r\n\n {2} \n{3}", size);
            assert_eq!(events, ["{1}", "{2}", "{3}"]);
        }
    }

    #[test]
    fn an_event_without_end_is_refused_before_it_fills_the_memory() {
        let mut reader = Reader::new(Framing::Events);
        let line = format!("data: {}\n", "x".repeat(1_000));
        let refused = (0..2_000).find_map(|_| reader.push(&line).err());
        assert_eq!(refused, Some(TooLong));
        let mut reader = Reader::new(Framing::Lines);
        assert_eq!(reader.push(&"x".repeat(EVENT_MAX + 1)), Err(TooLong));
    }
}
