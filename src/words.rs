//! Words: how closed sets of them are declared, and how JSON spells one.

use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// Reads a word of JSON as one that is typed, but without spaces around it.
pub(crate) fn deserialize_word<'de, D: Deserializer<'de>, T: FromStr<Err = String>>(
    from: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    let word = match text.trim() == text {
        true => text.parse(),
        false => Err(format!("`{text}` has spaces around it")),
    };
    word.map_err(serde::de::Error::custom)
}

/// Declares a closed set of words, in the order in which they are listed: a type with one variant for each, which is
/// written and shown as its word. Aliases are read too, and texts that people type in any letter case.
macro_rules! closed {
    (
        $(#[$about:meta])* $name:ident, $noun:literal:
        $($(#[$meaning:meta])* $variant:ident = $word:literal $(| $alias:literal)*,)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema)]
        #[schemars(extend("x-aliases" = [$($($alias,)*)+]))]
        pub(crate) enum $name { $($(#[$meaning])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            pub(crate) const ALL: &'static [$name] = &[$($name::$variant,)+];

            pub(crate) fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            fn refuse(text: &str) -> String {
                let all: Vec<_> = $name::ALL.iter().map(|one| one.word()).collect();
                format!("`{text}` is not a valid {}; use one of {}", $noun, all.join(", "))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> std::result::Result<$name, String> {
                // Rows of the database hold the word itself.
                if let Some(word) = $name::ALL.iter().find(|one| one.word() == text) {
                    return Ok(*word);
                }
                let wanted = text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
                match wanted.as_str() {
                    $($word $(| $alias)* => Ok($name::$variant),)+
                    _ => Err($name::refuse(text)),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<$name, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                match text.as_str() {
                    $($word $(| $alias)* => Ok($name::$variant),)+
                    _ => Err(serde::de::Error::custom($name::refuse(&text))),
                }
            }
        }
    };
}

pub(crate) use closed;
