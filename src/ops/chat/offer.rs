//! What a question is about, for whoever answers it: what a yes would change, and what can be chosen.

use serde_json::{Value, json};

use super::tools::run;
use crate::chat::record::Component;
use crate::chat::value::plain;
use crate::chat::vocabulary::ELEMENTS;
use crate::chat::{Call, Choosable, Difference, Pending, PendingKind, Tool, text};
use crate::error::Result;
use crate::id::digest;
use crate::store::agency::AgencyTransaction;

/// Where a component is, which says nothing of what becomes of it.
const PLACE: [&str; 4] = [
    "component_id",
    "client_id",
    "display_order",
    "component_type",
];

/// Says of what waits what it is about.
pub(super) fn describe(
    transaction: &mut dyn AgencyTransaction,
    pending: &mut Pending,
) -> Result<()> {
    pending.destructive = matches!(
        pending.tool,
        Tool::DeleteComponent | Tool::RemoveSecurityGroup
    );
    match pending.kind {
        PendingKind::Confirm => pending.changes = changes(transaction, &pending.call())?,
        PendingKind::Select => pending.options = options(transaction, pending)?,
    }
    Ok(())
}

/// Says what a yes to a call would change now, where that is not what was shown of it. What can no longer
/// be done says so itself.
pub(super) fn find_outdated(
    transaction: &mut dyn AgencyTransaction,
    pending: &Pending,
    shown: Option<&str>,
) -> Result<Option<Vec<Difference>>> {
    let call = pending.call();
    if run(transaction, &call, false)?.get("error").is_some() {
        return Ok(None);
    }
    let changes = changes(transaction, &call)?;
    let now = fingerprint(transaction, pending)?;
    let is_other = now.is_some() && shown.is_some() && now.as_deref() != shown;
    Ok((is_other || changes != pending.changes).then_some(changes))
}

/// Returns the digest of what is to be deleted.
pub(super) fn fingerprint(
    transaction: &mut dyn AgencyTransaction,
    pending: &Pending,
) -> Result<Option<String>> {
    if pending.kind != PendingKind::Confirm || pending.tool != Tool::DeleteComponent {
        return Ok(None);
    }
    let (client, id) = (
        text(&pending.args, "clientId"),
        text(&pending.args, "componentId"),
    );
    let component = transaction.component(client, id)?;
    Ok(component.map(|component| digest(json!(component).to_string())))
}

/// Compares what there is with what the call would leave.
fn changes(transaction: &mut dyn AgencyTransaction, call: &Call) -> Result<Vec<Difference>> {
    let client = text(&call.args, "clientId");
    let (before, what) = match call.tool {
        Tool::UpdateDesign => (json!(transaction.design(client)?), "design"),
        Tool::UpdateComponent => {
            let id = text(&call.args, "componentId");
            (json!(transaction.component(client, id)?), "component")
        }
        Tool::AddComponent => (json!(Component::default()), "component"),
        _ => return Ok(Vec::new()),
    };
    let after = run(transaction, call, false)?;
    let mut values = Vec::new();
    flatten(&after[what], &mut Vec::new(), &mut values);
    let place = |path: &[&str]| path.len() == 1 && PLACE.contains(&path[0]);
    let changed = values.into_iter().filter_map(|(path, value)| {
        let was = path.iter().fold(&before, |part, name| &part[*name]);
        (was != value && !place(&path)).then(|| Difference {
            label: label(&path),
            before: Some(was).filter(|was| !was.is_null()).map(plain),
            after: plain(value),
        })
    });
    Ok(changed.collect())
}

/// Takes the values of a record out of their objects, each with the way to it.
fn flatten<'v>(
    value: &'v Value,
    path: &mut Vec<&'v str>,
    values: &mut Vec<(Vec<&'v str>, &'v Value)>,
) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push(name);
                flatten(value, path, values);
                path.pop();
            }
        }
        Value::Null => {}
        value => values.push((path.clone(), value)),
    }
}

/// Names a value as people do.
fn label(path: &[&str]) -> String {
    let element = ELEMENTS
        .iter()
        .find(|element| path == [element.path.0, element.path.1]);
    match element {
        Some(element) => element.label.to_string(),
        None => path.last().copied().unwrap_or_default().replace('_', " "),
    }
}

/// Describes the components that can be chosen, in the order of the list.
fn options(transaction: &dyn AgencyTransaction, pending: &Pending) -> Result<Vec<Choosable>> {
    let client = text(&pending.args, "clientId");
    let mut options = Vec::with_capacity(pending.candidates.len());
    for id in &pending.candidates {
        let component = transaction.component(client, id)?.unwrap_or_default();
        let titles = ["title", "caption", "text"].map(|name| text(&component.props, name));
        options.push(Choosable {
            id: id.clone(),
            title: titles
                .into_iter()
                .find(|title| !title.is_empty())
                .unwrap_or_default()
                .to_string(),
            kind: component.component_type,
        });
    }
    Ok(options)
}
