//! Validates an agent: each field within its bounds, and a worker with a connection.

use std::net::Ipv6Addr;

use super::{NAME_MAX, invalid};
use crate::agent::{Agent, Kind};
use crate::error::Result;
use crate::task::rules::{check_line, check_text};

pub(in crate::agent) fn check(agent: &Agent) -> Result<()> {
    check_name(&agent.name).map_err(|error| error.in_field("name"))?;
    for (field, text) in [
        ("description", &agent.description),
        ("objective", &agent.objective),
        ("prompt", &agent.prompt),
    ] {
        check_text(field, text).map_err(|error| error.in_field(field))?;
    }
    for (field, word, max) in [("model", &agent.model, 100), ("icon", &agent.icon, 50)] {
        check_word(field, word, max).map_err(|error| error.in_field(field))?;
    }
    check_numbers(agent)?;
    let digits = agent.color.strip_prefix('#').unwrap_or("");
    if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let message = format!("`{}` is no color; colors look like #6B7280", agent.color);
        return Err(invalid(message).in_field("color"));
    }
    check_connection(agent)
}

fn check_name(name: &str) -> Result<()> {
    let length = name.chars().count();
    let is_seen = name.chars().any(|c| !c.is_control() && !c.is_whitespace());
    match length {
        _ if !is_seen => Err(invalid("an agent needs a name")),
        ..=NAME_MAX => check_line("name", name, NAME_MAX),
        _ => {
            let message = format!("the name has {length} characters; {NAME_MAX} are allowed");
            Err(invalid(message))
        }
    }
}

fn check_word(field: &str, word: &str, max: usize) -> Result<()> {
    let length = word.chars().count();
    if length == 0 || length > max || word.chars().any(char::is_control) {
        let message = format!("the {field} must be one word or line of 1 to {max} characters");
        return Err(invalid(message));
    }
    Ok(())
}

fn check_numbers(agent: &Agent) -> Result<()> {
    let temperature = agent.temperature;
    let rounded = (temperature * 100.0).round() / 100.0;
    let fault = match temperature {
        _ if !(0.0..=2.0).contains(&temperature) => "it goes from 0 to 2",
        _ if (temperature - rounded).abs() > 1e-9 => "it has at most two decimals",
        _ => "",
    };
    if !fault.is_empty() {
        let message = format!("the temperature is {temperature}; {fault}");
        return Err(invalid(message).in_field("temperature"));
    }
    for (field, name, number, max) in [
        ("max_tokens", "maxTokens", agent.max_tokens, 1_000_000),
        ("timeout_ms", "timeoutMs", agent.timeout_ms, 600_000),
    ] {
        if number == 0 || number > max {
            let message = format!("{name} is {number}; it goes from 1 to {max}");
            return Err(invalid(message).in_field(field));
        }
    }
    Ok(())
}

fn check_connection(agent: &Agent) -> Result<()> {
    for (field, address) in [
        ("endpoint", &agent.endpoint),
        ("healthcheck", &agent.healthcheck),
    ] {
        if let Some(address) = address {
            check_address(field, address).map_err(|error| error.in_field(field))?;
        }
    }
    match agent.kind {
        Kind::Http if agent.endpoint.is_none() => Err(invalid(
            "an http worker needs an endpoint, such as http://127.0.0.1:9000/run",
        )
        .in_field("endpoint")),
        Kind::Cli if agent.command.first().is_none_or(String::is_empty) => Err(invalid(
            "a cli worker needs a command, such as [\"python3\", \"worker.py\"]",
        )
        .in_field("command")),
        _ if agent.command.iter().any(|part| part.contains('\0')) => {
            Err(invalid("the command holds a NUL character").in_field("command"))
        }
        _ => Ok(()),
    }
}

fn check_address(field: &str, address: &str) -> Result<()> {
    let rest = ["http://", "https://"]
        .iter()
        .find_map(|scheme| address.strip_prefix(scheme));
    let plain = |c: char| c.is_ascii_graphic();
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    if let Some((_, place)) = authority.and_then(|authority| authority.rsplit_once('@')) {
        // The address is not repeated: it holds what should stay unknown.
        return Err(invalid(format!(
            "the {field} must not hold a name or a password: agents are kept as they are given; \
             name {place} alone"
        )));
    }
    let is_plain = address.len() <= 2_000 && address.chars().all(plain);
    if is_plain && authority.is_some_and(is_place) {
        return Ok(());
    }
    let message = format!(
        "the {field} must be an address that begins with http:// or https:// and names a host, with a port \
         from 1 to 65535 if any"
    );
    Err(invalid(message))
}

/// Returns whether an address can lead anywhere: a host, with a port if any (RFC 3986, section 3.2).
fn is_place(authority: &str) -> bool {
    let (is_host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']').unwrap_or_default();
            let number = host.split('%').next().unwrap_or_default();
            (number.parse::<Ipv6Addr>().is_ok(), port)
        }
        None => {
            let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
            (is_name(host), port)
        }
    };
    is_host && is_port(port)
}

/// Returns true for a valid host name: parts of at most 63 characters with dots between them (RFC 1035,
/// section 2.3.4), not only signs.
fn is_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_part = |part: &str| {
        let is_named = part.chars().any(|c| c.is_ascii_alphanumeric());
        is_named && part.len() <= 63 && !part.contains(['[', ']'])
    };
    host.len() <= 253 && host.split('.').all(is_part)
}

/// Returns whether it is nothing, or a colon and the number of a port, which may be left out.
fn is_port(text: &str) -> bool {
    match text.strip_prefix(':') {
        None => text.is_empty(),
        Some("") => true,
        Some(port) => {
            let is_number = port.bytes().all(|digit| digit.is_ascii_digit());
            is_number && port.parse::<u16>().is_ok_and(|port| port > 0)
        }
    }
}

pub(crate) fn require_prompt(agent: &Agent) -> Result<()> {
    if agent.is_worker() || !agent.prompt.trim().is_empty() {
        return Ok(());
    }
    let message = format!(
        "the agent `{}` needs a prompt: what a model is told before the message",
        agent.id
    );
    Err(invalid(message).in_field("prompt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_host_that_can_be() {
        for (address, is_right) in [
            ("http://127.0.0.1:9000/run", true),
            ("http://localhost/", true),
            ("https://workers.example.com.?a=b#c", true),
            ("http://a_b:65535", true),
            ("http://host:/run", true),
            ("http://[::1]:8080/run", true),
            ("http://[fe80::1%25eth0]/", true),
            ("http://%31%32%37.1/run", true),
            ("http://a-.local/", true),
            ("http://a+b/", true),
            ("http://", false),
            ("http:///run", false),
            ("http://.../", false),
            ("http://-/", false),
            ("http://a..b/", false),
            ("http://example.com:abc/", false),
            ("http://example.com:99999/", false),
            ("http://example.com:0/", false),
            ("http://example.com:-1/", false),
            ("http://example.com:80:80/", false),
            ("http://[::1/", false),
            ("http://[]/", false),
            ("http://[::1]x/", false),
        ] {
            let is_taken = check_address("endpoint", address).is_ok();
            assert_eq!(is_taken, is_right, "{address}");
        }
        let long = format!("http://{}.example/", "a".repeat(64));
        assert!(check_address("endpoint", &long).is_err());
    }
}
