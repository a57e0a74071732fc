//! The words of the chat, as tables: the fields of a design and of a component with what they can be and
//! what people call them, and the types of components. Notes on the chat specification, section 2.5.

use super::value::Kind::{self, Address, Color, Flag, Moment, Name, Number, Protected, Text};

const BACKGROUNDS: Kind =
    Kind::Options(&["none", "solid", "gradient", "image", "video", "dualcolor"]);
const CARD_STYLES: Kind = Kind::Options(&["solid", "stroked", "soft-shadow", "hard-shadow"]);
const LAYOUTS: Kind = Kind::Options(&["classic", "compact", "banner", "imaged"]);
const GRADIENTS: Kind = Kind::Options(&["linear", "radial", "conic"]);
const RADII: Kind = Kind::Options(&["no-radius", "small", "medium", "full"]);
const ALIGNMENTS: Kind = Kind::Options(&["left", "center", "right", "justify"]);
const FILTERS: Kind = Kind::Options(&["none", "grayscale", "sepia", "blur"]);
const ORIENTATIONS: Kind = Kind::Options(&["horizontal", "vertical", "portrait", "landscape"]);
const RATIOS: Kind = Kind::Options(&["1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "21:9"]);
const SPACES: Kind = Kind::Options(&["none", "small", "medium", "large"]);
const STYLES: Kind = Kind::Options(&["solid", "stroked", "soft-shadow"]);

#[derive(Debug)]
pub(crate) struct Field {
    /// The key under which tools take it.
    pub(crate) key: &'static str,
    /// Column and keys in its record, with dots between.
    pub(crate) path: &'static str,
    /// Its names, with `|` between; the first is its label.
    names: &'static str,
    pub(crate) kind: Kind,
}

impl Field {
    pub(crate) fn label(&self) -> &'static str {
        self.list_names().next().unwrap_or(self.key)
    }

    pub(super) fn list_names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split('|')
    }

    pub(super) fn all_names(&self) -> impl Iterator<Item = &'static str> {
        self.list_names().chain([self.key, self.path])
    }
}

/// Rows of key, path, names and kind; the key of a component's field is its path.
macro_rules! fields {
    ($($path:literal, $names:literal, $kind:ident;)+) => {
        fields! { $($path, $path, $names, $kind;)+ }
    };
    ($($key:literal, $path:literal, $names:literal, $kind:ident;)+) => {
        &[$(Field {
            key: $key,
            path: $path,
            names: $names,
            kind: $kind,
        },)+]
    };
}

/// The fields of a design. The last word of a label names all offered fields that end in it.
pub(crate) static DESIGN: &[Field] = fields! {
    "layout", "header_design.Layout", "layout", LAYOUTS;
    "social_icon_style", "header_design.social-icon-style", "social icon style|social icon", STYLES;
    "desktop_background_type", "desktop_background.type", "desktop background", BACKGROUNDS;
    "page_background", "page_props.background", "page background", BACKGROUNDS;
    "appearance_background", "appearance.background", "appearance background", BACKGROUNDS;
    "card_style", "card_design.style", "card style", CARD_STYLES;
    "card_radius", "card_design.radius", "card radius", RADII;
    "button_style", "button_design.style", "button style", STYLES;
    "button_radius", "button_design.radius", "button radius", RADII;
    "link_text_color", "link_block.text", "link text color", Color;
    "link_background_color", "link_block.background", "link background color", Color;
    "card_text_color", "card_block.text", "card text color", Color;
    "card_background_color", "card_block.background", "card background color", Color;
    "card_button_color", "card_block.button", "card button color", Color;
    "desktop_background_gradient", "desktop_background.gradient_type",
        "desktop background gradient", GRADIENTS;
    "title_font", "text_props.titles", "title font", Name;
    "subtitle_font", "text_props.subtitles", "subtitle font", Name;
    "page_filter", "page_props.filter", "page filter", Text;
    "page_animation", "page_props.animation", "page animation", Text;
    "appearance_video", "appearance.video", "appearance video", Text;
    "appearance_image", "appearance.image", "appearance image", Text;
    "appearance_media", "appearance.media", "appearance media", Text;
};

pub(crate) static COMPONENT: &[Field] = fields! {
    "component_type", "type|component type", Protected;
    "componentId", "id|component id", Protected;
    "clientId", "client id", Protected;
    "library_id", "library id", Protected;
    "props.title", "title|heading|header", Text;
    "props.caption", "caption|subtitle|subheading", Text;
    "props.subtitle", "props.subtitle", Text;
    "props.description", "description|desc|content|text", Text;
    "props.text", "body", Text;
    "link_props.url", "url|link|href|website", Address;
    "link_props.link", "link_props.link", Address;
    "link_props.href", "link_props.href", Address;
    "link_props.spacesize", "spacing", SPACES;
    "link_props.spacing", "link_props.spacing", SPACES;
    "layout_props.textalignment", "alignment|text alignment", ALIGNMENTS;
    "layout_props.alignment", "layout_props.alignment", ALIGNMENTS;
    "layout_props.filter", "filter", FILTERS;
    "layout_props.aspectRatio", "aspect ratio", RATIOS;
    "layout_props.cardType", "card type", LAYOUTS;
    "layout_props.orientation", "orientation", ORIENTATIONS;
    "manual_edits.properties.style", "style", CARD_STYLES;
    "manual_edits.properties.radius", "radius", RADII;
    "manual_edits.properties.cardcolor", "card color", Color;
    "manual_edits.properties.font", "font", Text;
    "manual_edits.properties.textcolor", "text color", Color;
    "manual_edits.properties.backgroundColor", "background|background color", Color;
    "sawall", "sawall", Flag;
    "sawall_content", "sawall content", Text;
    "layout", "layout|template", LAYOUTS;
    "schedule_enabled", "schedule enabled", Flag;
    "schedule_start", "schedule start", Moment;
    "schedule_end", "schedule end", Moment;
    "manual_edit", "manual edit", Flag;
    "is_blur", "blur|is blur", Flag;
    "is_secured", "secure|is secured", Flag;
    "display_order", "order|display order|position", Number;
};

/// Types of components; the first word is stored.
const TYPES: &[&str] = &[
    "cards|card",
    "buttons|button",
    "texts|text",
    "images|image",
    "headers|header",
    "footers|footer",
    "banner|banners",
    "link|links",
];

patterns! {
    /// Words that speak of a design.
    ABOUT_DESIGN =
        r"(?i)\b(?:design(?:s|ing)?|layout|appearance|visual|styl(?:es?|ing)|(?:button|card|colou?r|font|icon)s?|banner|background|palette|theme|radius|shadow|gradient|solid|stroked|(?:soft|hard)-shadow|classic|compact|imaged|social|header|page)\b";
}

pub(crate) fn contains_word(list: &str, word: &str) -> bool {
    list.split('|').any(|one| one == word)
}

pub(crate) fn types() -> impl Iterator<Item = &'static str> {
    TYPES.iter().filter_map(|words| words.split('|').next())
}

pub(crate) fn component_type(word: &str) -> Option<&'static str> {
    let mut all = TYPES.iter().zip(types());
    all.find_map(|(words, kind)| contains_word(words, word).then_some(kind))
}

/// Returns the field and the value that a word such as `blurred` or `unblur` means.
pub(super) fn parse_flag_word(word: &str) -> Option<(&'static str, bool)> {
    let bare = word.strip_prefix("un").unwrap_or(word);
    let verb = |field: &Field| field.label().split(' ').next();
    let mut flags = COMPONENT.iter().filter(|field| matches!(field.kind, Flag));
    let field = flags.find(|field| verb(field).is_some_and(|verb| bare.starts_with(verb)))?;
    Some((field.key, bare == word))
}

/// Whether two names are one: in any letter case, without blanks and marks, `colour` as `color`, and plurals.
fn is_same(one: &str, other: &str) -> bool {
    let normal = |name: &str| -> String {
        let name = name.to_lowercase().replace("colour", "color");
        let words = name.split([' ', '_', '-', '.', '\t', '\n']);
        let words = words.map(|word| word.strip_suffix('s').unwrap_or(word));
        words.collect()
    };
    normal(one) == normal(other)
}

/// Finds a field by its key, its path or what people call it, in any spelling; protected ones too.
pub(crate) fn find_field(fields: &'static [Field], name: &str) -> Option<&'static Field> {
    let mut fields = fields.iter();
    fields.find(|field| field.all_names().any(|other| is_same(other, name)))
}

/// Returns the fields of a design that are offered: free text is accepted, but not offered.
pub(crate) fn list_offered() -> impl Iterator<Item = &'static Field> {
    DESIGN.iter().filter(|field| !matches!(field.kind, Text))
}

/// Finds the fields of a design that people call so: the one of that name, or all that end in that word.
pub(crate) fn find_element_fields(name: &str) -> Vec<&'static Field> {
    let ends_so = |field: &&Field| {
        let last = field.label().rsplit(' ').next();
        last.is_some_and(|last| is_same(last, name))
    };
    match find_field(DESIGN, name).filter(|it| !matches!(it.kind, Text)) {
        Some(one) => vec![one],
        None => list_offered().filter(ends_so).collect(),
    }
}

/// Whether a message speaks of a design rather than of components.
pub(crate) fn is_about_design(message: &str) -> bool {
    let message = message.to_lowercase().replace('_', " ");
    !message.contains("component") && ABOUT_DESIGN.is_match(&message)
}

pub(super) fn type_names() -> String {
    format!("(?:{})", TYPES.join("|"))
}

/// Returns a pattern for what people call fields, and their keys.
pub(super) fn list_names(fields: &[Field]) -> String {
    let escape = |name: &str| regex::escape(&name.to_lowercase()).replace([' ', '_'], r"[\s_-]?");
    let names = fields.iter().flat_map(Field::all_names);
    let mut all: Vec<String> = names.map(escape).collect();
    all.sort_by_key(|name| std::cmp::Reverse(name.len()));
    format!("(?:{})", all.join("|").replace("color", "colou?r"))
}
