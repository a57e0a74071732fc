//! Reads allowed hosts and origins in the form that requests have. Another form would silently
//! match nothing.

use std::net::Ipv6Addr;

use axum::http::Uri;

use crate::error::{Code, Error, Result};

pub(crate) fn read_host(text: &str) -> Result<String> {
    let name = format!("http://{}", text.to_ascii_lowercase());
    match origin_of(&name) {
        Some(origin) if origin == name => Ok(name["http://".len()..].to_string()),
        _ => {
            let what = "not a host name such as cleo.example.org or cleo.example.org:8443";
            Err(refuse("--allow-host", text, what))
        }
    }
}

/// Reads an origin as browsers send it; a trailing slash is ignored.
pub(crate) fn read_origin(text: &str) -> Result<String> {
    let name = text.strip_suffix('/').unwrap_or(text);
    let is_usual = name.starts_with("http://") && name.ends_with(":80")
        || name.starts_with("https://") && name.ends_with(":443");
    match origin_of(name) {
        Some(origin) if origin == name && !is_usual => Ok(origin),
        _ => {
            let what = "no origin, which is a scheme, a host in lower case and a port that is not the \
                        usual one, such as https://app.example.org";
            Err(refuse("--allow-origin", text, what))
        }
    }
}

fn refuse(option: &str, text: &str, what: &str) -> Error {
    Error::new(Code::Usage, format!("{option} `{text}` is {what}"))
}

/// Returns scheme, host and port of an address, in the one form that each has.
fn origin_of(text: &str) -> Option<String> {
    let uri: Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let host = authority.host();
    let host = match host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
    {
        Some(address) => format!("[{}]", address.parse::<Ipv6Addr>().ok()?),
        None if is_name(host) => host.to_ascii_lowercase(),
        None => return None,
    };
    Some(match authority.port_u16() {
        Some(0) => return None,
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_let_in_as_browsers_send_it_or_not() {
        for (text, read) in [
            ("https://app.example.org", "https://app.example.org"),
            ("https://app.example.org/", "https://app.example.org"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("http://[::1]:5173", "http://[::1]:5173"),
            ("chrome-extension://abc", "chrome-extension://abc"),
        ] {
            assert_eq!(read_origin(text).unwrap(), read, "{text}");
        }
        for text in [
            "app.example.org",
            "https://app.example.org/x",
            "https://app.example.org//",
            "HTTPS://App.example.org",
            "https://app.example.org:443",
            "http://app.example.org:80/",
            "*",
            "",
            "/",
            "null",
            "https://",
            "https://*.example.org",
            "https://a b",
            "https://a:x",
        ] {
            let error = read_origin(text).unwrap_err();
            assert_eq!(error.code, Code::Usage, "{text}");
        }
    }

    #[test]
    fn host_is_name_alone_that_may_have_port() {
        for (text, read) in [
            ("cleo.example.org", "cleo.example.org"),
            ("cleo.example.org:8443", "cleo.example.org:8443"),
            ("10.0.0.7", "10.0.0.7"),
            ("[::1]:80", "[::1]:80"),
            ("my_host", "my_host"),
            ("Cleo.Example", "cleo.example"),
        ] {
            assert_eq!(read_host(text).unwrap(), read);
        }
        for text in [
            "http://proxy.example.org",
            "proxy.example.org/",
            "fe80::1",
            "*",
            "",
            "/",
            "http://",
            "a b",
            "a:0",
            "a:70000",
            "-x",
        ] {
            assert!(read_host(text).is_err(), "{text}");
        }
    }
}
