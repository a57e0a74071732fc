//! Names of things: task ids and digests.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use sha2::{Digest as _, Sha256};
use ulid::Ulid;

use crate::clock::{Clock, unix_ms};

/// Declares an id type that is a letter and a number from 1, such as `T1`.
macro_rules! numbered_id {
    ($(#[$doc:meta])* $name:ident, $upper:literal, $lower:literal, $expected:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) u32);

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str($crate::id::write_digits($upper, self.0, &mut [0; 11]))
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<$name, String> {
                // Files are full of ids, nearly all as plain as this.
                if let [letter, digits @ ..] = text.as_bytes()
                    && matches!(char::from(*letter), $upper | $lower)
                    && let Some(number) = $crate::id::read_digits(digits)
                {
                    return Ok($name(number));
                }
                let digits = text.trim().strip_prefix([$upper, $lower]).unwrap_or("");
                let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
                match digits.parse::<u32>() {
                    Ok(number) if is_number && number > 0 => Ok($name(number)),
                    _ => Err(format!("`{text}` is not a {}", $expected)),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::id::write_digits($upper, self.0, &mut [0; 11]))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                $crate::words::deserialize_word(deserializer)
            }
        }

        #[cfg(feature = "schemas")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(of: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let written = concat!("^", $upper, "[1-9][0-9]*$");
                let read = concat!("^[", $upper, $lower, "]0*[1-9][0-9]{0,8}$");
                let pattern = if of.contract().is_deserialize() { read } else { written };
                schemars::json_schema!({"type": "string", "pattern": pattern})
            }
        }
    };
}
pub(crate) use numbered_id;

/// Reads a number from 1 that has up to nine digits.
pub(crate) fn read_digits(digits: &[u8]) -> Option<u32> {
    let is_short = digits.len() < 10 && digits.iter().all(u8::is_ascii_digit);
    let add = |number, digit: &u8| 10 * number + u32::from(digit - b'0');
    is_short
        .then(|| digits.iter().fold(0, add))
        .filter(|number| *number > 0)
}

/// Writes an id into `room` without the machinery of formats: long answers are full of them.
pub(crate) fn write_digits(letter: char, mut number: u32, room: &mut [u8; 11]) -> &str {
    let mut start = room.len();
    while number > 0 || start == room.len() {
        start -= 1;
        room[start] = b"0123456789"[(number % 10) as usize];
        number /= 10;
    }
    room[start - 1] = letter as u8;
    std::str::from_utf8(&room[start - 1..]).unwrap_or_default()
}

numbered_id!(
    /// Id of a task, written `T1`, `T2`, …; never reused. Leading zeros do not count: `T007` is `T7`.
    TaskId, 'T', 't', "task id; ids look like T12"
);

/// Longest id of a run, an agent or a conversation, in bytes.
const ID_MAX: usize = 200;

/// Returns whether a text has the form of an id that cleo hands out: letters, digits, `_` and `-`, and no
/// option of a command. Such a text is not a path and needs no quotes.
pub(crate) fn is_plain(id: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !id.is_empty() && id.len() <= ID_MAX && !id.starts_with('-') && id.bytes().all(is_part)
}

/// Writes ids as `T1, T2`; none gives an empty text.
pub(crate) fn list(ids: &[TaskId]) -> String {
    ids.iter()
        .map(TaskId::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Writes the first ids of a list, at most `max`, and how many more there are.
pub(crate) fn list_first(ids: &[TaskId], max: usize) -> String {
    let first = list(&ids[..ids.len().min(max)]);
    match ids.len().saturating_sub(max) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Makes an id such as `exec_1769418000000_k3v9x0q2m1`: a word, the moment in milliseconds, and
/// something random. Under a fixed clock it is `number` that tells ids apart, so that runs can be
/// repeated.
pub(crate) fn make_id(word: &str, clock: &Clock, number: u64) -> String {
    let last = match clock {
        Clock::System => random(),
        Clock::Fixed(_) => number.to_string(),
    };
    format!("{word}_{}_{last}", clock.now().timestamp_millis())
}

/// Returns ten random letters and digits. The machine's randomness is behind the keys of maps.
pub(crate) fn random() -> String {
    let mut number = RandomState::new().hash_one(std::process::id());
    let digits = (0..10).map(|_| {
        let digit = u32::try_from(number % 36).unwrap_or(0);
        number /= 36;
        char::from_digit(digit, 36).unwrap_or('0')
    });
    digits.collect()
}

thread_local! {
    static LAST_UID: Cell<Ulid> = const { Cell::new(Ulid::nil()) };
}

/// Makes the uid of a new task, by which every copy of the workspace knows it: a ULID. Uids of one millisecond
/// increase, so that an index of them grows at its end. Under a fixed clock the task decides it, so that runs can
/// be repeated.
pub(crate) fn new_uid(clock: &Clock, id: TaskId, title: &str) -> String {
    let (mut random, now) = ([0; 16], clock.now().timestamp_millis());
    let next = LAST_UID.get().increment().ok();
    let next = next.filter(|next| i64::try_from(next.timestamp_ms()) == Ok(now));
    let uid = match (clock, next) {
        (Clock::System, Some(next)) => next,
        (Clock::System, None) if getrandom::fill(&mut random).is_ok() => ulid(now, random),
        _ => return derive_uid(&clock.timestamp(), &[&id.to_string(), title]),
    };
    LAST_UID.set(uid);
    uid.to_string()
}

/// Derives a uid from a time of creation (RFC 3339; empty when unknown) and from texts that tell a
/// task from all others: importing the same task gives the same uid everywhere.
pub(crate) fn derive_uid(created_at: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in [created_at].iter().chain(parts) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let mut random = [0; 16];
    random.copy_from_slice(&hash.finalize()[..16]);
    ulid(unix_ms(created_at).unwrap_or(0), random).to_string()
}

fn ulid(milliseconds: i64, random: [u8; 16]) -> Ulid {
    let milliseconds = u64::try_from(milliseconds).unwrap_or(0);
    Ulid::from_parts(milliseconds, u128::from_be_bytes(random))
}

/// Parses a uid and returns it in its one form.
pub(crate) fn parse_uid(text: &str) -> Option<String> {
    Some(text.to_ascii_uppercase()).filter(|uid| is_uid(uid))
}

/// Returns whether a text is a uid in its one form: 128 bits in the digits of a ULID.
pub(crate) fn is_uid(text: &str) -> bool {
    let is_unused = |byte: u8| matches!(byte, b'I' | b'L' | b'O' | b'U');
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'A'..=b'Z') && !is_unused(byte);
    text.len() == 26 && text.as_bytes()[0] <= b'7' && text.bytes().all(is_digit)
}

/// Returns the SHA-256 of `bytes` as `sha256:` and 64 hexadecimal digits.
pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes.as_ref()))
}

/// Writes a finished SHA-256 as `sha256:` and 64 hexadecimal digits.
pub(crate) fn hex(hash: &[u8]) -> String {
    let digits = b"0123456789abcdef";
    let mut text = *b"sha256:0000000000000000000000000000000000000000000000000000000000000000";
    for (place, byte) in text["sha256:".len()..].chunks_exact_mut(2).zip(hash) {
        place[0] = digits[usize::from(byte >> 4)];
        place[1] = digits[usize::from(byte & 15)];
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Finds the position of `id` in a list that is sorted by id and holds each once. Ids are mostly consecutive, so the
/// position without gaps is tried first.
pub(crate) fn place<T>(sorted: &[T], id: TaskId, id_of: impl Fn(&T) -> TaskId) -> Option<usize> {
    let near = id.0.checked_sub(id_of(sorted.first()?).0)? as usize;
    match sorted.get(near) {
        Some(found) if id_of(found) == id => Some(near),
        _ => sorted.binary_search_by_key(&id, id_of).ok(),
    }
}

/// Writes a random UUID (version 4) of 16 random bytes.
pub(crate) fn uuid(mut random: [u8; 16]) -> String {
    random[6] = random[6] & 0x0f | 0x40;
    random[8] = random[8] & 0x3f | 0x80;
    let digits = format!("{:032x}", u128::from_be_bytes(random));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_ids_are_read_in_any_usual_spelling_and_nothing_else() {
        for (text, expected) in [("T1", Some(1)), ("t12", Some(12)), ("T007", Some(7))] {
            assert_eq!(text.parse().ok(), expected.map(TaskId), "{text}");
        }
        for text in [
            "",
            "T",
            "T0",
            "1",
            "T-1",
            "T+1",
            "T1x",
            "T99999999999",
            "TT1",
        ] {
            assert!(text.parse::<TaskId>().is_err(), "{text}");
        }
    }

    #[test]
    fn task_ids_of_any_length_are_written() {
        for (number, expected) in [(0, "T0"), (7, "T7"), (10, "T10"), (u32::MAX, "T4294967295")] {
            assert_eq!(TaskId(number).to_string(), expected);
            assert_eq!(serde_json::to_value(TaskId(number)).unwrap(), expected);
        }
    }

    #[test]
    fn uids_have_one_form() {
        let uid = Ulid::from_parts(u64::MAX >> 16, u128::MAX).to_string();
        assert!(is_uid(&uid), "{uid}");
        assert_eq!(parse_uid(&uid.to_ascii_lowercase()), Some(uid));
        for text in [
            "",
            "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "0000000000000000000000000I",
            "0000000000000000000000000é",
        ] {
            assert_eq!(parse_uid(text), None, "{text}");
        }
    }

    #[test]
    fn ids_are_found_in_sparse_and_dense_lists() {
        for ids in [vec![], vec![3], vec![3, 4, 5, 6], vec![1, 4, 5, 9, 12]] {
            for wanted in 0..15 {
                let expected = ids.iter().position(|id| *id == wanted);
                let found = place(&ids, TaskId(wanted), |id| TaskId(*id));
                assert_eq!(found, expected, "{wanted} in {ids:?}");
            }
        }
    }

    #[test]
    fn uuid_says_that_it_is_random() {
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn digest_names_its_algorithm() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(""), empty);
    }
}
