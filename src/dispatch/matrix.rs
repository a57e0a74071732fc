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
    pub(crate) dispatch_matrix: Rows,
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

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Rows {
    /// Task type to skill.
    #[serde(default)]
    pub(crate) by_task_type: IndexMap<String, String>,
    /// Keywords separated by `|` to skill; the order of the rows counts.
    #[serde(default)]
    pub(crate) by_keyword: IndexMap<String, String>,
    /// Keywords that count at the beginning of a title, `ship+log` for a verb and its object.
    #[serde(default)]
    pub(crate) by_lead: IndexMap<String, String>,
    /// Keywords that count anywhere in a title whose verb says nothing, such as `add`.
    #[serde(default)]
    pub(crate) by_object: IndexMap<String, String>,
    /// Keywords that count anywhere in a title, and not in a description.
    #[serde(default)]
    pub(crate) by_symptom: IndexMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) keywords: Vec<String>,
    pub(crate) skill: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Matrix {
    pub(super) types: IndexMap<String, String>,
    rows: Vec<Row>,
    pub(super) leads: Vec<Row>,
    pub(super) objects: Vec<Row>,
    pub(super) symptoms: Vec<Row>,
}

impl Row {
    fn new<'a>(keywords: impl Iterator<Item = &'a str>, skill: &str) -> Row {
        let keywords = keywords.map(|word| normalize(word.trim()));
        Row {
            keywords: keywords.filter(|word| !word.is_empty()).collect(),
            skill: skill.to_string(),
        }
    }

    fn read_all(rows: &IndexMap<String, String>) -> Vec<Row> {
        let rows = rows
            .iter()
            .map(|(keywords, skill)| Row::new(keywords.split('|'), skill));
        rows.filter(|row| !row.keywords.is_empty()).collect()
    }
}

impl Matrix {
    /// Builds the matrix from the manifest. Skills without a row add their own types and keywords after it,
    /// so that a project's skill needs no manifest.
    pub(crate) fn new(manifest: &Manifest, skills: &[Skill]) -> Matrix {
        let rows = &manifest.dispatch_matrix;
        let mut matrix = Matrix {
            rows: Row::read_all(&rows.by_keyword),
            leads: Row::read_all(&rows.by_lead),
            objects: Row::read_all(&rows.by_object),
            symptoms: Row::read_all(&rows.by_symptom),
            ..Matrix::default()
        };
        for (kind, skill) in &rows.by_task_type {
            matrix.types.insert(normalize(kind.trim()), skill.clone());
        }
        for skill in skills {
            for kind in &skill.types {
                let kind = matrix.types.entry(normalize(kind));
                kind.or_insert_with(|| skill.name.clone());
            }
            if !matrix.rows.iter().any(|row| row.skill == skill.name) {
                let row = Row::new(skill.keywords.iter().map(String::as_str), &skill.name);
                matrix
                    .rows
                    .extend((!row.keywords.is_empty()).then_some(row));
            }
        }
        matrix
    }

    /// Lists the keywords of a skill without effect, because rows of the manifest replace them.
    pub(crate) fn list_shadowed<'a>(&self, skill: &'a Skill) -> Vec<&'a str> {
        let is_heard = |word: &str| {
            let word = normalize(word.trim());
            self.rows.iter().any(|row| row.keywords.contains(&word))
        };
        let words = skill.keywords.iter().map(String::as_str);
        words.filter(|word| !is_heard(word)).collect()
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }
}
