//! The conditional protocols: those of the project, then the program's own.

use std::path::Path;

use super::embedded::Embedded;
use super::{FILE_MAX, Places, embedded_text, looked_at, read_text};
use crate::error::Result;
use crate::file::read_start;
use crate::protocol::ProtocolFile;

/// Reads the protocols; one on disk stands for the program's own of the same name.
pub(super) fn read(places: &Places, warnings: &mut Vec<String>) -> Result<Vec<ProtocolFile>> {
    let mut protocols: Vec<ProtocolFile> = Vec::new();
    let mut add = |file: ProtocolFile| {
        if !protocols.iter().any(|other| other.name == file.name) {
            protocols.push(file);
        }
    };
    for path in places.protocol_files() {
        match may_be_protocol(&path) {
            Ok(false) => {}
            Ok(true) => {
                let text = read_text(&path)?.into();
                let read = ProtocolFile::read(text, places.shown(&path));
                add(read.map_err(|error| looked_at(error, &path))?);
            }
            Err(error) => warnings.push(format!("{}; it is left out", error.message)),
        }
    }
    embedded()?.into_iter().for_each(&mut add);
    protocols.sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    Ok(protocols)
}

/// Reads the protocols that the program carries.
pub(super) fn embedded() -> Result<Vec<ProtocolFile>> {
    let names = Embedded::iter_under("protocols/").filter(|name| name.ends_with(".md"));
    names
        .map(|name| ProtocolFile::read(embedded_text(&name)?, format!("built-in:{name}")))
        .collect()
}

/// A folder `protocols/` may hold other texts, of any size and encoding: a protocol of cleo has a
/// front matter with `when`.
fn may_be_protocol(path: &Path) -> Result<bool> {
    let start = read_start(path, FILE_MAX)?;
    let text = String::from_utf8_lossy(&start);
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let is_fenced = lines.next().map(str::trim_end) == Some("---");
    let mut head = lines.take_while(|line| line.trim_end() != "---");
    Ok(is_fenced && head.any(|line| line.starts_with("when:")))
}
