//! The records of the chat: clients with their designs, components, security groups, questions, answers and media. Keys
//! are spelled as the chat specification spells columns.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Client {
    pub(crate) client_id: String,
    /// The kind of client, which decides its questions.
    pub(crate) client_type: String,
}

/// The design of a client: columns that are objects, changed key by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Design {
    pub(crate) client_id: String,
    pub(crate) banner_library_id: Option<String>,
    pub(crate) background_library_id: Option<String>,
    pub(crate) header_design: Map<String, Value>,
    pub(crate) color_palate: Map<String, Value>,
    pub(crate) appearance: Map<String, Value>,
    pub(crate) page_props: Map<String, Value>,
    pub(crate) link_block: Map<String, Value>,
    pub(crate) card_block: Map<String, Value>,
    pub(crate) desktop_background: Map<String, Value>,
    pub(crate) card_design: Map<String, Value>,
    pub(crate) button_design: Map<String, Value>,
    pub(crate) text_props: Map<String, Value>,
}

/// A component of a client's page. Its id is the client's own: two clients can have the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Component {
    pub(crate) component_id: String,
    pub(crate) client_id: String,
    pub(crate) component_type: String,
    pub(crate) props: Map<String, Value>,
    pub(crate) link_props: Map<String, Value>,
    pub(crate) layout_props: Map<String, Value>,
    pub(crate) sawall: bool,
    pub(crate) sawall_content: Option<String>,
    pub(crate) layout: Option<String>,
    pub(crate) schedule_enabled: bool,
    pub(crate) schedule_start: Option<String>,
    pub(crate) schedule_end: Option<String>,
    pub(crate) manual_edit: bool,
    pub(crate) manual_edits: Map<String, Value>,
    pub(crate) is_blur: bool,
    pub(crate) is_secured: bool,
    pub(crate) display_order: i64,
    #[serde(rename = "libraryId")]
    pub(crate) library_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecurityGroup {
    pub(crate) security_group_id: String,
    pub(crate) client_id: String,
    /// Its name, unique for a client in any letter case.
    pub(crate) security_group_title: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guard {
    pub(crate) client_id: String,
    pub(crate) component_id: String,
    pub(crate) security_group_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    pub(crate) question_id: String,
    pub(crate) question_text: String,
    #[serde(default)]
    pub(crate) options: Vec<String>,
    pub(crate) client_type: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) client_id: String,
    pub(crate) question_id: String,
    pub(crate) chosen_options: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Media {
    pub(crate) library_id: String,
    pub(crate) client_id: String,
    pub(crate) s3_key: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Answered {
    pub(crate) question: String,
    pub(crate) chosen_options: Vec<String>,
}

/// Writes an id in its one form: digits without zeros in front.
pub(crate) fn canonical(digits: &str) -> String {
    format!("{:0>1}", digits.trim_start_matches('0'))
}

pub(crate) fn is_id(text: &str) -> bool {
    (1..=15).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit())
}
