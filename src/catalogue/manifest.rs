//! `skills/manifest.json`: the project's if it can be used, else the program's own. One bad file
//! of the project never stops work that has nothing to do with it.

use std::borrow::Cow;

use serde_json::Value;

use super::{Places, embedded_text, read_text};
use crate::dispatch::matrix::Manifest;
use crate::error::{Code, Error, Result};
use crate::skill::{Skill, find};

const OWN: &str = "skills/manifest.json";

/// The manifest that counts.
pub(super) struct Chosen {
    pub(super) manifest: Manifest,
    pub(super) text: Cow<'static, str>,
    /// Its file as it is shown, when it is not the program's own.
    path: Option<String>,
}

/// Reads the first manifest of the places; one that cannot be used is named in `warnings`.
pub(super) fn read(places: &Places, warnings: &mut Vec<String>) -> Result<Chosen> {
    let mut files = places.shared_folders().into_iter();
    let file = files.find_map(|folder| Some(folder.join("manifest.json")).filter(|it| it.exists()));
    if let Some(file) = file {
        let shown = places.shown(&file);
        let text = read_text(&file).map_err(|error| error.message);
        match text.and_then(|text| Ok((parse(&text, &shown)?, text))) {
            Ok((manifest, text)) => {
                let (text, path) = (text.into(), Some(shown));
                return Ok(Chosen {
                    manifest,
                    text,
                    path,
                });
            }
            Err(fault) => warnings.push(format!("{fault}; the built-in manifest counts instead")),
        }
    }
    own()
}

/// Reads the manifest that the program carries.
pub(super) fn own() -> Result<Chosen> {
    let text = embedded_text(OWN)?;
    let manifest = parse(&text, OWN).map_err(|fault| Error::new(Code::Internal, fault))?;
    let path = None;
    Ok(Chosen {
        manifest,
        text,
        path,
    })
}

fn parse(text: &str, path: &str) -> std::result::Result<Manifest, String> {
    let text = text.trim_start_matches('\u{feff}');
    let fault = |cause: serde_json::Error| {
        let what = cause.to_string();
        // The place stands before the file's name already.
        let what = what.split(" at line ").next().unwrap_or_default();
        format!("{path}:{}:{}: {what}", cause.line(), cause.column())
    };
    let value: Value = serde_json::from_str(text).map_err(fault)?;
    let keys = ["skills", "dispatch_matrix"];
    if !keys.iter().any(|key| value.get(key).is_some()) {
        return Err(format!(
            "{path}:1:1: it has neither skills nor a dispatch_matrix"
        ));
    }
    serde_json::from_str(text).map_err(fault)
}

impl Chosen {
    /// Names what the project's manifest says and cleo cannot follow.
    pub(super) fn warn(&self, skills: &[Skill], warnings: &mut Vec<String>) {
        let Some(path) = &self.path else { return };
        let rows = &self.manifest.dispatch_matrix;
        for (row, skill) in rows.by_task_type.iter().chain(&rows.by_keyword) {
            if find(skills, skill).is_none() {
                let what =
                    format!("the row `{row}` leads to `{skill}`, which is no skill in reach");
                warnings.push(format!("{path}: {what}"));
            }
        }
        for listed in &self.manifest.skills {
            if let Some(status) = listed.unknown_status() {
                let what = format!("the status `{status}` of {} is unknown", listed.name);
                warnings.push(format!("{path}: {what}; it counts as active"));
            }
        }
    }
}
