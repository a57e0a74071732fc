//! Lines out of bytes that come in pieces, each at most so long: who writes a line without an end
//! fills no memory.

pub(super) struct Lines {
    line: Vec<u8>,
    max: usize,
}

impl Lines {
    /// Lines of at most `max` bytes; what a line has beyond that is left out.
    pub(super) fn new(max: usize) -> Lines {
        Lines {
            line: Vec::new(),
            max,
        }
    }

    /// Takes bytes, and hands on each line that ends in them.
    pub(super) fn take(&mut self, bytes: &[u8], hear: &mut dyn FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            let more = text.unwrap_or(part);
            let room = self.max.saturating_sub(self.line.len()).min(more.len());
            self.line.extend_from_slice(&more[..room]);
            if text.is_some() {
                self.end(hear);
            }
        }
    }

    /// Hands on what there is of a line, if there is anything.
    pub(super) fn end(&mut self, hear: &mut dyn FnMut(&str)) {
        let line = String::from_utf8_lossy(self.line.trim_ascii_end());
        if !line.is_empty() {
            hear(&line);
        }
        self.line.clear();
        // A long line does not keep its room for the short ones that follow.
        self.line.shrink_to(64 * 1024);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str, size: usize, max: usize) -> Vec<String> {
        let mut lines = Lines::new(max);
        let mut heard = Vec::new();
        let mut hear = |line: &str| heard.push(line.to_string());
        for piece in text.as_bytes().chunks(size) {
            lines.take(piece, &mut hear);
        }
        lines.end(&mut hear);
        heard
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let text = "one\r\n\ntwo and more\nthree";
        for size in [1, 3, 100] {
            assert_eq!(heard(text, size, 100), ["one", "two and more", "three"]);
            assert_eq!(heard(text, size, 3), ["one", "two", "thr"]);
        }
    }
}
