//! The words of the chat, as tables: what a design can be, what components are called and what their
//! fields are called. Notes on the chat specification, sections 2.2 and 2.5.

use super::kind::Kind;

const BACKGROUNDS: &[&str] = &["none", "solid", "gradient", "image", "video", "dualcolor"];
const CARD_STYLES: &[&str] = &["solid", "stroked", "soft-shadow", "hard-shadow"];
const LAYOUTS: &[&str] = &["classic", "compact", "banner", "imaged"];
const RADII: &[&str] = &["no-radius", "small", "medium", "full"];
const STYLES: &[&str] = &["solid", "stroked", "soft-shadow"];

/// A part of a design that can be changed.
#[derive(Debug)]
pub(crate) struct Element {
    /// The key under which tools take it.
    pub(crate) key: &'static str,
    /// What people call it.
    pub(crate) label: &'static str,
    /// Column and key of the design.
    pub(crate) path: (&'static str, &'static str),
    /// What it can be.
    pub(crate) kind: Kind,
    /// Groups of words, one of each of which names it.
    pub(crate) words: &'static [&'static [&'static str]],
    /// Whether the chat offers it; tools take it all the same.
    pub(crate) offered: bool,
}

const BACKGROUND: &[&str] = &["background", "backgrounds"];
const BUTTON: &[&str] = &["button", "buttons"];
const CARD: &[&str] = &["card", "cards"];
const COLOR: &[&str] = &["color", "colors", "colour", "colours"];
const FONT: &[&str] = &["font", "fonts"];
const LINK: &[&str] = &["link", "links"];
const RADIUS: &[&str] = &["radius", "radii", "corner", "corners"];
const STYLE: &[&str] = &["style", "styles", "styling"];
const TEXT: &[&str] = &["text", "texts"];

macro_rules! elements {
    ($($key:literal, $label:literal, $column:literal . $field:literal, $kind:expr,
       [$($words:expr),*], $offered:literal;)+) => {
        &[$(Element { key: $key, label: $label, path: ($column, $field), kind: $kind,
            words: &[$($words),*], offered: $offered },)+]
    };
}

/// Every part of a design that can be changed.
pub(crate) static ELEMENTS: &[Element] = elements! {
    "layout", "layout", "header_design"."Layout", Kind::Options(LAYOUTS), [&["layout"]], true;
    "social_icon_style", "social icon style", "header_design"."social-icon-style",
        Kind::Options(STYLES), [&["social", "icon", "icons"], STYLE], true;
    "desktop_background_type", "desktop background", "desktop_background"."type",
        Kind::Options(BACKGROUNDS), [&["desktop"], BACKGROUND], true;
    "page_background", "page background", "page_props"."background",
        Kind::Options(BACKGROUNDS), [&["page"], BACKGROUND], true;
    "appearance_background", "appearance background", "appearance"."background",
        Kind::Options(BACKGROUNDS), [&["appearance"], BACKGROUND], true;
    "card_style", "card style", "card_design"."style", Kind::Options(CARD_STYLES), [CARD, STYLE], true;
    "card_radius", "card radius", "card_design"."radius", Kind::Options(RADII), [CARD, RADIUS], true;
    "button_style", "button style", "button_design"."style", Kind::Options(STYLES),
        [BUTTON, STYLE], true;
    "button_radius", "button radius", "button_design"."radius", Kind::Options(RADII),
        [BUTTON, RADIUS], true;
    "link_text_color", "link text color", "link_block"."text", Kind::Color, [LINK, TEXT, COLOR], true;
    "link_background_color", "link background color", "link_block"."background", Kind::Color,
        [LINK, BACKGROUND, COLOR], true;
    "card_text_color", "card text color", "card_block"."text", Kind::Color, [CARD, TEXT, COLOR], true;
    "card_background_color", "card background color", "card_block"."background", Kind::Color,
        [CARD, BACKGROUND, COLOR], true;
    "card_button_color", "card button color", "card_block"."button", Kind::Color,
        [CARD, BUTTON, COLOR], true;
    "desktop_background_gradient", "desktop background gradient", "desktop_background"."gradient_type",
        Kind::Name, [&["desktop"], BACKGROUND, &["gradient"]], true;
    "title_font", "title font", "text_props"."titles", Kind::Name, [&["title", "titles"], FONT], true;
    "subtitle_font", "subtitle font", "text_props"."subtitles", Kind::Name,
        [&["subtitle", "subtitles"], FONT], true;
    "page_filter", "page filter", "page_props"."filter", Kind::Text, [&["page"], &["filter"]], false;
    "page_animation", "page animation", "page_props"."animation", Kind::Text,
        [&["page"], &["animation"]], false;
    "appearance_video", "appearance video", "appearance"."video", Kind::Text,
        [&["appearance"], &["video"]], false;
    "appearance_image", "appearance image", "appearance"."image", Kind::Text,
        [&["appearance"], &["image"]], false;
    "appearance_media", "appearance media", "appearance"."media", Kind::Text,
        [&["appearance"], &["media"]], false;
};

/// What of a design is never offered.
pub(super) const NEVER: &[&str] = &[
    "hover",
    "animation",
    "animations",
    "spacing",
    "size",
    "padding",
    "margin",
    "margins",
    "transition",
    "transitions",
    "css",
];

/// Words that speak of a design.
pub(super) const DESIGN: &[&str] = &[
    "design",
    "designs",
    "designing",
    "layout",
    "appearance",
    "visual",
    "style",
    "styles",
    "styling",
    "button",
    "buttons",
    "card",
    "cards",
    "banner",
    "background",
    "color",
    "colors",
    "colour",
    "colours",
    "palette",
    "theme",
    "radius",
    "shadow",
    "font",
    "fonts",
    "gradient",
    "solid",
    "stroked",
    "soft-shadow",
    "hard-shadow",
    "classic",
    "compact",
    "imaged",
    "social",
    "icon",
    "icons",
    "header",
];

/// Words in a row that speak of a design.
pub(super) const DESIGN_PHRASES: &[&[&str]] = &[&["how", "would", "it", "look"]];

/// Words that ask what a design is or should be rather than change it.
pub(super) const ADVICE: &[&str] = &[
    "recommendations",
    "recommendation",
    "recommend",
    "evaluation",
    "analysis",
    "look",
    "impact",
];

/// Types of components, each with the words for it; the first is what is kept.
pub(super) const TYPES: &[&[&str]] = &[
    &["cards", "card"],
    &["buttons", "button"],
    &["texts", "text"],
    &["images", "image"],
    &["headers", "header"],
    &["footers", "footer"],
    &["banner", "banners"],
    &["link", "links"],
];

/// Fields of a component with what they can be: column and key, or a column of its own.
pub(super) const FIELDS: &[(&str, Kind)] = &[
    ("props.title", Kind::Text),
    ("props.caption", Kind::Text),
    ("props.subtitle", Kind::Text),
    ("props.description", Kind::Text),
    ("props.text", Kind::Text),
    ("link_props.url", Kind::Address),
    ("link_props.link", Kind::Address),
    ("link_props.href", Kind::Address),
    ("link_props.spacesize", Kind::Text),
    ("link_props.spacing", Kind::Text),
    ("layout_props.textalignment", Kind::Text),
    ("layout_props.alignment", Kind::Text),
    ("layout_props.filter", Kind::Text),
    ("layout_props.aspectRatio", Kind::Text),
    ("layout_props.cardType", Kind::Text),
    ("layout_props.orientation", Kind::Text),
    ("manual_edits.properties.style", Kind::Options(CARD_STYLES)),
    ("manual_edits.properties.radius", Kind::Options(RADII)),
    ("manual_edits.properties.cardcolor", Kind::Color),
    ("manual_edits.properties.font", Kind::Text),
    ("manual_edits.properties.textcolor", Kind::Color),
    ("manual_edits.properties.backgroundColor", Kind::Color),
    ("sawall", Kind::Flag),
    ("sawall_content", Kind::Text),
    ("layout", Kind::Text),
    ("schedule_enabled", Kind::Flag),
    ("schedule_start", Kind::Moment),
    ("schedule_end", Kind::Moment),
    ("manual_edit", Kind::Flag),
    ("is_blur", Kind::Flag),
    ("is_secured", Kind::Flag),
    ("display_order", Kind::Number),
];

/// Fields that no update changes.
pub(super) const PROTECTED: &[&str] = &[
    "clientId",
    "client_id",
    "componentId",
    "component_id",
    "component_type",
    "library_id",
    "libraryId",
];

/// What people call the fields of a component.
pub(super) const PHRASES: &[(&[&str], &str)] = &[
    (&["title"], "props.title"),
    (&["heading"], "props.title"),
    (&["header"], "props.title"),
    (&["titled"], "props.title"),
    (&["called"], "props.title"),
    (&["named"], "props.title"),
    (&["caption"], "props.caption"),
    (&["subtitle"], "props.caption"),
    (&["subheading"], "props.caption"),
    (&["description"], "props.description"),
    (&["desc"], "props.description"),
    (&["content"], "props.description"),
    (&["text"], "props.description"),
    (&["body"], "props.text"),
    (&["link"], "link_props.url"),
    (&["url"], "link_props.url"),
    (&["href"], "link_props.url"),
    (&["website"], "link_props.url"),
    (&["spacing"], "link_props.spacesize"),
    (&["alignment"], "layout_props.textalignment"),
    (&["text", "alignment"], "layout_props.textalignment"),
    (&["filter"], "layout_props.filter"),
    (&["aspect", "ratio"], "layout_props.aspectRatio"),
    (&["aspectratio"], "layout_props.aspectRatio"),
    (&["card", "type"], "layout_props.cardType"),
    (&["cardtype"], "layout_props.cardType"),
    (&["orientation"], "layout_props.orientation"),
    (&["layout"], "layout"),
    (&["template"], "layout"),
    (&["order"], "display_order"),
    (&["position"], "display_order"),
    (&["blur"], "is_blur"),
    (&["secure"], "is_secured"),
    (&["radius"], "manual_edits.properties.radius"),
    (&["card", "color"], "manual_edits.properties.cardcolor"),
    (&["card", "colour"], "manual_edits.properties.cardcolor"),
    (&["text", "color"], "manual_edits.properties.textcolor"),
    (&["text", "colour"], "manual_edits.properties.textcolor"),
    (
        &["background", "color"],
        "manual_edits.properties.backgroundColor",
    ),
    (
        &["background", "colour"],
        "manual_edits.properties.backgroundColor",
    ),
    (&["background"], "manual_edits.properties.backgroundColor"),
    (&["font"], "manual_edits.properties.font"),
    (&["style"], "manual_edits.properties.style"),
    (&["component", "type"], "component_type"),
    (&["type"], "component_type"),
    (&["client", "id"], "clientId"),
    (&["clientid"], "clientId"),
    (&["component", "id"], "componentId"),
    (&["componentid"], "componentId"),
    (&["libraryid"], "library_id"),
];

/// Words that set a field, and to what.
pub(super) const STATUS: &[(&str, &str, bool)] = &[
    ("secured", "is_secured", true),
    ("blurred", "is_blur", true),
    ("scheduled", "schedule_enabled", true),
    ("unsecured", "is_secured", false),
    ("unblurred", "is_blur", false),
    ("unscheduled", "schedule_enabled", false),
];

/// Verbs that set a field, and to what.
pub(super) const STATUS_VERBS: &[(&str, &str, bool)] = &[
    ("secure", "is_secured", true),
    ("blur", "is_blur", true),
    ("schedule", "schedule_enabled", true),
    ("unsecure", "is_secured", false),
    ("unblur", "is_blur", false),
    ("unschedule", "schedule_enabled", false),
];

/// Words in front of a noun that say nothing of it.
pub(super) const ARTICLES: &[&str] = &["a", "an", "the", "my", "its", "our", "new", "this"];

/// Words that ask.
pub(super) const QUESTIONS: &[&str] = &[
    "what", "which", "why", "how", "who", "when", "where", "is", "are", "does", "huh", "pardon",
];

/// Words that are said for politeness.
pub(super) const POLITE: &[&str] = &[
    "now", "please", "thank", "thanks", "then", "you", "hi", "hello", "hey", "ok", "okay", "too",
    "also", "and",
];

/// Words before a reason.
pub(super) const REASONS: &[&str] = &["because", "since"];

/// What a message asks to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Make something.
    Create,
    /// Show something.
    Read,
    /// Change something.
    Update,
    /// Remove something.
    Delete,
}

/// Words for what is to be done.
pub(super) const VERBS: &[(&str, Verb)] = &[
    ("add", Verb::Create),
    ("create", Verb::Create),
    ("insert", Verb::Create),
    ("build", Verb::Create),
    ("attach", Verb::Create),
    ("assign", Verb::Create),
    ("grant", Verb::Create),
    ("show", Verb::Read),
    ("list", Verb::Read),
    ("get", Verb::Read),
    ("view", Verb::Read),
    ("display", Verb::Read),
    ("find", Verb::Read),
    ("fetch", Verb::Read),
    ("search", Verb::Read),
    ("see", Verb::Read),
    ("give", Verb::Read),
    ("tell", Verb::Read),
    ("describe", Verb::Read),
    ("update", Verb::Update),
    ("change", Verb::Update),
    ("edit", Verb::Update),
    ("modify", Verb::Update),
    ("set", Verb::Update),
    ("make", Verb::Update),
    ("mark", Verb::Update),
    ("rename", Verb::Update),
    ("switch", Verb::Update),
    ("adjust", Verb::Update),
    ("alter", Verb::Update),
    ("convert", Verb::Update),
    ("replace", Verb::Update),
    ("turn", Verb::Update),
    ("use", Verb::Update),
    ("blur", Verb::Update),
    ("secure", Verb::Update),
    ("schedule", Verb::Update),
    ("unblur", Verb::Update),
    ("unsecure", Verb::Update),
    ("unschedule", Verb::Update),
    ("delete", Verb::Delete),
    ("remove", Verb::Delete),
    ("erase", Verb::Delete),
    ("drop", Verb::Delete),
    ("detach", Verb::Delete),
    ("revoke", Verb::Delete),
    ("unassign", Verb::Delete),
];

/// Finds the type of components that a word is for.
pub(crate) fn component_type(word: &str) -> Option<&'static str> {
    let named = TYPES.iter().find(|words| words.contains(&word));
    named.and_then(|words| words.first().copied())
}
