//! What every tool is called with, and the results that say what is wrong.

use serde_json::{Map, Value, json};

use crate::chat::value::brief;

/// What a tool is called with.
pub(super) type Args = Map<String, Value>;

/// Returns the text under a key, or nothing.
pub(super) fn text<'a>(args: &'a Args, key: &str) -> &'a str {
    args.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the object under a key, or an empty one.
pub(super) fn object(args: &Args, key: &str) -> Args {
    let object = args.get(key).and_then(Value::as_object);
    object.cloned().unwrap_or_default()
}

/// A result that says what is wrong.
pub(super) fn fault(error: impl Into<String>) -> Value {
    json!({ "success": false, "error": error.into() })
}

/// The result for a client that is not there.
pub(super) fn no_client(client: &str) -> Value {
    fault(format!("Client {} not found", brief(client)))
}

/// The result for a client without a design.
pub(super) fn no_design(client: &str) -> Value {
    fault(format!("No design found for client {}.", brief(client)))
}
