//! Files that the program carries, compressed by build.rs: the pages, the schemas of replies, and the
//! description of the API.

use std::io::Read as _;

/// Paths within the project and contents as gzip, sorted by path. Schemas are what follows `COMMON`.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
/// Text that schemas repeat, ended by a zero, as the beginning of a deflate stream.
static COMMON: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/common"));
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

/// Returns the schema of a command's reply.
pub(crate) fn schema(command: &str) -> Option<String> {
    let rest = find(&format!("{SCHEMAS}{command}.json"))?;
    let mut text = String::new();
    let mut reader = flate2::read::DeflateDecoder::new(COMMON.chain(rest));
    reader.read_to_string(&mut text).ok()?;
    text.split('\0').nth(1).map(str::to_string)
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
            let content = match path.strip_prefix(SCHEMAS) {
                Some(name) => schema(name.strip_suffix(".json").unwrap())
                    .unwrap()
                    .into_bytes(),
                None => decompress(gzip),
            };
            assert_eq!(content, std::fs::read(file).unwrap(), "{path}");
            assert_eq!(find(path), Some(*gzip));
        }
    }
}
