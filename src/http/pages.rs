//! The web application: its embedded files, and its pages, each with a title and content that is
//! readable before any script runs.

use std::collections::BTreeSet;

use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ETAG, IF_NONE_MATCH,
    LOCATION, VARY,
};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest as _, Sha256};

use super::answer::Answer;
use crate::embedded;
use crate::error::Result;
use crate::markdown::escape_html;
use crate::workspace::Workspace;

const FOLDER: &str = "web/dist";

/// Path and title of each page. `{}` is any segment.
const PAGES: [(&str, &str); 15] = [
    ("/", "Home"),
    ("/work", "Work"),
    ("/work/{}", "Task"),
    ("/runs", "Runs"),
    ("/runs/{}", "Run"),
    ("/runs/{}/{}", "Review"),
    ("/logs", "Logs"),
    ("/agents", "Agents"),
    ("/agents/architecture", "Architecture"),
    ("/agents/manage", "Manage agents"),
    ("/agents/chat", "Chat"),
    ("/agents/chat/{}", "Chat"),
    ("/agents/tasks", "Agent tasks"),
    ("/more", "More"),
    (SIGN_IN, "Sign in"),
];

const SIGN_IN: &str = "/sign-in";
/// Characters that are escaped in a query parameter.
const RESERVED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');
const PLACE: &str = "<!--page-->";
/// Placeholder for the title.
const TITLE: &str = "<title>cleo</title>";
/// The form for a query as it is before the application replaces it.
const FORM: &str = "<form><label for=\"query\">Query</label>\
    <textarea id=\"query\" name=\"query\" rows=\"4\" required></textarea>\
    <label><input type=\"checkbox\" name=\"debug\" value=\"1\"> Show debug</label>\
    <button type=\"submit\">Submit</button></form>";

/// The application as it was built.
pub(super) struct Pages {
    index: String,
    policy: String,
    /// A name of the workspace, by which pages keep drafts apart and say where they write.
    pub(super) workspace: String,
}

impl Pages {
    pub(super) fn load(workspace: &Workspace) -> Pages {
        let index = embedded::text(&format!("{FOLDER}/index.html"));
        let name = hash(&workspace.root.to_string_lossy());
        Pages::from_index(index.unwrap_or_default(), name)
    }

    fn from_index(index: String, workspace: String) -> Pages {
        let scripts: BTreeSet<String> = inline_scripts(&index).map(hash).collect();
        let scripts: String = scripts.iter().map(|hash| format!(" '{hash}'")).collect();
        Pages {
            policy: format!(
                "default-src 'none'; script-src 'self'{scripts}; style-src 'self'; \
                 font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
                 base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"
            ),
            index,
            workspace,
        }
    }

    /// Writes a page: `content` is HTML.
    pub(super) fn page(&self, title: &str, content: &str) -> Answer {
        let (title, workspace) = (escape_html(title), &self.workspace);
        let title = format!(
            "<title>{title} · cleo</title><meta name=\"workspace\" content=\"{workspace}\">"
        );
        let page = self.index.replacen(TITLE, &title, 1);
        let page = page.replacen(PLACE, content, 1);
        Answer::bytes("text/html; charset=utf-8", page)
            .header(CACHE_CONTROL, "no-cache")
            .header(CONTENT_SECURITY_POLICY, &self.policy)
    }
}

/// Answers paths without an endpoint: a file, a page, or 404. Callers without a required token see
/// files and the sign-in page.
pub(super) fn answer(pages: &Pages, request: &Request, is_in: bool) -> Result<Answer> {
    let path = request.uri().path();
    if !matches!(*request.method(), Method::GET | Method::HEAD) || path.starts_with("/api/") {
        let shown: String = path.chars().take(200).collect();
        return Err(error!(PathNotFound, "{shown} does not exist here"));
    }
    let file = embedded::find(&format!("{FOLDER}{path}"));
    if let Some(gzip) = file.filter(|_| path != "/index.html") {
        return Ok(send_file(path, gzip, request));
    }
    page(pages, request.uri(), is_in)
}

/// Replies with a page, or redirects to the sign-in page.
pub(super) fn page(pages: &Pages, place: &Uri, is_in: bool) -> Result<Answer> {
    let path = place.path();
    let find = |path: &str| PAGES.iter().find(|(there, _)| is_at(there, path));
    let (page, bare) = (find(path), path.trim_end_matches('/'));
    let asked = place.path_and_query().map_or(path, |whole| whole.as_str());
    let elsewhere = if !is_in && path != SIGN_IN {
        let asked = utf8_percent_encode(asked, &RESERVED);
        Some(format!("{SIGN_IN}?next={asked}"))
    } else {
        let page = find(bare).filter(|_| page.is_none());
        page.map(|_| asked.replacen(path, bare, 1))
    };
    if let Some(elsewhere) = elsewhere {
        return Ok(Answer::bytes("text/plain", "")
            .under(StatusCode::SEE_OTHER)
            .header(LOCATION, &elsewhere));
    }
    let form = if path == "/" { FORM } else { "" };
    Ok(match page {
        Some((_, title)) => {
            let content = format!("<main><h1>{title}</h1>{form}</main>");
            pages.page(title, &content)
        }
        None => {
            let content = "<main><h1>Not found</h1><p>This page does not exist here.</p>\
                <p><a href=\"/work\">Work</a></p></main>";
            let page = pages.page("Not found", content);
            page.under(StatusCode::NOT_FOUND)
        }
    })
}

fn is_at(page: &str, path: &str) -> bool {
    let (mut parts, mut given) = (page.split('/'), path.split('/'));
    loop {
        match (parts.next(), given.next()) {
            (None, None) => return true,
            (Some("{}"), Some(given)) if !given.is_empty() => {}
            (Some(part), Some(given)) if part == given => {}
            _ => return false,
        }
    }
}

fn send_file(path: &str, gzip: &'static [u8], request: &Request) -> Answer {
    let headers = request.headers();
    // The last eight bytes of gzip are the checksum and the length of the content.
    let end: String = gzip[gzip.len().saturating_sub(8)..]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    // A weak tag: the content is the same in each encoding.
    let tag = format!("W/\"{end}\"");
    let is_known = headers
        .get(IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == tag.as_bytes());
    // Names in this folder contain digests of the contents.
    let cache = match path.starts_with("/assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let answer = match is_known {
        true => Answer::bytes(mime(path), "").under(StatusCode::NOT_MODIFIED),
        false => answer_embedded(mime(path), gzip, headers),
    };
    answer.header(CACHE_CONTROL, cache).header(ETAG, &tag)
}

/// Replies with an embedded file, compressed if the client accepts it.
pub(super) fn answer_embedded(
    mime: &'static str,
    gzip: &'static [u8],
    headers: &HeaderMap,
) -> Answer {
    let answer = match accepts_gzip(headers) {
        true => Answer::bytes(mime, gzip).header(CONTENT_ENCODING, "gzip"),
        false => Answer::bytes(mime, embedded::decompress(gzip)),
    };
    answer.header(VARY, "accept-encoding")
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter();
    let accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().trim_start_matches("q=");
        name.trim().eq_ignore_ascii_case("gzip") && weight.parse() != Ok(0.0)
    })
}

fn mime(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn inline_scripts(page: &str) -> impl Iterator<Item = &str> {
    page.split("<script").skip(1).filter_map(|rest| {
        let (head, body) = rest.split_once('>')?;
        let (body, _) = body.split_once("</script>")?;
        (!head.contains("src=") && !body.is_empty()).then_some(body)
    })
}

fn hash(script: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(script)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_inline_scripts_are_allowed_by_their_digests() {
        let pages = Pages::from_index(
            "<head><title>cleo</title><script>alert(1)</script>\
             <script type=\"module\" src=\"/assets/a.js\"></script></head><!--page-->"
                .to_string(),
            "w".to_string(),
        );
        // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
        let hash = "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='";
        assert!(
            pages.policy.contains(&format!("script-src 'self' {hash};")),
            "{}",
            pages.policy
        );
    }

    #[test]
    fn there_is_page_wherever_application_has_one() {
        let routes = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/routes.ts");
        let routes = std::fs::read_to_string(routes).unwrap();
        let paths = routes.lines().filter_map(|line| {
            let (path, _) = line.trim().strip_prefix("[\"")?.split_once('"')?;
            Some(path.replace(":id", "{}").replace(":task", "{}"))
        });
        let here = PAGES.iter().map(|(path, _)| *path);
        let here = here.filter(|path| *path != SIGN_IN);
        assert_eq!(here.collect::<Vec<_>>(), paths.collect::<Vec<_>>());
    }

    #[test]
    fn addresses_of_pages_are_matched_part_by_part() {
        for (page, path, fits) in [
            ("/", "/", true),
            ("/work/{}", "/work/T1", true),
            ("/work/{}", "/work/", false),
            ("/work/{}", "/work/T1/x", false),
            ("/work", "/work/", false),
        ] {
            assert_eq!(is_at(page, path), fits, "{page} {path}");
        }
    }
}
