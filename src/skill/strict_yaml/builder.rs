//! Builds values from nodes: merge keys, doubled keys and the indentation rule of strictyaml.

use std::collections::HashSet;

use crate::skill::front_matter::Fault;

use super::composer::{Content, Node};
use super::token::{Mark, Scan};

#[derive(Debug)]
pub(crate) enum Tree {
    Text {
        text: String,
        plain: bool,
    },
    /// An unquoted `=` or `<<`, which the reference does not count as text.
    Indicator(String),
    Sequence(Vec<Tree>),
    Mapping(Vec<Entry>),
}

#[derive(Debug)]
pub(crate) struct Entry {
    key: Key,
    pub(crate) key_mark: Mark,
    pub(crate) value: Tree,
    pub(crate) value_mark: Mark,
}

impl Entry {
    /// The key; `build` has made sure that it is text wherever it can be seen.
    pub(crate) fn name(&self) -> &str {
        match &self.key {
            Key::Text(text) => text,
            Key::List(_) => "",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Text(String),
    /// `None` stands for an indicator, which equals nothing but itself.
    List(Vec<Option<String>>),
}

/// Builds the document and refuses keys that are not text.
pub(super) fn build(root: Node) -> Scan<Tree> {
    let tree = match root.content {
        Content::Mapping(entries) => Tree::Mapping(mapping(entries, false)?),
        _ => {
            let message = "The front matter must be keys and values.";
            return Err(root.mark.fault("YAML_NOT_MAPPING", message));
        }
    };
    check_keys(&tree)?;
    Ok(tree)
}

fn check_keys(tree: &Tree) -> Scan<()> {
    match tree {
        Tree::Text { .. } | Tree::Indicator(_) => Ok(()),
        Tree::Sequence(items) => items.iter().try_for_each(check_keys),
        Tree::Mapping(entries) => entries.iter().try_for_each(|entry| match entry.key {
            Key::Text(_) => check_keys(&entry.value),
            Key::List(_) => Err(complex_key(entry.key_mark)),
        }),
    }
}

fn complex_key(mark: Mark) -> Fault {
    mark.fault(
        "YAML_COMPLEX_KEY",
        "A key must be text, not a list or a mapping.",
    )
}

fn tree(node: Node) -> Scan<Tree> {
    Ok(match node.content {
        Content::Scalar { text, plain: true } if text == "=" || text == "<<" => {
            Tree::Indicator(text)
        }
        Content::Scalar { text, plain } => Tree::Text { text, plain },
        Content::Sequence(items) => {
            Tree::Sequence(items.into_iter().map(tree).collect::<Scan<_>>()?)
        }
        Content::Mapping(entries) => Tree::Mapping(mapping(entries, true)?),
    })
}

/// Builds the entries. Merge keys count below the root only: at the root the reference fills the
/// merged mapping too late to see its keys.
fn mapping(nodes: Vec<(Node, Node)>, merges: bool) -> Scan<Vec<Entry>> {
    let (merge_nodes, own_nodes): (Vec<_>, Vec<_>) =
        nodes.into_iter().partition(|(key, _)| is_merge(key));
    let merged = merged(merge_nodes, merges)?;
    check_indentation(&own_nodes)?;
    let mut seen = HashSet::new();
    let mut entries = Vec::with_capacity(own_nodes.len());
    for (key, value) in own_nodes {
        let entry = entry(key, value)?;
        let has_indicator = matches!(&entry.key, Key::List(items) if items.contains(&None));
        if !seen.insert(entry.key.clone()) && !has_indicator {
            let message = format!("The key `{}` stands twice.", entry.name());
            return Err(entry.key_mark.fault("YAML_DUPLICATE_KEY", message));
        }
        entries.push(entry);
    }
    let unseen = merged
        .into_iter()
        .filter(|entry| merges && seen.insert(entry.key.clone()));
    entries.extend(unseen);
    Ok(entries)
}

fn is_merge(key: &Node) -> bool {
    matches!(&key.content, Content::Scalar { text, plain: true } if text == "<<")
}

fn entry(key: Node, value: Node) -> Scan<Entry> {
    let (key_mark, value_mark) = (key.mark, value.mark);
    Ok(Entry {
        key: self::key(key)?,
        key_mark,
        value: tree(value)?,
        value_mark,
    })
}

fn key(node: Node) -> Scan<Key> {
    match node.content {
        Content::Scalar { text, .. } => Ok(Key::Text(text)),
        Content::Sequence(items) => items.into_iter().map(list_item).collect::<Scan<_>>(),
        Content::Mapping(_) => Err(complex_key(node.mark)),
    }
}

impl FromIterator<Option<String>> for Key {
    fn from_iter<T: IntoIterator<Item = Option<String>>>(items: T) -> Self {
        Self::List(items.into_iter().collect())
    }
}

fn list_item(node: Node) -> Scan<Option<String>> {
    let mark = node.mark;
    match tree(node)? {
        Tree::Text { text, .. } => Ok(Some(text)),
        Tree::Indicator(_) => Ok(None),
        Tree::Sequence(_) | Tree::Mapping(_) => Err(complex_key(mark)),
    }
}

/// The entries that a merge key brings in, which must be a mapping or a list of mappings.
fn merged(mut nodes: Vec<(Node, Node)>, merges: bool) -> Scan<Vec<Entry>> {
    if let Some((second, _)) = nodes.get(1) {
        return Err(second
            .mark
            .fault("YAML_DUPLICATE_KEY", "The key `<<` stands twice."));
    }
    let Some((_, value)) = nodes.pop() else {
        return Ok(Vec::new());
    };
    let sources = match value.content {
        Content::Sequence(items) => items,
        _ => vec![value],
    };
    let mut entries = Vec::new();
    for source in sources {
        match source.content {
            Content::Mapping(nodes) => entries.extend(mapping(nodes, merges)?),
            _ => {
                let message = "The key `<<` needs a mapping or a list of mappings.";
                return Err(source.mark.fault("YAML_MERGE", message));
            }
        }
    }
    Ok(entries)
}

/// Strictyaml wants all mappings that are values of one mapping to start in the same column.
fn check_indentation(nodes: &[(Node, Node)]) -> Scan<()> {
    let mut marks = nodes
        .iter()
        .filter(|(_, value)| matches!(value.content, Content::Mapping(_)))
        .map(|(_, value)| value.mark);
    let Some(first) = marks.next() else {
        return Ok(());
    };
    match marks.find(|mark| mark.column != first.column) {
        Some(mark) => {
            let message = "Indent this block as far as the blocks before it.";
            Err(mark.fault("YAML_INDENTATION", message))
        }
        None => Ok(()),
    }
}
