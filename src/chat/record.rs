//! What the chat works on, as it is kept: clients with their designs, components, security groups,
//! questions, answers and media. Keys are spelled as the chat specification spells columns.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Most digits of an id.
pub(crate) const ID_MAX: usize = 15;

/// A client: whose design and components they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Client {
    /// Its id, digits.
    #[serde(deserialize_with = "id")]
    pub(crate) client_id: String,
    /// What kind of client it is: decides which questions it is asked.
    pub(crate) client_type: String,
}

/// The design of a client: columns that are objects, changed key by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Design {
    /// Whose it is.
    #[serde(deserialize_with = "id")]
    pub(crate) client_id: String,
    /// Picture of the banner, in the media library.
    #[serde(deserialize_with = "maybe_id")]
    pub(crate) banner_library_id: Option<String>,
    /// Picture of the background, in the media library.
    #[serde(deserialize_with = "maybe_id")]
    pub(crate) background_library_id: Option<String>,
    /// Layout and icons.
    pub(crate) header_design: Map<String, Value>,
    /// Colours; spelled as in the specification.
    pub(crate) color_palate: Map<String, Value>,
    /// Background and its media.
    pub(crate) appearance: Map<String, Value>,
    /// The page.
    pub(crate) page_props: Map<String, Value>,
    /// Links.
    pub(crate) link_block: Map<String, Value>,
    /// Colours of cards.
    pub(crate) card_block: Map<String, Value>,
    /// Background on wide screens.
    pub(crate) desktop_background: Map<String, Value>,
    /// Style and corners of cards.
    pub(crate) card_design: Map<String, Value>,
    /// Style and corners of buttons.
    pub(crate) button_design: Map<String, Value>,
    /// Fonts.
    pub(crate) text_props: Map<String, Value>,
}

/// A component of a client's page. Its id is the client's own: two clients can have the same one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Component {
    /// Its id, digits.
    #[serde(deserialize_with = "id")]
    pub(crate) component_id: String,
    /// Whose it is.
    #[serde(deserialize_with = "id")]
    pub(crate) client_id: String,
    /// What it is, such as `cards`.
    pub(crate) component_type: String,
    /// Texts.
    pub(crate) props: Map<String, Value>,
    /// Where it leads.
    pub(crate) link_props: Map<String, Value>,
    /// How it is laid out.
    pub(crate) layout_props: Map<String, Value>,
    /// Whether it stands behind a wall.
    pub(crate) sawall: bool,
    /// What the wall says.
    pub(crate) sawall_content: Option<String>,
    /// Its layout.
    pub(crate) layout: Option<String>,
    /// Whether it is shown only for a time.
    pub(crate) schedule_enabled: bool,
    /// From when.
    pub(crate) schedule_start: Option<String>,
    /// Until when.
    pub(crate) schedule_end: Option<String>,
    /// Whether it was styled by hand.
    pub(crate) manual_edit: bool,
    /// What was styled by hand, under `properties`.
    pub(crate) manual_edits: Map<String, Value>,
    /// Whether it is blurred.
    pub(crate) is_blur: bool,
    /// Whether a security group guards it.
    pub(crate) is_secured: bool,
    /// Its place among the client's.
    pub(crate) display_order: i64,
    /// Its picture, in the media library.
    #[serde(rename = "libraryId", deserialize_with = "maybe_id")]
    pub(crate) library_id: Option<String>,
}

/// A group of people who may see what it guards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecurityGroup {
    /// Its id, digits.
    #[serde(deserialize_with = "id")]
    pub(crate) security_group_id: String,
    /// Whose it is.
    #[serde(deserialize_with = "id")]
    pub(crate) client_id: String,
    /// Its name, unique for a client in any letter case.
    pub(crate) security_group_title: String,
}

/// That a security group guards a component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guard {
    /// Whose both are.
    #[serde(deserialize_with = "id")]
    pub(crate) client_id: String,
    /// The component.
    #[serde(deserialize_with = "id")]
    pub(crate) component_id: String,
    /// The group.
    #[serde(deserialize_with = "id")]
    pub(crate) security_group_id: String,
}

/// A question for clients of a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// Its id, digits.
    #[serde(deserialize_with = "id")]
    pub(crate) question_id: String,
    /// The question.
    pub(crate) question_text: String,
    /// What can be chosen.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// Which clients are asked.
    pub(crate) client_type: String,
}

/// What a client answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// Who.
    #[serde(deserialize_with = "id")]
    pub(crate) client_id: String,
    /// To which question.
    #[serde(deserialize_with = "id")]
    pub(crate) question_id: String,
    /// What was chosen.
    pub(crate) chosen_options: Vec<String>,
}

/// A file of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Media {
    /// Its id, digits.
    #[serde(deserialize_with = "id")]
    pub(crate) library_id: String,
    /// Whose it is.
    #[serde(deserialize_with = "id")]
    pub(crate) client_id: String,
    /// Where it lies.
    pub(crate) s3_key: String,
}

/// A question with what a client chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Answered {
    /// The question.
    pub(crate) question: String,
    /// What was chosen.
    pub(crate) chosen_options: Vec<String>,
}

/// Writes an id in its one form: digits without zeros in front.
pub(crate) fn canonical(digits: &str) -> String {
    let digits = digits.trim_start_matches('0');
    // One digit more than any id has, so that what is too long is nobody's.
    let end = digits.len().min(ID_MAX + 1);
    match digits {
        "" => "0".to_string(),
        _ => digits[..end].to_string(),
    }
}

/// Reads an id that is text or a number.
fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    let text = match Either::deserialize(deserializer) {
        Ok(Either::Number(number)) => number.to_string(),
        Ok(Either::Text(text)) => text,
        Err(_) => String::new(),
    };
    let is_id = (1..=ID_MAX).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
    match is_id {
        true => Ok(canonical(&text)),
        false => Err(serde::de::Error::custom("an id is 1 to 15 digits")),
    }
}

fn maybe_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    struct Id(#[serde(deserialize_with = "id")] String);
    Ok(Option::<Id>::deserialize(deserializer)?.map(|id| id.0))
}
