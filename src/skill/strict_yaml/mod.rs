//! Reads front matter the way the reference validator does: the YAML subset of strictyaml 1.7,
//! quirks included. Start at `reader::read`; text flows cursor → scanner → composer → builder.

mod block_scalar;
mod builder;
mod composer;
mod cursor;
mod indicator;
mod plain_scalar;
mod quoted_scalar;
mod reader;
mod scanner;
mod token;

pub(super) use builder::{Entry, Tree};
pub(super) use reader::read;
