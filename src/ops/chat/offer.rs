//! What a question is about: what a yes would change, and what can be chosen.

use serde_json::json;

use super::Talk;
use super::tools::run;
use crate::chat::record::Component;
use crate::chat::value::{flatten, get, label, plain};
use crate::chat::{Call, Choosable, Difference, Pending, PendingKind, Tool, text};
use crate::error::Result;
use crate::id::digest;

/// Where a new component is, which says nothing of what becomes of it.
const PLACE: [&str; 4] = [
    "component_id",
    "client_id",
    "display_order",
    "component_type",
];

impl Talk<'_> {
    /// Lets a call wait for a yes or a choice, with what it is about.
    pub(super) fn wait(&mut self, mut pending: Pending) -> Result<()> {
        let removing = [Tool::DeleteComponent, Tool::RemoveSecurityGroup];
        pending.destructive = removing.contains(&pending.tool);
        pending.created_at = self.now.clone();
        pending.expires = self.expires.clone();
        pending.changes = self.changes(&pending.call())?;
        pending.options = self.options(&pending)?;
        self.chat.shown = Some(self.fingerprint(&pending.call())?);
        self.chat.pending = Some(pending);
        Ok(())
    }

    /// Returns a digest of what a yes to a call would change, or delete.
    pub(super) fn fingerprint(&mut self, call: &Call) -> Result<String> {
        let (client, id) = (call.text("clientId"), call.text("componentId"));
        let gone = match call.tool {
            Tool::DeleteComponent => self.transaction.component(client, id)?,
            _ => None,
        };
        Ok(digest(json!([self.changes(call)?, gone]).to_string()))
    }

    /// Compares what there is with what a call would leave.
    pub(super) fn changes(&mut self, call: &Call) -> Result<Vec<Difference>> {
        let (client, id) = (call.text("clientId"), call.text("componentId"));
        let (before, what) = match call.tool {
            Tool::UpdateDesign => (json!(self.transaction.design(client)?), "design"),
            Tool::UpdateComponent => (json!(self.transaction.component(client, id)?), "component"),
            Tool::AddComponent => (json!(Component::default()), "component"),
            _ => return Ok(Vec::new()),
        };
        let after = run(self.transaction, call, false)?;
        let changed = flatten(&after[what])
            .into_iter()
            .filter_map(|(path, value)| {
                let was = get(&before, &path).filter(|was| !was.is_null());
                let is_place = call.tool == Tool::AddComponent && PLACE.contains(&path.as_str());
                let is_changed = was != Some(value) && !value.is_null() && !is_place;
                is_changed.then(|| Difference {
                    label: label(&path),
                    before: was.map(plain),
                    after: plain(value),
                })
            });
        Ok(changed.collect())
    }

    /// Describes the components that can be chosen, in the order of the list.
    fn options(&self, pending: &Pending) -> Result<Vec<Choosable>> {
        if pending.kind == PendingKind::Confirm {
            return Ok(Vec::new());
        }
        let mut options = Vec::with_capacity(pending.candidates.len());
        for id in &pending.candidates {
            let component = self
                .transaction
                .component(text(&pending.args, "clientId"), id)?;
            let component = component.unwrap_or_default();
            let titles = ["title", "caption", "text"].map(|name| text(&component.props, name));
            let title = titles.into_iter().find(|title| !title.is_empty());
            options.push(Choosable {
                id: id.clone(),
                title: title.unwrap_or_default().to_string(),
                kind: component.component_type,
            });
        }
        Ok(options)
    }
}
