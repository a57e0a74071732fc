//! Cheap looks at a line that decide whether it is worth taking apart. They may say "perhaps" too
//! often, and never "no" where taking the line apart would say "yes".

use memchr::memmem;

use super::rules;
use crate::id::TaskId;

/// Reads the id of a line that leads with it, as cleo and the protocol write it, and holds one object
/// at most. `None` means that only taking the line apart tells.
pub(super) fn plain_id(bytes: &[u8]) -> Option<&str> {
    let (id, rest) = id_value(after(after(bytes, b"{")?, b"\"id\"")?)?;
    memchr::memchr(b'{', rest).is_none().then_some(id)
}

/// Reads what stands behind the first `"id":` of a line that is no entry.
pub(super) fn claimed_id(bytes: &[u8]) -> Option<String> {
    let start = memmem::find(bytes, b"\"id\"")?;
    let (id, _) = id_value(&bytes[start + 4..])?;
    Some(id.to_string())
}

/// Reads `: "ID"` and returns what stands behind it, too.
fn id_value(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let value = after(after(bytes, b":")?, b"\"")?;
    let (id, rest) = value.split_at(memchr::memchr(b'"', value)?);
    let id = std::str::from_utf8(id).ok().filter(|id| rules::is_id(id))?;
    Some((id, rest))
}

fn after<'a>(bytes: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    bytes.trim_ascii_start().strip_prefix(start)
}

/// A cheap look at lines for the tasks that their entries are linked to.
pub(super) struct TaskSearch {
    list: memmem::Finder<'static>,
}

impl TaskSearch {
    /// Prepares the search.
    pub(super) fn new() -> TaskSearch {
        TaskSearch {
            list: memmem::Finder::new(b"\"linked_tasks\""),
        }
    }

    /// Says whether an entry in this line may be linked to a task that is wanted; `false` is
    /// certain. Looks for ids as [`super::words::task`] takes them, behind the name of their field.
    pub(super) fn may_name(&self, bytes: &[u8], is_wanted: impl Fn(TaskId) -> bool) -> bool {
        // An escape can spell any character; then only taking the line apart tells.
        let is_escape = |at: usize| bytes.get(at + 1) == Some(&b'u');
        if memchr::memchr_iter(b'\\', bytes).any(is_escape) {
            return true;
        }
        let Some(start) = self.list.find(bytes) else {
            return false;
        };
        let list = &bytes[start..];
        let wanted_at = |quote: usize| task_at(&list[quote + 1..]).is_some_and(&is_wanted);
        memchr::memchr_iter(b'"', list).any(wanted_at)
    }
}

fn task_at(bytes: &[u8]) -> Option<TaskId> {
    let digits = bytes
        .strip_prefix(b"T")
        .or_else(|| bytes.strip_prefix(b"t"))?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let id = std::str::from_utf8(&bytes[..=end]).ok()?;
    id.parse().ok()
}
