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
    pub(crate) dispatch_matrix: Matrix,
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
pub(super) type Rows = IndexMap<String, String>;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Matrix {
    /// Task type to skill.
    pub(crate) by_task_type: Rows,
    pub(crate) by_keyword: Rows,
    /// Keywords that count at the beginning of a title, `ship+log` for a verb and its object.
    pub(super) by_lead: Rows,
    /// Keywords that count anywhere in a title whose verb says nothing, such as `add`.
    pub(super) by_object: Rows,
    /// Keywords that count anywhere in a title, and not in a description.
    pub(super) by_symptom: Rows,
}

/// Splits the keywords of a row.
pub(super) fn split(keys: &str) -> impl Iterator<Item = &str> {
    keys.split('|').map(str::trim).filter(|key| !key.is_empty())
}

impl Matrix {
    /// Builds the matrix from the manifest. Skills without a row add their own types and keywords after it,
    /// so that a project's skill needs no manifest.
    pub(crate) fn new(manifest: &Manifest, skills: &[Skill]) -> Matrix {
        let mut matrix = manifest.dispatch_matrix.clone();
        for rows in [
            &mut matrix.by_task_type,
            &mut matrix.by_keyword,
            &mut matrix.by_lead,
            &mut matrix.by_object,
            &mut matrix.by_symptom,
        ] {
            for (keys, skill) in std::mem::take(rows) {
                rows.entry(normalize(keys.trim())).or_insert(skill);
            }
        }
        for skill in skills {
            for kind in &skill.types {
                let kind = matrix.by_task_type.entry(normalize(kind));
                kind.or_insert_with(|| skill.name.clone());
            }
            if !matrix.by_keyword.values().any(|name| *name == skill.name) {
                let keys = normalize(&skill.keywords.join("|"));
                let row = matrix.by_keyword.entry(keys);
                row.or_insert_with(|| skill.name.clone());
            }
        }
        matrix
    }

    /// Lists the keywords of a skill without effect, because rows of the manifest replace them.
    pub(crate) fn list_shadowed<'a>(&self, skill: &'a Skill) -> Vec<&'a str> {
        let is_heard = |word: &str| {
            let word = normalize(word.trim());
            let mut rows = self.by_keyword.keys();
            rows.any(|keys| split(keys).any(|key| key == word))
        };
        let words = skill.keywords.iter().map(String::as_str);
        words.filter(|word| !is_heard(word)).collect()
    }
}
