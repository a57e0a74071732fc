//! Text from bytes that arrive in pieces.

/// Makes text of bytes; a character that is not whole yet waits for the next piece.
#[derive(Default)]
pub(crate) struct Text {
    held: Vec<u8>,
}

impl Text {
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let whole = self.held.len() - open(&self.held);
        let text = String::from_utf8_lossy(&self.held[..whole]).into_owned();
        self.held.drain(..whole);
        text
    }

    /// Returns what still waits.
    pub(crate) fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}

/// Counts the bytes at the end that begin a character and do not end it.
fn open(bytes: &[u8]) -> usize {
    let last = bytes
        .utf8_chunks()
        .last()
        .map_or(&[][..], |chunk| chunk.invalid());
    match std::str::from_utf8(last) {
        Err(fault) if fault.error_len().is_none() => last.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_text_arrives_makes_no_difference() {
        let text = "aé€😀z\u{fffd}";
        for size in 1..=text.len() {
            let mut read = Text::default();
            let pieces = text.as_bytes().chunks(size);
            let mut found: String = pieces.map(|piece| read.push(piece)).collect();
            found += &read.finish();
            assert_eq!(found, text, "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_no_text_is_replaced_and_holds_nothing_up() {
        let mut read = Text::default();
        assert_eq!(read.push(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(
            read.push(b"\x80\x80\x80\x80x"),
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}x"
        );
        assert_eq!(read.push(b"\xe2\x82"), "");
        assert_eq!(read.finish(), "\u{fffd}");
    }
}
