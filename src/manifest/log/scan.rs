//! Reading all of the manifest: what counts and what does not.

use std::collections::HashMap;
use std::path::Path;

use super::each_line;
use crate::error::{Code, Result};
use crate::manifest::fields::Fields;
use crate::manifest::line::{self, Faulty, Item};

/// What [`scan`] found at one place.
pub enum Line<'a> {
    /// An entry that counts, in the line of this number.
    Entry(usize, &'a Fields<'a>),
    /// A line, or a part of one, that is no entry or repeats one.
    Faulty(Faulty),
}

/// Visits everything in the manifest in order. When an id stands twice, the first entry counts.
pub fn scan(path: &Path, mut visit: impl FnMut(Line<'_>)) -> Result<()> {
    let mut seen = HashMap::new();
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else {
            return visit(Line::Faulty(line::too_long(number)));
        };
        line::items(number, bytes, &mut |item| {
            visit(match item {
                Item::Entry(fields) => first(&mut seen, number, fields),
                Item::Faulty(faulty) => Line::Faulty(faulty),
            });
        });
    })
}

fn first<'a>(seen: &mut HashMap<String, usize>, number: usize, fields: &'a Fields<'a>) -> Line<'a> {
    let id = fields.id().unwrap_or_default();
    match seen.insert(id.to_string(), number) {
        None => Line::Entry(number, fields),
        Some(first) => {
            seen.insert(id.to_string(), first);
            Line::Faulty(duplicate(number, id, first))
        }
    }
}

/// The fault of an entry whose id stands further up.
pub(super) fn duplicate(line: usize, id: &str, first: usize) -> Faulty {
    let message = format!("the line repeats {id} of line {first}, which counts");
    Faulty::new(line, Code::LineDuplicate, message, Some(id.to_string()))
}
