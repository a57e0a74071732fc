//! The names and origins that whoever starts a server lets in, in the form that requests have them in: in
//! another one they would let nobody in, and nobody would hear of that.

use std::net::Ipv6Addr;

use crate::error::{Code, Error, Result};

pub(crate) fn allowed_host(text: &str) -> Result<String> {
    let (_, bare) = text.split_once("://").unwrap_or(("", text));
    match named(bare) {
        Some(name) if name.eq_ignore_ascii_case(text) => Ok(name),
        meant => {
            let what = "no name of a host, such as cleo.example.org or cleo.example.org:8443";
            Err(refused("--allow-host", text, what, meant))
        }
    }
}

/// Reads an origin, as browsers send it; a slash at its end is passed over.
pub(crate) fn allowed_origin(text: &str) -> Result<String> {
    match origin(text) {
        Some(origin) if origin == text.strip_suffix('/').unwrap_or(text) => Ok(origin),
        meant => {
            let what = "no origin, which is a scheme, a host in lower case and a port that is not the \
                        usual one, such as https://app.example.org";
            Err(refused("--allow-origin", text, what, meant))
        }
    }
}

fn refused(option: &str, text: &str, what: &str, meant: Option<String>) -> Error {
    let error = Error::new(Code::Usage, format!("{option} `{text}` is {what}"));
    match meant {
        Some(meant) => error.did_you_mean(&meant),
        None => error,
    }
}

fn origin(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
    let scheme = scheme.to_ascii_lowercase();
    let usual = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    let name = named(rest).filter(|_| is_scheme(&scheme))?;
    let name = name.strip_suffix(usual).unwrap_or(&name);
    // Pages without an origin of their own say this; anybody can make one.
    (text != "null").then(|| format!("{scheme}://{name}"))
}

fn is_scheme(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_part)
}

/// Finds the host with its port at the beginning of what may be an address.
fn named(text: &str) -> Option<String> {
    let name = text.split(['/', '?', '#']).next().unwrap_or_default();
    let name = match name.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => name.to_ascii_lowercase(),
    };
    let (host, port) = match name.rsplit_once(':') {
        Some((host, port)) if !name.ends_with(']') => (host, Some(port)),
        _ => (name.as_str(), None),
    };
    let host = host_of(host).filter(|_| port.is_none_or(is_port))?;
    Some(match port {
        Some(port) => format!("{host}:{port}"),
        None => host,
    })
}

/// Returns a host as clients write it: of an address there is one form.
fn host_of(text: &str) -> Option<String> {
    let address = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match address {
        Some(address) => {
            let address = address.parse::<Ipv6Addr>().ok()?;
            Some(format!("[{address}]"))
        }
        None => is_name(text).then(|| text.to_string()),
    }
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_part)
}

fn is_port(text: &str) -> bool {
    let number = text.parse::<u16>().ok().filter(|number| *number > 0);
    number.is_some_and(|number| number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(read: Result<String>) -> std::result::Result<String, Option<String>> {
        read.map_err(|error| {
            assert_eq!(error.code, Code::Usage);
            let meant = error.message.split_once("; did you mean `");
            meant.map(|(_, meant)| meant.trim_end_matches("`?").to_string())
        })
    }

    #[test]
    fn an_origin_is_let_in_as_browsers_send_it_or_not_at_all() {
        for (text, read) in [
            ("https://app.example.org", "https://app.example.org"),
            ("https://app.example.org/", "https://app.example.org"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("http://[::1]:5173", "http://[::1]:5173"),
            ("chrome-extension://abc", "chrome-extension://abc"),
        ] {
            assert_eq!(told(allowed_origin(text)), Ok(read.to_string()), "{text}");
        }
        for (text, meant) in [
            ("app.example.org", "https://app.example.org"),
            ("https://app.example.org/x", "https://app.example.org"),
            ("https://app.example.org//", "https://app.example.org"),
            ("HTTPS://App.example.org", "https://app.example.org"),
            ("https://app.example.org:443", "https://app.example.org"),
            ("http://app.example.org:80/", "http://app.example.org"),
        ] {
            let meant = Some(meant.to_string());
            assert_eq!(told(allowed_origin(text)), Err(meant), "{text}");
        }
        for text in [
            "*",
            "",
            "/",
            "null",
            "https://",
            "https://*.example.org",
            "https://a b",
            "https://a:x",
        ] {
            assert_eq!(told(allowed_origin(text)), Err(None), "{text}");
        }
    }

    #[test]
    fn a_host_is_a_name_alone_that_may_have_a_port() {
        for text in [
            "cleo.example.org",
            "cleo.example.org:8443",
            "10.0.0.7",
            "[::1]:80",
            "my_host",
        ] {
            assert_eq!(told(allowed_host(text)), Ok(text.to_string()));
        }
        assert_eq!(
            told(allowed_host("Cleo.Example")),
            Ok("cleo.example".to_string())
        );
        for (text, meant) in [
            ("http://proxy.example.org", "proxy.example.org"),
            ("proxy.example.org/", "proxy.example.org"),
            (
                "https://proxy.example.org:8443/x?y",
                "proxy.example.org:8443",
            ),
            ("fe80::1", "[fe80::1]"),
        ] {
            assert_eq!(
                told(allowed_host(text)),
                Err(Some(meant.to_string())),
                "{text}"
            );
        }
        for text in ["*", "", "/", "http://", "a b", "a:0", "a:70000", "-x"] {
            assert_eq!(told(allowed_host(text)), Err(None), "{text}");
        }
    }
}
