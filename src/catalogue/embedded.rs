//! The skills and protocols that the program carries.

use std::borrow::Cow;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "skills"]
#[prefix = "skills/"]
struct Skills;

#[derive(RustEmbed)]
#[folder = "protocols"]
#[prefix = "protocols/"]
struct Protocols;

/// The files of `skills/` and `protocols/`, by their path.
pub(super) struct Embedded;

impl Embedded {
    /// Lists the files whose path starts with `prefix`.
    pub(super) fn iter_under(prefix: &str) -> impl Iterator<Item = Cow<'static, str>> {
        let all = Skills::iter().chain(Protocols::iter());
        all.filter(move |name| name.starts_with(prefix))
    }

    /// Returns the text of a file.
    pub(super) fn text(path: &str) -> Option<Cow<'static, str>> {
        let file = Skills::get(path).or_else(|| Protocols::get(path))?;
        match file.data {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        }
    }
}
