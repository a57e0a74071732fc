//! Events as they go to many: deflated once, shared by all who accept that. Each piece ends on a byte and
//! refers to nothing before it, so that whoever comes later gets the beginning of a stream and then the
//! same pieces as all others.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;
use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress};

/// The name of this encoding in headers: zlib's format (RFC 9110, section 8.4.1.2).
pub(super) const NAME: &str = "deflate";
/// What a stream begins with: deflate with a window of 32 KB, packed fast (RFC 1950, section 2.2).
pub(super) const HEAD: [u8; 2] = [0x78, 0x01];
/// What the data end with: a last block with nothing in it (RFC 1951, section 3.2.6).
const LAST: [u8; 2] = [0x03, 0x00];
/// The largest prime below 65,536, by which checksums are counted (RFC 1950, section 9).
const MODULUS: u32 = 65_521;

/// Says whether a caller takes answers in this encoding (RFC 9110, section 12.5.3).
pub(super) fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).into_iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case(NAME) && !is_none(weight)
    })
}

fn is_none(weight: &str) -> bool {
    let parts = weight.split_once('=');
    parts.is_some_and(|(name, weight)| {
        name.trim().eq_ignore_ascii_case("q") && weight.trim().parse() == Ok(0.0)
    })
}

/// Bytes on their way to who listens, as they are or packed.
#[derive(Clone, Debug, Default)]
pub(in crate::http) struct Piece {
    pub(super) bytes: Bytes,
    /// What is packed.
    plain: Sum,
}

impl From<Bytes> for Piece {
    fn from(bytes: Bytes) -> Piece {
        Piece {
            bytes,
            plain: Sum::default(),
        }
    }
}

/// Packs pieces.
pub(super) struct Packer(Compress);

impl Default for Packer {
    fn default() -> Packer {
        Packer(Compress::new(Compression::fast(), false))
    }
}

impl Packer {
    /// Packs one piece; nothing stays nothing.
    pub(super) fn pack(&mut self, plain: &[u8]) -> Piece {
        let mut bytes = Vec::with_capacity(plain.len() / 4 + 64);
        self.0.reset();
        while !plain.is_empty() {
            let rest = &plain[self.0.total_in() as usize..];
            // It cannot fail: there is room, and no dictionary.
            let _ = self.0.compress_vec(rest, &mut bytes, FlushCompress::Sync);
            if bytes.len() < bytes.capacity() {
                break;
            }
            bytes.reserve(bytes.len());
        }
        Piece {
            bytes: bytes.into(),
            plain: Sum::of(plain),
        }
    }
}

/// The checksum of bytes, Adler-32, with which another can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    a: u32,
    b: u32,
    /// How many bytes, by the modulus.
    length: u32,
}

impl Default for Sum {
    fn default() -> Sum {
        Sum {
            a: 1,
            b: 0,
            length: 0,
        }
    }
}

impl Sum {
    fn of(bytes: &[u8]) -> Sum {
        let mut sum = Sum::default();
        // So many bytes cannot overflow 32 bits.
        for chunk in bytes.chunks(5_552) {
            for byte in chunk {
                sum.a += u32::from(*byte);
                sum.b += sum.a;
            }
            sum.a %= MODULUS;
            sum.b %= MODULUS;
            sum.length = (sum.length + chunk.len() as u32) % MODULUS;
        }
        sum
    }

    pub(super) fn take(&mut self, piece: &Piece) {
        let next = piece.plain;
        let before = self.a + MODULUS - 1;
        let carried = u64::from(next.length) * u64::from(before % MODULUS) % u64::from(MODULUS);
        self.b = (self.b + next.b + carried as u32) % MODULUS;
        self.a = (before + next.a) % MODULUS;
        self.length = (self.length + next.length) % MODULUS;
    }

    pub(super) fn end(self) -> Bytes {
        let sum = (self.b << 16) | self.a;
        [&LAST[..], &sum.to_be_bytes()].concat().into()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use axum::http::HeaderValue;
    use flate2::read::ZlibDecoder;

    use super::*;

    fn unpacked(pieces: &[Piece]) -> std::io::Result<String> {
        let mut sum = Sum::default();
        let mut stream = HEAD.to_vec();
        for piece in pieces {
            stream.extend_from_slice(&piece.bytes);
            sum.take(piece);
        }
        stream.extend_from_slice(&sum.end());
        let mut text = String::new();
        ZlibDecoder::new(&stream[..]).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn whoever_comes_in_the_middle_reads_all_that_follows() {
        let mut packer = Packer::default();
        let texts: Vec<String> = (0..40_u32)
            .map(|n| format!("data: {n} ä\n\n").repeat((n * n * n) as usize % 9_000))
            .collect();
        let pieces: Vec<Piece> = texts
            .iter()
            .map(|text| packer.pack(text.as_bytes()))
            .collect();
        assert!(pieces[0].bytes.is_empty(), "nothing stays nothing");
        for begin in [0, 1, 2, 17, 39, 40] {
            let read = unpacked(&pieces[begin..]).unwrap();
            assert!(read == texts[begin..].concat(), "from {begin}");
        }
    }

    #[test]
    fn a_piece_that_is_missing_is_noticed() {
        let mut packer = Packer::default();
        let pieces = ["one", "two"].map(|text| packer.pack(text.as_bytes()));
        let mut sum = Sum::default();
        pieces.iter().for_each(|piece| sum.take(piece));
        let stream = [&HEAD[..], &pieces[1].bytes, &sum.end()].concat();
        let read = ZlibDecoder::new(&stream[..]).read_to_string(&mut String::new());
        assert!(read.is_err());
    }

    #[test]
    fn only_who_asks_for_it_gets_it() {
        for (asked, is_accepted_) in [
            (&["gzip, deflate, br"][..], true),
            (&["gzip", "DEFLATE;q=0.5"], true),
            (&["deflate;q=0, gzip"], false),
            (&["deflate; q=0.0"], false),
            (&["deflate;Q=0"], false),
            (&["gzip, br", "identity"], false),
            (&["*"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in asked {
                headers.append(ACCEPT_ENCODING, HeaderValue::from_static(value));
            }
            assert_eq!(is_accepted(&headers), is_accepted_, "{asked:?}");
        }
    }
}
