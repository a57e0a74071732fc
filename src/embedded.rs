//! Files that the program carries, compressed by build.rs: the pages, the schemas of replies, and the
//! description of the API.

use std::io::Read as _;

/// Paths within the project and contents as gzip, sorted by path.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
const SCHEMAS: &str = "docs/schemas/";

/// Returns the content of a file as gzip.
pub(crate) fn find(path: &str) -> Option<&'static [u8]> {
    let at = FILES.binary_search_by(|(name, _)| (*name).cmp(path)).ok()?;
    Some(FILES[at].1)
}

/// Returns the names of the files in a folder, which ends with a slash.
pub(crate) fn names(folder: &str) -> impl Iterator<Item = &'static str> {
    FILES
        .iter()
        .filter_map(move |(name, _)| name.strip_prefix(folder))
}

pub(crate) fn decompress(gzip: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    // Only content that build.rs has compressed is read.
    let _ = flate2::read::GzDecoder::new(gzip).read_to_end(&mut content);
    content
}

pub(crate) fn text(path: &str) -> Option<String> {
    String::from_utf8(decompress(find(path)?)).ok()
}

pub(crate) fn schema(command: &str) -> Option<String> {
    text(&format!("{SCHEMAS}{command}.json"))
}

/// Returns the commands whose replies have a schema.
pub(crate) fn schemas() -> impl Iterator<Item = &'static str> {
    names(SCHEMAS).filter_map(|name| name.strip_suffix(".json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_file_is_unchanged_in_project() {
        assert!(names("web/dist/").any(|name| name == "index.html"));
        for (path, gzip) in FILES {
            let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
            assert_eq!(decompress(gzip), std::fs::read(file).unwrap(), "{path}");
            assert_eq!(find(path), Some(*gzip));
        }
    }
}
