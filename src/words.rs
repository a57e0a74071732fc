//! Closed sets of words, such as kinds and states: how each is declared.

/// Declares a closed set of words: a type with one variant for each, which is written, read and shown as
/// its word.
macro_rules! closed {
    ($(#[$about:meta])* $name:ident, $noun:literal: $($(#[$meaning:meta])* $variant:ident = $word:literal,)+) => {
        $(#[$about])*
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub(crate) enum $name { $($(#[$meaning])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            pub(crate) const ALL: &'static [$name] = &[$($name::$variant,)+];

            pub(crate) fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
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
                let wanted = text.trim().to_ascii_lowercase();
                let found = $name::ALL.iter().find(|one| one.word() == wanted);
                found.copied().ok_or_else(|| {
                    let all: Vec<_> = $name::ALL.iter().map(|one| one.word()).collect();
                    format!("`{text}` is no {}; use {}", $noun, all.join(", "))
                })
            }
        }
    };
}

pub(crate) use closed;
