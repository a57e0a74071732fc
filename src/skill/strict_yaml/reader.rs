//! The way in: from the text of the front matter to its keys and values.

use super::builder::{Entry, Tree, build};
use super::composer::Composer;
use super::cursor::Cursor;
use super::scanner::Scanner;
use super::token::Scan;

/// Reads the text after the opening `---` of line one. All places count from there.
pub(crate) fn read(front_matter: &str) -> Scan<Vec<Entry>> {
    let cursor = Cursor::new(front_matter);
    if let Some((character, mark)) = cursor.first_unprintable() {
        let message = format!(
            "The character U+{:04X} is not allowed.",
            u32::from(character)
        );
        return Err(mark.fault("YAML_CHARACTER", message));
    }
    match build(Composer::new(Scanner::new(cursor)).document()?)? {
        Tree::Mapping(entries) => Ok(entries),
        _ => Ok(Vec::new()),
    }
}
