//! The dispatch matrix: rows of `skills/manifest.json`, then the fields of skills.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::score::normalize;
use crate::skill::Skill;

/// `skills/manifest.json`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Manifest {
    /// Skills in catalogue order.
    #[serde(default)]
    pub(crate) skills: Vec<Listed>,
    #[serde(default)]
    pub(crate) dispatch_matrix: Matrix<Written>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Listed {
    pub(crate) name: String,
    /// `inactive` switches it off.
    #[serde(default)]
    pub(crate) status: Option<String>,
}

impl Listed {
    pub(crate) fn is_off(&self) -> bool {
        let status = self.status.as_deref().unwrap_or_default();
        status.trim().eq_ignore_ascii_case("inactive")
    }
}

/// Keywords separated by `|` to skill; the order of the rows counts.
type Written = IndexMap<String, String>;
/// Normalized keywords to skill.
pub(super) type Rows = Vec<(Vec<String>, String)>;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Matrix<R = Rows> {
    /// Task type to skill.
    pub(crate) by_task_type: IndexMap<String, String>,
    pub(crate) by_keyword: R,
    /// Keywords that count at the beginning of a title, `ship+log` for a verb and its object.
    pub(super) by_lead: R,
    /// Keywords that count anywhere in a title whose verb says nothing, such as `add`; `release+note` for a word and
    /// what the verb is done to, `+guide` for the latter alone.
    pub(super) by_object: R,
    /// Keywords that count anywhere in a title, and not in a description.
    pub(super) by_symptom: R,
}

impl Matrix {
    /// Builds the matrix from the manifest. Skills without a row add their own types and keywords after it,
    /// so that a project's skill needs no manifest.
    pub(crate) fn new(manifest: &Manifest, skills: &[Skill]) -> Matrix {
        let rows = &manifest.dispatch_matrix;
        let mut by_task_type = normalize_rows(&rows.by_task_type);
        let mut by_keyword = normalize_rows(&rows.by_keyword);
        for skill in skills {
            for kind in &skill.types {
                let kind = by_task_type.entry(normalize(kind));
                kind.or_insert_with(|| skill.name.clone());
            }
            if !by_keyword.values().any(|name| *name == skill.name) {
                let keys = normalize(&skill.keywords.join("|"));
                let row = by_keyword.entry(keys);
                row.or_insert_with(|| skill.name.clone());
            }
        }
        Matrix {
            by_task_type,
            by_keyword: split_keys(by_keyword),
            by_lead: split_keys(normalize_rows(&rows.by_lead)),
            by_object: split_keys(normalize_rows(&rows.by_object)),
            by_symptom: split_keys(normalize_rows(&rows.by_symptom)),
        }
    }
}

fn normalize_rows(rows: &Written) -> Written {
    let mut normalized = Written::new();
    for (keys, skill) in rows {
        let row = normalized.entry(normalize(keys.trim()));
        row.or_insert_with(|| skill.clone());
    }
    normalized
}

fn split_keys(rows: Written) -> Rows {
    let rows = rows.into_iter().map(|(keys, skill)| {
        let keys = keys.split('|').map(str::trim).filter(|key| !key.is_empty());
        (keys.map(str::to_string).collect(), skill)
    });
    rows.collect()
}
