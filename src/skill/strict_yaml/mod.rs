//! Reads front matter like the reference validator: the YAML subset of strictyaml 1.7, quirks included. Start
//! at `read`; text flows cursor → scanner → composer → builder.

mod block_scalar;
mod builder;
mod composer;
mod cursor;
mod flow_scalar;
mod indicator;
mod scanner;
mod token;

use builder::build;
pub(super) use builder::{Entry, Tree};
use composer::Composer;
use cursor::Cursor;
use scanner::Scanner;
use token::Scan;

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
