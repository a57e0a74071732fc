//! Entries that are appended to the manifest as they were sent: fields keep their order, numbers their digits.

use super::call::Call;
use super::extract::Json;
use super::route::Route;
use super::work::Warned;
use crate::error::{Code, Error, Result};
use crate::manifest::Entry;
use crate::ops::manifest::{self, Appended};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/manifest", append)
            .about("Appends an entry to the manifest; every fault of it is named")
            .tag("manifest")
            .takes::<Entry>(),
    ]
}

fn append(call: &Call) -> Result<Json<Warned<Appended>, 201>> {
    let _: serde::de::IgnoredAny = call.body()?;
    let text = std::str::from_utf8(&call.body)
        .map_err(|cause| Error::new(Code::InputInvalid, "the body is no UTF-8").because(cause))?;
    let context = &mut *call.context("manifest.append")?;
    let result = manifest::append(context, text, None, false)?;
    let warnings = std::mem::take(&mut context.notes.warnings);
    Ok(Json(Warned { result, warnings }))
}
