//! Authentication. A server on this machine answers its user without a token, so it must not answer
//! pages of other origins: it accepts only its own host names (against DNS rebinding) and its own
//! origin.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Request, Uri};

use super::server::Server;
use crate::error::{Code, Error, Result, quote};
use crate::ops::Rights;
use crate::ops::tokens::Scope;
use crate::ops::trust::Registrant;

/// Maximum size of the head of a request, in bytes. The connection ends on a longer head; one that
/// arrived complete in a larger piece is counted when it is answered.
pub(super) const HEAD_MAX: usize = 64 << 10;
/// Longest token that is looked up, in bytes.
const TOKEN_MAX: usize = 200;
/// Longest host name in a command, with its port.
const NAME_MAX: usize = 253 + ":65535".len();
/// Headers that may occur once: a proxy may have checked another one than the server reads.
const ONCE: [&str; 5] = [
    "host",
    "origin",
    "authorization",
    "content-type",
    "idempotency-key",
];

pub(super) fn check_once(headers: &HeaderMap) -> Result<()> {
    // Fast path: hardly any request repeats a header.
    if headers.len() == headers.keys_len() {
        return Ok(());
    }
    let is_twice = |name: &&&str| headers.get_all(**name).iter().nth(1).is_some();
    let Some(name) = ONCE.iter().find(is_twice) else {
        return Ok(());
    };
    Err(error!(InputInvalid, "duplicate header `{name}`"))
}

/// Counts the bytes of the head of a request: its first line and its headers.
pub(super) fn head<B>(request: &Request<B>) -> usize {
    let place = request.uri();
    let named = place.authority().map_or(0, |named| named.as_str().len());
    let path = place.path_and_query().map_or(0, |path| path.as_str().len());
    let line = request.method().as_str().len() + named + path + "  HTTP/1.1\r\n".len();
    let headers = request.headers().iter();
    let lines = headers.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + lines.sum::<usize>() + "\r\n".len()
}

pub(super) fn check_host(server: &Server, headers: &HeaderMap, uri: &Uri) -> Result<String> {
    let host = host(headers, uri)?;
    let is_bound = server.is_local() || !server.options.hosts.is_empty();
    // Otherwise every call needs a token, which foreign pages do not have.
    if !is_bound || is_own(server, &host) {
        return Ok(host);
    }
    let port = format!(":{}", server.address.port());
    let name = host.strip_suffix(&port).unwrap_or(&host);
    let error = error!(Forbidden, "unknown host name `{host}`");
    Err(suggest_allowing(error, "--allow-host", name, name))
}

/// Adds the command that allows a host name, if it is a valid one.
fn suggest_allowing(error: Error, option: &str, value: &str, name: &str) -> Error {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    match begins && name.len() <= NAME_MAX && name.chars().all(is_part) {
        true => error.or("allow it", format!("cleo serve {option} {}", quote(value))),
        false => error,
    }
}

/// Returns the host name of a request, from its target or its header, which must agree.
fn host(headers: &HeaderMap, uri: &Uri) -> Result<String> {
    let named = headers.get(HOST).into_iter();
    let named = named.map(|host| host.to_str().unwrap_or_default());
    let target = uri.authority().map(|authority| authority.as_str());
    let mut hosts = named.chain(target).map(str::to_ascii_lowercase);
    let host = hosts.next().unwrap_or_default();
    if hosts.all(|other| other == host) {
        return Ok(host);
    }
    Err(error!(Forbidden, "the request has several host names"))
}

fn is_own(server: &Server, host: &str) -> bool {
    let port = format!(":{}", server.address.port());
    let name = host.strip_suffix(&port);
    let is_plain = |own: &&str| name == Some(*own) || (port == ":80" && host == *own);
    let is_named = |own: &String| {
        let own = own.to_ascii_lowercase();
        host == own || name == Some(&own)
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(is_plain)
        || server.options.hosts.iter().any(is_named)
        || host == server.address.to_string()
}

/// Refuses pages of other origins. Browsers send no origin with images and links, but the relation of the sites; a link may
/// only lead to a page.
pub(super) fn check_origin(
    server: &Server,
    host: &str,
    headers: &HeaderMap,
    path: &str,
) -> Result<()> {
    let Some(origin) = headers.get(ORIGIN) else {
        let has = |name: &str, value: &str| headers.get(name).is_some_and(|given| given == value);
        let is_link = has("sec-fetch-mode", "navigate") && !path.starts_with("/api/");
        if has("sec-fetch-site", "cross-site") && !is_link {
            let message = "pages of other sites are not allowed to call this server";
            return Err(Error::new(Code::Forbidden, message));
        }
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or("null");
    let name = origin
        .strip_prefix("http://")
        .or(origin.strip_prefix("https://"));
    let is_own = name.is_some_and(|name| !host.is_empty() && name.eq_ignore_ascii_case(host));
    if is_own || server.options.origins.iter().any(|there| there == origin) {
        return Ok(());
    }
    let message = format!("pages of `{origin}` are not allowed to call this server");
    let error = Error::new(Code::Forbidden, message);
    let name = name.unwrap_or_default();
    Err(suggest_allowing(error, "--allow-origin", origin, name))
}

/// Refuses pages of another workspace, whose server had this address before.
pub(super) fn check_workspace(server: &Server, headers: &HeaderMap) -> Result<()> {
    let named = headers.get("cleo-workspace");
    if named.is_none_or(|named| *named == server.pages.workspace) {
        return Ok(());
    }
    let message = "the page is of another workspace than this server; load it again";
    Err(Error::new(Code::OtherWorkspace, message))
}

pub(super) fn caller(server: &Server, headers: &HeaderMap) -> Result<Caller> {
    if let Some(secret) = bearer(headers) {
        return find_caller(server, secret);
    }
    let secret = cookie(headers, &cookie_name(server));
    match secret.map(|secret| find_caller(server, secret)) {
        Some(Ok(caller)) => Ok(caller),
        _ if !server.asks_tokens() => Ok(Caller {
            user: server.surroundings.actor.clone(),
            scope: Scope::Admin,
            is_local: true,
            expires_at: None,
        }),
        Some(refused) => refused,
        None => Err(unauthorized("this request needs a token")),
    }
}

pub(super) fn find_caller(server: &Server, secret: &str) -> Result<Caller> {
    let now = server.surroundings.clock.timestamp();
    let mut tokens = server.tokens.lock().unwrap_or_else(PoisonError::into_inner);
    let token = Some(secret).filter(|secret| secret.len() <= TOKEN_MAX);
    let token = token.and_then(|secret| tokens.find(secret, &now));
    let token = token.ok_or_else(|| unauthorized("the token is invalid, expired or revoked"))?;
    Ok(Caller {
        user: token.user.clone(),
        scope: token.scope,
        is_local: false,
        expires_at: token.expires_at.clone(),
    })
}

/// Returns the name of the cookie with the token of a page. Browsers send cookies to all ports of a
/// host, so the name has the port.
pub(super) fn cookie_name(server: &Server) -> String {
    format!("cleo_token_{}", server.address.port())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().unwrap_or_default();
    let (kind, token) = value.split_once(' ').unwrap_or(("", value));
    Some(match kind.eq_ignore_ascii_case("bearer") {
        true => token.trim(),
        false => "",
    })
}

fn cookie<'a>(headers: &'a HeaderMap, cookie: &str) -> Option<&'a str> {
    let cookies = headers.get_all(COOKIE).into_iter();
    let cookies = cookies.filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == cookie && !value.is_empty()).then_some(value)
    })
}

/// Returns the name under which the calls of a caller are limited: the user of a token, else the IP address.
pub(super) fn limit_key(caller: Option<&Caller>, peer: IpAddr) -> String {
    match caller {
        Some(caller) if !caller.is_local => format!("user {}", caller.user),
        _ => format!("address {peer}"),
    }
}

pub(super) fn unauthorized(message: &str) -> Error {
    Error::new(Code::Unauthorized, message).fix("cleo serve token create")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// User who owns new executions, conversations and agents.
    pub(super) user: String,
    pub(super) scope: Scope,
    /// Whether the caller is the user of this machine, who needs no token.
    pub(super) is_local: bool,
    pub(super) expires_at: Option<String>,
}

impl Caller {
    pub(super) fn rights(&self) -> Rights {
        Rights {
            scope: self.scope,
            user: self.visible_user().map(String::from),
            registrant: Registrant::Http,
        }
    }

    /// Returns the user whose rows are visible, or `None` for all users.
    pub(super) fn visible_user(&self) -> Option<&str> {
        (self.scope < Scope::Admin).then_some(self.user.as_str())
    }
}

/// Interval of checks.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// A right of access.
pub(super) struct Pass {
    server: Arc<Server>,
    headers: HeaderMap,
}

impl Pass {
    pub(super) fn for_headers(server: &Arc<Server>, headers: &HeaderMap) -> Pass {
        Pass {
            server: Arc::clone(server),
            headers: headers.clone(),
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        caller(&self.server, &self.headers).map(drop)
    }

    /// Waits until the caller is no longer authorized, and returns the reason.
    pub(super) async fn wait_until_refused(&self) -> Error {
        loop {
            tokio::time::sleep(LOOK).await;
            if let Err(error) = self.check() {
                return error;
            }
        }
    }
}
