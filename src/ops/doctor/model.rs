//! The configured model: whether it could be asked. Nobody is asked: nothing leaves this machine.

use std::ffi::OsString;

use super::Finding;
use crate::config::{LLM_BASE_URL, Settings};
use crate::exchange;
use crate::llm::Model;
use crate::llm::client::no_key;
use crate::runner;

const CHECK: &str = "model";

pub(super) fn look(settings: &Settings, variable: fn(&str) -> Option<OsString>) -> Finding {
    let model = match Model::from(settings) {
        Err(error) => return Finding::of(CHECK, error),
        Ok(None) => {
            let message = "none is configured; agents answer offline until llm.provider is set";
            return Finding::ok(CHECK, message);
        }
        Ok(Some(model)) => model,
    };
    if let Err(error) = exchange::check(&runner::beside(exchange::PROGRAM)) {
        return Finding::of(CHECK, error);
    }
    let key = model.key_variable.as_deref();
    let key = key.map(|name| (name, variable(name).is_some()));
    match key {
        Some((name, false)) if model.needs_key => {
            let error = no_key(&model, name);
            Finding::warn(CHECK, error.message, error.fix.unwrap_or_default())
        }
        Some((name, true)) if !model.is_safe() => {
            let server = &model.base_url;
            let message = format!("the key in {name} goes to {server} without encryption");
            Finding::warn(CHECK, message, format!("cleo config get {LLM_BASE_URL}"))
        }
        _ => Finding::ok(CHECK, described(&model)),
    }
}

fn described(model: &Model) -> String {
    let name = model.name.as_deref().unwrap_or("each agent's own model");
    format!(
        "{name} of {} at {}; not asked",
        model.provider.word(),
        model.base_url
    )
}
