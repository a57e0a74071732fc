//! Which field a value is of: the field that is named first owns the first sign behind it, and later ones
//! count where they stand apart.

use std::collections::HashSet;

use super::reader::Reader;
use crate::chat::message::{SEAM, Word};
use crate::chat::vocabulary::ARTICLES;

/// A field with its value.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Its path.
    pub(super) key: String,
    /// Where it stands.
    pub(super) start: usize,
    /// Where its value is.
    pub(super) value: Word,
}

/// A field that is named.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// Its path.
    pub(super) key: String,
    /// Where it stands.
    pub(super) start: usize,
    /// Whether its word is a type of components too.
    pub(super) is_kind: bool,
    /// Index of its first word.
    index: usize,
    /// How many words it is.
    count: usize,
    is_raw: bool,
}

impl Reader<'_> {
    /// Finds fields with the places of their values. With `loose` a value may follow at once.
    pub(super) fn placed(&self, from: usize, end: usize, loose: bool) -> Vec<Placed> {
        let mut found = match loose {
            true => Vec::new(),
            false => self.first_owners(from, end),
        };
        let begun = found.last().map(|(.., value)| *value);
        let mut index = begun.map_or(from, |value| {
            self.words.partition_point(|word| word.start < value)
        });
        while index < self.words.len() && self.words[index].start < end {
            let field = self.signed(index, loose).filter(|(_, _, value)| {
                // In "a party, scheduled to begin at noon" it belongs to the text.
                let is_first = found.is_empty();
                is_first || self.is_apart(index) && !self.is_of_text(index, *value)
            });
            let count = field.as_ref().map_or(1, |(_, count, _)| *count);
            found.extend(field.map(|(key, _, value)| (key, self.words[index].start, value)));
            index += count;
        }
        self.bounded(&found)
    }

    /// Finds a field at a word, how many words it is, and where its value begins.
    fn signed(&self, index: usize, loose: bool) -> Option<(String, usize, usize)> {
        let status = || Some((self.status_field(index)?.to_string(), 1, false));
        let (key, count, loose) = self
            .field(index)
            .map(|(key, count)| (key, count, loose))
            .or_else(status)?;
        Some((key, count, self.value_at(index + count, loose)?))
    }

    /// Says where values end that begin at places: before the next field, or what is no field.
    fn bounded(&self, found: &[(String, usize, usize)]) -> Vec<Placed> {
        let placed = found.iter().map(|(key, start, from)| {
            let next = found.partition_point(|(_, start, _)| start < from);
            let next = found.get(next).map(|(_, start, _)| *start);
            let end = next.unwrap_or(self.message.plain.len());
            let end = end.min(self.seam(*from)).max(*from);
            let cut = self.design_change(*from..end);
            Placed {
                key: key.clone(),
                start: *start,
                value: *from..cut.map_or(end, |cut| cut.start),
            }
        });
        placed.collect()
    }

    /// Finds the fields that are to be changed with the places of their values.
    pub(super) fn changes(&self) -> Vec<Placed> {
        let end = self.message.plain.len();
        let with = self.with.filter(|_| self.component.is_some());
        let loose = with.map(|from| self.placed(from, end, true));
        let loose = loose.filter(|placed| !self.texts(placed.clone()).is_empty());
        loose.unwrap_or_else(|| self.placed(self.from, end, false))
    }

    /// Finds the fields that own the first value, each with where it stands and where the value begins.
    fn first_owners(&self, from: usize, end: usize) -> Vec<(String, usize, usize)> {
        let is_within = |index: &usize| self.words[*index].start < end;
        let mut later = (from..self.words.len()).take_while(is_within);
        let direct = later.find_map(|index| Some((index, self.signed(index, false)?)));
        let Some((index, (key, _, value))) = direct else {
            return Vec::new();
        };
        let start = self.words[index].start;
        let far = self.value.filter(|(sign, _)| *sign < start);
        let Some((sign, behind)) = far else {
            let mut owners = self.joined_before(index, value);
            owners.reverse();
            owners.push((key, start, value));
            return owners;
        };
        let named = self.named_fields().into_iter();
        let named = named.filter(|field| field.start < sign);
        let mut owners: Vec<_> = named
            .map(|field| (field.key, field.start, behind))
            .collect();
        if owners.is_empty() {
            owners.extend(self.renamed().map(|key| (key, 0, behind)));
        }
        owners
    }

    /// Finds fields that share the value of the one behind them: "title and caption to X".
    fn joined_before(&self, index: usize, value: usize) -> Vec<(String, usize, usize)> {
        let mut owners = Vec::new();
        let mut index = index;
        while let Some(before) = self.before_and(index) {
            let Some((key, _)) = self.field(before) else {
                break;
            };
            owners.push((key, self.words[before].start, value));
            index = before;
        }
        owners
    }

    /// Returns the index of the word before the `and` that stands before a word and its article.
    fn before_and(&self, index: usize) -> Option<usize> {
        let article = index.checked_sub(1)?;
        let is_article = ARTICLES.contains(&self.at(article));
        let and = if is_article {
            article.checked_sub(1)?
        } else {
            article
        };
        let gap = self.words[and].end..self.words[and + 1].start;
        let is_comma = self
            .message
            .plain
            .get(gap)
            .is_some_and(|gap| gap.trim() == ",");
        let before = match self.at(and) {
            "and" => and.checked_sub(1)?,
            _ if is_comma => and,
            _ => return None,
        };
        (before >= self.from).then_some(before)
    }

    /// Finds the fields in front of the value, without what describes the component. A word that is a
    /// type too counts where no other is named.
    pub(super) fn named_fields(&self) -> Vec<Named> {
        let (end, seam) = (self.head_end(), self.seam(self.head_end()));
        let described = self
            .with
            .map_or(end, |index| self.words[index].start.min(end));
        let (mut fields, mut index) = (Vec::new(), self.from);
        while index < self.words.len() {
            let start = self.words[index].start;
            let is_open = start < described || start > seam;
            let field = self.field(index).filter(|_| is_open);
            let count = field.as_ref().map_or(1, |(_, count)| *count);
            fields.extend(field.map(|(key, count)| Named {
                key,
                start,
                is_kind: self.is_kind(index),
                index,
                count,
                is_raw: self.raw_key(index).is_some(),
            }));
            index += count;
        }
        if fields.iter().any(|field| field.is_raw) {
            fields.retain(|field| field.is_raw);
        }
        if fields.iter().any(|field| !field.is_kind) {
            fields.retain(|field| !field.is_kind);
        }
        fields
    }

    /// Finds the fields that are named in front of the first value and have none. One directly before
    /// another, as in "header title", only says more of it.
    pub(super) fn open_fields(&self, placed: &[Placed]) -> Vec<String> {
        let first = placed.iter().map(|one| one.start).min().unwrap_or(0);
        // What was asked for before is answered otherwise.
        let seam = self.message.plain[..first].rfind(SEAM).unwrap_or(0);
        let valued: HashSet<&str> = placed.iter().map(|one| one.key.as_str()).collect();
        let is_more = |field: &Named| self.field(field.index + field.count).is_some();
        let named = self.named_fields().into_iter();
        let open = named.filter(|field| {
            (seam..first).contains(&field.start)
                && !field.is_kind
                && !valued.contains(field.key.as_str())
                && !is_more(field)
        });
        open.map(|field| field.key).collect()
    }

    /// Returns the field that "rename component 101 to X" is about.
    pub(super) fn renamed(&self) -> Option<String> {
        let is_said = self.from > 0 && self.at(self.from - 1) == "rename";
        is_said.then(|| "props.title".to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::chat::request::Request;

    #[test]
    fn the_field_that_is_named_first_owns_the_first_value() {
        for (message, updates) in [
            (
                "change the description of component 101 to The link is in the bio",
                json!({"props.description": "The link is in the bio"}),
            ),
            (
                "change the description of component 101: The link is in the bio",
                json!({"props.description": "The link is in the bio"}),
            ),
            (
                "change the description of component 101 to Give your title to a friend",
                json!({"props.description": "Give your title to a friend"}),
            ),
            (
                "rename component 101 to Content is king",
                json!({"props.title": "Content is king"}),
            ),
            (
                "set the title of component 101 to Font: Lato",
                json!({"props.title": "Font: Lato"}),
            ),
            (
                "change title of component 101 to A and description to B",
                json!({"props.description": "B", "props.title": "A"}),
            ),
            (
                "rename component 101 to House and description to B",
                json!({"props.description": "B", "props.title": "House"}),
            ),
            (
                "change title of component 101 to X and button radius to full",
                json!({"props.title": "X"}),
            ),
            (
                "change the caption of my login button to Go and url to https://x.y",
                json!({"link_props.url": "https://x.y", "props.caption": "Go"}),
            ),
            (
                "set title of component 101 to A and set caption to B",
                json!({"props.caption": "B", "props.title": "A"}),
            ),
            (
                "update component 101 title and caption to X",
                json!({"props.caption": "X", "props.title": "X"}),
            ),
            (
                "update component 101: title: A, caption: B",
                json!({"props.caption": "B", "props.title": "A"}),
            ),
        ] {
            let request = Request::read(message, None);
            assert_eq!(Value::from(request.updates), updates, "{message}");
        }
    }

    #[test]
    fn a_field_without_a_value_is_asked_for() {
        for (message, wanted) in [
            (
                "change my card title and set the text to X",
                &["props.title"] as &[&str],
            ),
            ("update component 101 header title to X", &[]),
            (
                "update component 101 title\u{2} change the caption to X",
                &[],
            ),
        ] {
            assert_eq!(Request::read(message, None).wanted, wanted, "{message}");
        }
    }
}
