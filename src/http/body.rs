//! A body as it is read: an object is never taken from a list (serde would read the fields of one in their
//! order, however deep it stands), no field stands twice, and a field that nobody reads is told with the one
//! that is most like it.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Visitor,
};
use serde_json::{Value, map};

use crate::document::{self, kind_of};
use crate::error::{Code, Error, Result, nearest};

/// Longest name of a field that is told, in characters.
const NAME_MAX: usize = 60;

pub(super) fn json(bytes: &[u8]) -> Result<Value> {
    let text = std::str::from_utf8(bytes).map_err(|_| refused(&"it is no UTF-8"))?;
    document::json(text, usize::MAX).map_err(|fault| refused(&fault))
}

pub(super) fn object(bytes: &[u8]) -> Result<Value> {
    match json(bytes)? {
        object @ Value::Object(_) => Ok(object),
        other => {
            let message = format!("the body must be an object; it is {}", kind_of(&other));
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T> {
    T::deserialize(Strict(value)).map_err(|fault| match fault.path.is_empty() {
        true => refused(&fault.what),
        false => Error::new(
            Code::InputInvalid,
            format!("{}: {}", fault.path, fault.what),
        ),
    })
}

fn refused(what: &dyn fmt::Display) -> Error {
    let message = format!("the body is not what is read here: {what}");
    Error::new(Code::InputInvalid, message)
}

/// Leaves out the fields that are null, which say as much as those that are left out, and those that only
/// the server says.
pub(super) fn filled(value: Value, own: &[&str]) -> Value {
    match value {
        Value::Object(mut fields) => {
            fields.retain(|name, value| !value.is_null() && !is_among(name, own));
            Value::Object(fields)
        }
        value => value,
    }
}

/// Returns whether a field is one of those that are named, however it is spelled: `created_at` is `createdAt`.
pub(super) fn is_among(field: &str, names: &[&str]) -> bool {
    let plain = field.replace('_', "");
    names.iter().any(|name| name.eq_ignore_ascii_case(&plain))
}

pub(super) fn unread(field: &str, known: &[&str]) -> String {
    let short: String = field.chars().take(NAME_MAX).collect();
    match nearest(field, known.iter().copied()) {
        Some(near) => format!("there is no field `{short}`; `{near}` is the nearest"),
        None if known.is_empty() => {
            format!("there is no field `{short}`; no fields are taken here")
        }
        None => format!(
            "there is no field `{short}`; there are {}",
            known.join(", ")
        ),
    }
}

/// What is wrong with a value, and the path to it, such as `all[0].size`.
#[derive(Debug)]
struct Fault {
    path: String,
    what: String,
}

impl Fault {
    fn in_field(mut self, name: &str) -> Fault {
        let separator = match self.path.is_empty() || self.path.starts_with('[') {
            true => "",
            false => ".",
        };
        self.path.insert_str(0, &format!("{name}{separator}"));
        self
    }

    fn in_item(self, index: usize) -> Fault {
        self.in_field(&format!("[{index}]"))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.what)
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(what: T) -> Fault {
        Fault {
            path: String::new(),
            what: what.to_string(),
        }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Fault {
        Fault::custom(unread(field, expected))
    }
}

/// The fields of an object that were not read yet.
struct Fields {
    rest: map::IntoIter,
    current: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> std::result::Result<Option<K::Value>, Fault> {
        self.current = self.rest.next();
        let name = self.current.as_ref().map(|(name, _)| name.as_str());
        name.map(|name| seed.deserialize(name.into_deserializer()))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> std::result::Result<V::Value, Fault> {
        let (name, value) = self.current.take().unwrap_or_default();
        seed.deserialize(Strict(value))
            .map_err(|fault| fault.in_field(&name))
    }
}

/// The items of a list that were not read yet.
struct Items(std::iter::Enumerate<std::vec::IntoIter<Value>>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> std::result::Result<Option<T::Value>, Fault> {
        let item = self.0.next();
        item.map(|(n, item)| {
            seed.deserialize(Strict(item))
                .map_err(|fault| fault.in_item(n))
        })
        .transpose()
    }
}

/// A value whose objects are never read from lists.
struct Strict(Value);

impl<'de> Deserializer<'de> for Strict {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> std::result::Result<V::Value, Fault> {
        match self.0 {
            Value::Array(items) => {
                let mut items = Items(items.into_iter().enumerate());
                let read = visitor.visit_seq(&mut items)?;
                match items.0.next() {
                    None => Ok(read),
                    Some((n, _)) => Err(Fault::custom(format!("there are more than {n} items"))),
                }
            }
            Value::Object(fields) => visitor.visit_map(Fields {
                rest: fields.into_iter(),
                current: None,
            }),
            plain => plain.deserialize_any(visitor).map_err(Fault::custom),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> std::result::Result<V::Value, Fault> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> std::result::Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> std::result::Result<V::Value, Fault> {
        match &self.0 {
            Value::Object(_) => self.deserialize_any(visitor),
            other => {
                let told = format!("invalid type: {}, expected an object", kind_of(other));
                Err(Fault::custom(told))
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> std::result::Result<V::Value, Fault> {
        let read = self.0.deserialize_enum(name, variants, visitor);
        read.map_err(Fault::custom)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        inner: Option<Inner>,
        #[serde(default)]
        all: Vec<Inner>,
        #[serde(alias = "title")]
        name: Option<String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        size: u8,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Empty {}

    #[test]
    fn an_object_is_read_from_no_list_however_deep_it_stands() {
        let told = read::<Outer>(json!({"inner": {"size": 1}, "all": [{"size": 2}]})).unwrap();
        let sizes = (told.inner, told.all);
        assert_eq!(sizes, (Some(Inner { size: 1 }), vec![Inner { size: 2 }]));
        for (body, fault) in [
            (json!([]), "a list, expected an object"),
            (json!("x"), "a text, expected an object"),
            (
                json!({"inner": [1]}),
                "inner: invalid type: a list, expected an object",
            ),
            (
                json!({"all": [[2]]}),
                "all[0]: invalid type: a list, expected an object",
            ),
            (json!({"all": {}}), "all: invalid type: map"),
            (json!({"inner": {"size": 256}}), "inner.size: invalid value"),
        ] {
            let told = read::<Outer>(body).unwrap_err().message;
            assert!(told.contains(fault), "{told}");
        }
    }

    #[test]
    fn a_field_that_nobody_reads_is_told_with_the_nearest() {
        let told = read::<Outer>(json!({"innner": {}})).unwrap_err().message;
        assert!(told.contains("`innner`; `inner` is the nearest"), "{told}");
        let told = read::<Outer>(json!({"qqq": 1})).unwrap_err().message;
        assert!(told.contains("there are inner, all"), "{told}");
        let told = read::<Empty>(json!({"qqq": 1})).unwrap_err().message;
        assert!(
            told.contains("no field `qqq`; no fields are taken here"),
            "{told}"
        );
        assert!(read::<Empty>(json!({})).is_ok());
    }

    #[test]
    fn a_field_stands_once_and_null_is_none() {
        let told = json(b"{\"inner\":{\"size\":1,\"size\":2}}").unwrap_err();
        assert!(told.message.contains("`size` is there twice"), "{told}");
        assert!(json(&[0xff]).is_err());
        assert!(json(b"{} {}").is_err());
        let named = json!({"name": null, "title": "x"});
        assert!(read::<Outer>(named.clone()).is_err());
        let told = read::<Outer>(filled(named, &[])).unwrap();
        assert_eq!(told.name.as_deref(), Some("x"));
        let whole = json!({"id": "of the server", "title": "x"});
        assert!(read::<Outer>(whole.clone()).is_err());
        assert!(read::<Outer>(filled(whole, &["id"])).is_ok());
    }
}
