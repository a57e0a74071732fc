//! Reads JSON bodies strictly: duplicate and unknown fields are errors, the latter with the nearest
//! known field.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::document::{self, kind_of};
use crate::error::{Code, Error, Result};
use crate::strict;

pub(super) fn json(bytes: &[u8]) -> Result<Value> {
    let text = std::str::from_utf8(bytes).map_err(|_| refuse_body(&"it is not UTF-8"))?;
    document::json(text, usize::MAX).map_err(|fault| refuse_body(&fault))
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
    strict::read(value).map_err(|fault| match fault.path.is_empty() {
        true => refuse_body(&fault),
        false => Error::new(Code::InputInvalid, fault.to_string()),
    })
}

fn refuse_body(what: &dyn fmt::Display) -> Error {
    error!(InputInvalid, "invalid body: {what}")
}

/// Removes null fields, which count as missing.
pub(super) fn drop_nulls(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    value
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
    fn object_is_read_from_no_list_however_deep_it_stands() {
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
    fn field_that_nobody_reads_is_told_with_nearest() {
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
    fn field_stands_once_and_null_is_none() {
        let told = json(b"{\"inner\":{\"size\":1,\"size\":2}}").unwrap_err();
        assert!(told.message.contains("duplicate field `size`"), "{told}");
        assert!(json(&[0xff]).is_err());
        assert!(json(b"{} {}").is_err());
        let named = json!({"name": null, "title": "x"});
        assert!(read::<Outer>(named.clone()).is_err());
        let told = read::<Outer>(drop_nulls(named)).unwrap();
        assert_eq!(told.name.as_deref(), Some("x"));
    }
}
