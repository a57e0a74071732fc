//! The template engine, behind one function. Only `init --agents` comes here, so no other command
//! pays for it. Prompts do not: their tokens are in [`crate::template`].

use handlebars::{Handlebars, no_escape};
use serde::Serialize;

use crate::error::{Code, Error, Result};

/// Fills a Handlebars template. A name that `values` lacks is an error, and nothing is escaped:
/// the output is no HTML.
pub(super) fn render(template: &str, values: &impl Serialize) -> Result<String> {
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(no_escape);
    engine.render_template(template, values).map_err(|cause| {
        Error::new(
            Code::Internal,
            format!("a template cannot be filled: {cause}"),
        )
        .because(cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_in_as_they_are_and_must_all_be_there() {
        let values = serde_json::json!({ "name": "<a & b>" });
        assert_eq!(render("{{name}}!", &values).unwrap(), "<a & b>!");
        assert_eq!(
            render("{{nmae}}", &values).unwrap_err().code,
            Code::Internal
        );
    }
}
