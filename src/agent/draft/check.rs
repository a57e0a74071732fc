//! Validates an agent: each field within its bounds, and a worker with a connection.

use std::num::NonZeroU16;

use http::Uri;

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
        let message = format!("`{}` is not a color; colors look like #6B7280", agent.color);
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
    let uri = address.parse::<Uri>().unwrap_or_default();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if let Some((_, place)) = authority.rsplit_once('@') {
        // The address is not repeated: it has a secret.
        return Err(invalid(format!(
            "the {field} must not hold a name or a password: agents are kept as they are given; \
             name {place} alone"
        )));
    }
    let host = uri.host().unwrap_or_default();
    let is_port = match authority.strip_prefix(host) {
        Some("" | ":") => true,
        Some(port) => port[1..].parse::<NonZeroU16>().is_ok(),
        None => false,
    };
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_web && is_port && !host.is_empty() && address.len() <= 2_000 {
        return Ok(());
    }
    let message = format!(
        "the {field} must be an address that begins with http:// or https:// and names a host, with a port \
         from 1 to 65535 if any"
    );
    Err(invalid(message))
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
    fn address_names_host_that_can_be() {
        for (address, is_right) in [
            ("http://127.0.0.1:9000/run", true),
            ("http://localhost/", true),
            ("https://workers.example.com.?a=b#c", true),
            ("http://a_b:65535", true),
            ("http://host:/run", true),
            ("http://[::1]:8080/run", true),
            ("http://[fe80::1%25eth0]/", true),
            ("http://a-.local/", true),
            ("http://a+b/", true),
            ("http://", false),
            ("http://%31%32%37.1/run", false),
            ("ftp://a/", false),
            ("/run", false),
            ("http:///run", false),
            ("http://example.com:abc/", false),
            ("http://example.com:99999/", false),
            ("http://example.com:0/", false),
            ("http://example.com:-1/", false),
            ("http://example.com:80:80/", false),
            ("http://[::1/", false),
        ] {
            let is_taken = check_address("endpoint", address).is_ok();
            assert_eq!(is_taken, is_right, "{address}");
        }
    }
}
