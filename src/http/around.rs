//! What is around tasks: entries to append, and whether everything is in order.

use super::call::Call;
use super::extract::Json;
use super::route::Route;
use super::work::Warned;
use crate::error::{Code, Error, Result};
use crate::manifest::Entry;
use crate::ops::Notes;
use crate::ops::doctor::{self, Examined, Patient};
use crate::ops::manifest::{self, Appended};
use crate::ops::tokens::Scope;
use crate::ops::workers::{self, Checked, Checking};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/manifest", append)
            .about("Appends an entry to the manifest; every fault of it is named")
            .tag("manifest")
            .takes::<Entry>(),
        Route::get("/api/doctor", examined)
            .about("Looks whether everything is in order")
            .tag("server")
            .scope(Scope::Admin),
        Route::get("/api/workers/check", checked)
            .about("Asks all workers whether they are there")
            .tag("agents")
            .scope(Scope::Admin)
            .asks(|_| true),
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

fn examined(call: &Call) -> Result<Json<Examined>> {
    let patient = Patient {
        surroundings: call.surroundings("doctor"),
        settings: Ok(call.server.settings.clone()),
        variable: |name| std::env::var_os(name),
        path: std::env::var_os("PATH").unwrap_or_default(),
    };
    Ok(Json(doctor::examine(patient, &mut Notes::default())))
}

fn checked(call: &Call) -> Result<Json<Checked>> {
    let surroundings = call.surroundings("agents.check");
    let (notes, all) = (&mut Notes::default(), Checking::default());
    workers::check(&surroundings, notes, all).map(Json)
}
