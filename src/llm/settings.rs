//! Makes a [`Model`] from settings. Pure.
//!
//! A project's file is untrusted. It may choose provider and model, but cannot send text of users to another
//! server or a variable to any: a server that it names must be on this machine and gets no key, and it names
//! no variable.
//!
//! Keys are read when needed and never written.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use http::Uri;
use serde_json::Value;

use super::{Model, Provider};
use crate::config::{
    LLM_API_KEY_ENV, LLM_BASE_URL, LLM_INPUT_PRICE, LLM_MODEL, LLM_OUTPUT_PRICE, LLM_PROVIDER,
    LLM_RETRIES, LLM_STREAM, LLM_TIMEOUT, Settings,
};
use crate::error::{Code, Error, Result};

/// Gemini's endpoint for Chat Completions.
const GEMINI: &str = "https://generativelanguage.googleapis.com/v1beta/openai";

/// Variable of OpenAI's key, which is enough to choose the provider.
pub(crate) const OPENAI_KEY: &str = "OPENAI_API_KEY";

impl Provider {
    /// Returns the address of the server, and the variable of its key.
    fn defaults(self) -> (&'static str, Option<&'static str>) {
        match self {
            Provider::OpenAiChat => ("https://api.openai.com/v1", Some(OPENAI_KEY)),
            Provider::Anthropic => ("https://api.anthropic.com", Some("ANTHROPIC_API_KEY")),
            Provider::Ollama => ("http://127.0.0.1:11434/v1", None),
            Provider::Gemini => (GEMINI, Some("GEMINI_API_KEY")),
        }
    }

    pub(crate) fn from_settings(settings: &Settings) -> Option<Provider> {
        let word = settings.text(LLM_PROVIDER).filter(|word| word != "none")?;
        Some(word.parse().unwrap_or(Provider::OpenAiChat))
    }

    /// Returns the variable of the server address, which the provider's own programs use too.
    pub(crate) fn address_variable(self) -> Option<&'static str> {
        match self {
            Provider::OpenAiChat => Some("OPENAI_BASE_URL"),
            Provider::Anthropic => Some("ANTHROPIC_BASE_URL"),
            Provider::Ollama => Some("OLLAMA_HOST"),
            Provider::Gemini => None,
        }
    }

    /// Makes an address from the value of that variable: Ollama's may be a host, a port or both, and may be a listening
    /// address.
    pub(crate) fn address(self, text: &str) -> String {
        let text = text.trim();
        if self != Provider::Ollama || text.contains("://") {
            return text.to_string();
        }
        let text = text.trim_end_matches('/');
        if text.parse::<Ipv6Addr>().is_ok() {
            return self.address(&format!("[{text}]"));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (text, ""),
        };
        let port = if port.is_empty() { "11434" } else { port };
        let host = match host {
            "" | "0.0.0.0" | "[::]" => "127.0.0.1",
            host => host,
        };
        format!("http://{host}:{port}")
    }
}

impl Model {
    pub(crate) fn from(settings: &Settings) -> Result<Option<Model>> {
        let Some(provider) = Provider::from_settings(settings) else {
            return Ok(None);
        };
        let name = settings.text(LLM_MODEL);
        // Agents name models of OpenAI.
        if name.is_none() && provider != Provider::OpenAiChat {
            let message = format!(
                "{LLM_PROVIDER} is {}, and {LLM_MODEL} does not say which model answers",
                provider.word()
            );
            return Err(invalid(message).fix("cleo config list --show-origin"));
        }
        let (key_variable, needs_key) = key(settings, provider)?;
        Ok(Some(Model {
            provider,
            name,
            base_url: base_url(settings, provider)?,
            key_variable,
            needs_key,
            is_of_project: settings.is_from_project(LLM_BASE_URL),
            timeout: Duration::from_secs(settings.number(LLM_TIMEOUT).unwrap_or(120)),
            retries: settings.number(LLM_RETRIES).unwrap_or(2) as u32,
            stream: settings.is_on(LLM_STREAM),
            prices: settings
                .price(LLM_INPUT_PRICE)
                .zip(settings.price(LLM_OUTPUT_PRICE)),
        }))
    }

    pub(crate) fn is_safe(&self) -> bool {
        self.base_url.starts_with("https://") || is_local(&self.base_url)
    }
}

/// Returns which variable may hold the key and whether it must: servers of others often want none.
fn key(settings: &Settings, provider: Provider) -> Result<(Option<String>, bool)> {
    if settings.is_from_project(LLM_API_KEY_ENV) {
        let message = format!(
            "{LLM_API_KEY_ENV} is set by the project's file, which cannot say which variable is sent to a server"
        );
        let unset = format!("cleo config unset {LLM_API_KEY_ENV}");
        return Err(invalid(message).or("remove the setting", unset));
    }
    if settings.is_from_project(LLM_BASE_URL) {
        return Ok((None, false));
    }
    let Some(named) = settings.text(LLM_API_KEY_ENV) else {
        let usual = provider.defaults().1.map(String::from);
        let needs_key = usual.is_some() && settings.text(LLM_BASE_URL).is_none();
        return Ok((usual, needs_key));
    };
    Ok((Some(named), true))
}

fn base_url(settings: &Settings, provider: Provider) -> Result<String> {
    let Some(text) = settings.text(LLM_BASE_URL) else {
        return Ok(provider.defaults().0.to_string());
    };
    let url = text.trim_end_matches('/');
    if host(url).is_none() {
        let message = format!(
            "{LLM_BASE_URL} must be an address that begins with http:// or https://, without a name or password and without `?` or `#`"
        );
        return Err(invalid(message).fix("cleo config list --show-origin"));
    }
    if settings.is_from_project(LLM_BASE_URL) && !is_local(url) {
        let message = format!(
            "{LLM_BASE_URL} is set by the project's file to `{url}`; it can name servers of this machine only, others are for you to name"
        );
        // The address is untrusted: it is shown, and no command that adopts it is proposed.
        return Err(invalid(message).fix("cleo config list --show-origin"));
    }
    Ok(match provider {
        // Others write the version into the address, this format has it in the path.
        Provider::Anthropic => url.strip_suffix("/v1").unwrap_or(url).to_string(),
        // Its own programs name the server without a path.
        Provider::Ollama if !url.ends_with("/v1") => format!("{url}/v1"),
        _ => url.to_string(),
    })
}

fn invalid(message: String) -> Error {
    Error::new(Code::ConfigInvalid, message)
}

/// Returns the host of a plain address; `None` for any other text.
fn host(url: &str) -> Option<String> {
    let uri = url.parse::<Uri>().ok()?;
    let is_plain = matches!(uri.scheme_str(), Some("http" | "https"))
        && !url.contains(['?', '#', '@'])
        && uri.host().is_some_and(|host| !host.is_empty());
    let host = uri.host().filter(|_| is_plain)?;
    Some(host.trim_matches(['[', ']']).to_string())
}

fn is_local(url: &str) -> bool {
    host(url).is_some_and(|host| {
        let address = host.parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|it| it.is_loopback())
    })
}

const HIDDEN: &str = "[key]";
/// Length in bytes of the shortest key that is redacted. Shorter ones, such as `ollama` or `test`, are
/// placeholders for local servers and occur in normal text.
const SHORTEST_SECRET: usize = 8;

/// A key. It has no form for people.
#[derive(Clone)]
pub(crate) struct Key(String);

impl Key {
    pub(crate) fn new(variable: &str, value: &str) -> Result<Key> {
        let value = value.trim();
        if !value.is_empty() && value.len() <= 4_096 && value.bytes().all(|b| b.is_ascii_graphic())
        {
            return Ok(Key(value.to_string()));
        }
        let message = format!("{variable} holds something that can be no key; set it to the key");
        Err(Error::new(Code::ConfigInvalid, message).fix("cleo config list --show-origin"))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text, unless it is too short to be a secret.
    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SECRET {
            return text.to_string();
        }
        text.replace(&self.0, HIDDEN)
    }

    pub(crate) fn redact_all(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.redact(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_all(item)),
            Value::Object(fields) => {
                for (name, mut field) in std::mem::take(fields) {
                    self.redact_all(&mut field);
                    fields.insert(self.redact(&name), field);
                }
            }
            _ => {}
        }
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(HIDDEN)
    }
}

pub(crate) struct Redactor<'a> {
    key: Option<&'a Key>,
    held: String,
}

impl<'a> Redactor<'a> {
    /// Without a key, nothing is redacted.
    pub(crate) fn new(key: Option<&'a Key>) -> Redactor<'a> {
        Redactor {
            key,
            held: String::new(),
        }
    }

    /// Takes more text and returns what can be shown: what may be the beginning of the key waits.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let Some(key) = self.key else {
            return text.to_string();
        };
        self.held += text;
        let mut shown = key.redact(&std::mem::take(&mut self.held));
        let most = key.0.len().saturating_sub(1).min(shown.len());
        // Keys are ASCII, so what matches begins at a character.
        let waits = (1..=most)
            .rev()
            .find(|length| shown.ends_with(&key.0[..*length]));
        self.held = shown.split_off(shown.len() - waits.unwrap_or(0));
        shown
    }

    /// Returns what still waits, which was not a key.
    pub(crate) fn finish(self) -> String {
        self.held
    }
}
