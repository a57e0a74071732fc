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
    pub(crate) label: &'static str,
    /// Column and key of the design.
    pub(crate) path: (&'static str, &'static str),
    pub(crate) kind: Kind,
    /// Groups of words, one of each of which names it.
    pub(crate) words: &'static [&'static [&'static str]],
    /// Whether the chat changes it; tools take all of them.
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

/// Further words of parts of a design, which no message changes.
pub(super) const NEVER: &str = "hover animation animations effect effects spacing size padding margin \
    margins transition transitions css color colour palette palate theme shadow";

/// Words that speak of a design.
pub(super) const DESIGN: &str = "design designs designing layout appearance visual style styles styling \
    button buttons card cards banner background color colors colour colours palette theme radius shadow \
    font fonts gradient solid stroked soft-shadow hard-shadow classic compact imaged social icon icons header";

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
pub(super) const PHRASES: &[(&str, &str)] = &[
    ("title", "props.title"),
    ("heading", "props.title"),
    ("header", "props.title"),
    ("titled", "props.title"),
    ("called", "props.title"),
    ("named", "props.title"),
    ("caption", "props.caption"),
    ("subtitle", "props.caption"),
    ("subheading", "props.caption"),
    ("description", "props.description"),
    ("desc", "props.description"),
    ("content", "props.description"),
    ("text", "props.description"),
    ("body", "props.text"),
    ("link", "link_props.url"),
    ("url", "link_props.url"),
    ("href", "link_props.url"),
    ("website", "link_props.url"),
    ("spacing", "link_props.spacesize"),
    ("alignment", "layout_props.textalignment"),
    ("text alignment", "layout_props.textalignment"),
    ("filter", "layout_props.filter"),
    ("aspect ratio", "layout_props.aspectRatio"),
    ("card type", "layout_props.cardType"),
    ("orientation", "layout_props.orientation"),
    ("layout", "layout"),
    ("template", "layout"),
    ("order", "display_order"),
    ("display order", "display_order"),
    ("position", "display_order"),
    ("blur", "is_blur"),
    ("secure", "is_secured"),
    ("radius", "manual_edits.properties.radius"),
    ("card color", "manual_edits.properties.cardcolor"),
    ("card colour", "manual_edits.properties.cardcolor"),
    ("text color", "manual_edits.properties.textcolor"),
    ("text colour", "manual_edits.properties.textcolor"),
    ("background", "manual_edits.properties.backgroundColor"),
    (
        "background color",
        "manual_edits.properties.backgroundColor",
    ),
    (
        "background colour",
        "manual_edits.properties.backgroundColor",
    ),
    ("font", "manual_edits.properties.font"),
    ("style", "manual_edits.properties.style"),
    ("type", "component_type"),
    ("component type", "component_type"),
    ("id", "componentId"),
    ("client id", "clientId"),
    ("component id", "componentId"),
    ("library id", "library_id"),
];

/// Words that set a field, and to what.
pub(super) const STATES: &[(&str, &str, bool)] = &[
    ("secured", "is_secured", true),
    ("secure", "is_secured", true),
    ("blurred", "is_blur", true),
    ("blur", "is_blur", true),
    ("scheduled", "schedule_enabled", true),
    ("schedule", "schedule_enabled", true),
    ("unsecured", "is_secured", false),
    ("unsecure", "is_secured", false),
    ("unblurred", "is_blur", false),
    ("unblur", "is_blur", false),
    ("unscheduled", "schedule_enabled", false),
    ("unschedule", "schedule_enabled", false),
];

/// Words that a text is not written with unless it stands in quotes: they may begin another request or
/// restrict this one.
pub(super) const TANGLING: &str = "and then or but also plus unless except if instead because when while \
    until before after without provided providing once otherwise not nor only given assuming till whenever \
    though although";

/// Verbs by what they ask for.
pub(super) const CREATE: &str = "add create insert build attach assign grant put";
pub(super) const DELETE: &str = "delete remove erase drop detach revoke unassign discard rid";
pub(super) const SHOW: &str = "show list get view display find fetch see describe tell search";
pub(super) const SET: &str = "set change update edit modify rename adjust alter switch replace turn use \
    move make mark blur secure schedule unblur unsecure unschedule";

/// Words beside those that name something, which a request that a model reads may have.
pub(super) const FILLERS: &str = "a an the my our this that its it of on in to into from for with as at by be is \
    are has have having should please thanks thank you i i'd i'm am want need needs would like me us \
    let's let so give take component components client group security field value id number called named \
    titled title new whose which what";

/// Finds the type of components that a word is for.
pub(crate) fn component_type(word: &str) -> Option<&'static str> {
    let named = TYPES.iter().find(|words| words.contains(&word));
    named.and_then(|words| words.first().copied())
}

/// Finds the field that a phrase or a path names; protected ones too.
pub(super) fn field(phrase: &str) -> Option<&'static str> {
    let phrase = phrase.to_lowercase();
    let joined = phrase.replace(['_', '-', ' '], "");
    let by_phrase = PHRASES
        .iter()
        .find(|(words, _)| words.replace(' ', "") == joined);
    let paths = FIELDS
        .iter()
        .map(|(path, _)| *path)
        .chain(PROTECTED.iter().copied());
    let mut by_path = paths.filter(|path| path.to_lowercase() == phrase);
    by_path.next().or(by_phrase.map(|(_, path)| *path))
}

pub(super) fn kind_of(path: &str) -> Option<Kind> {
    let field = FIELDS.iter().find(|(known, _)| *known == path);
    field.map(|(_, kind)| *kind)
}

pub(super) fn contains_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}
