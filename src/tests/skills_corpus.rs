//! Holds the verdicts of `skill::validate` equal to those of the reference validator, PyPI
//! `skills-ref` 0.1.1, but for the cases of `differing.json`, each with its reason. Each case is
//! `tests/data/skills-corpus/<case>/<directory>/SKILL.md`; `verdicts.json` was written by the
//! reference, never by hand. To add a case, add the file and run the tests with
//! `CLEO_AGENTSKILLS=<program> CLEO_ACCEPT=1`.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::skill::front_matter::{FILE_LIMIT, FRONT_MATTER_LIMIT, parse};
use crate::skill::validate::{validate, validate_bytes};
use proptest::prelude::*;

const VALID: &str = "valid";
const INVALID: &str = "invalid";

type Verdicts = BTreeMap<String, String>;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/skills-corpus")
}

/// The name and the skill directory of every case.
fn cases() -> BTreeMap<String, PathBuf> {
    let directories = |path: &Path| {
        let entries = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let case = |path: PathBuf| {
        let skills = directories(&path);
        assert_eq!(
            skills.len(),
            1,
            "{} must hold one directory",
            path.display()
        );
        (file_name(&path).to_owned(), skills[0].clone())
    };
    directories(&corpus()).into_iter().map(case).collect()
}

fn file_name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn load_recorded() -> Verdicts {
    let text = fs::read_to_string(corpus().join("verdicts.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The cases that the two judge differently, with the reason of each.
fn differing() -> BTreeMap<String, String> {
    let text = fs::read_to_string(corpus().join("differing.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn verdict(valid: bool) -> String {
    if valid { VALID } else { INVALID }.to_owned()
}

fn our_verdict(skill: &Path) -> String {
    let path = ["SKILL.md", "skill.md"].map(|name| skill.join(name));
    let bytes = fs::read(path.iter().find(|path| path.exists()).unwrap()).unwrap();
    verdict(validate_bytes(file_name(skill), &bytes).is_empty())
}

fn our_verdicts() -> Verdicts {
    cases()
        .into_iter()
        .map(|(case, skill)| (case, our_verdict(&skill)))
        .collect()
}

/// Fails with a list of all cases whose verdicts differ without a reason, or have a reason and do
/// not differ.
fn assert_same(ours: &Verdicts, theirs: &Verdicts) {
    let reasons = differing();
    let names = ours.keys().chain(theirs.keys()).collect::<BTreeSet<_>>();
    let wrong = names.into_iter().filter(|name| {
        let differs = ours.get(*name) != theirs.get(*name);
        differs != reasons.contains_key(*name)
    });
    let line = |name: &String| {
        let (ours, theirs) = (ours.get(name), theirs.get(name));
        format!("{name}: ours {ours:?}, theirs {theirs:?}")
    };
    let lines: Vec<_> = wrong.map(line).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn few_verdicts_differ_and_each_has_reason() {
    let reasons = differing();
    let recorded = load_recorded();
    assert!(reasons.len() <= 20, "{} cases differ", reasons.len());
    for (case, reason) in reasons {
        assert!(recorded.contains_key(&case), "there is no case {case}");
        assert!(reason.ends_with('.'), "{case} has no reason");
    }
}

#[test]
fn our_verdicts_equal_recorded_ones() {
    let ours = our_verdicts();
    assert!(ours.len() >= 60, "the corpus has only {} cases", ours.len());
    assert_same(&ours, &load_recorded());
}

#[test]
fn our_verdicts_equal_those_of_program() {
    let Ok(program) = std::env::var("CLEO_AGENTSKILLS") else {
        eprintln!("left out: CLEO_AGENTSKILLS does not name the reference validator");
        return;
    };
    let theirs = reference_verdicts(&program, &cases().into_iter().collect::<Vec<_>>());
    if std::env::var_os("CLEO_ACCEPT").is_some() {
        let json = serde_json::to_string_pretty(&theirs).unwrap() + "\n";
        fs::write(corpus().join("verdicts.json"), json).unwrap();
    }
    assert_same(&our_verdicts(), &theirs);
}

/// Has the reference judge all cases in one process: to start it takes longer than to judge.
fn reference_verdicts(program: &str, cases: &[(String, PathBuf)]) -> Verdicts {
    const JUDGE: &str = "
import sys
from pathlib import Path
from skills_ref.validator import validate
def is_valid(path):
    try:
        return not validate(Path(path))
    except Exception:
        return False
for path in sys.argv[1:]:
    print(is_valid(path))
";
    let python = Path::new(program).with_file_name("python3");
    let paths = cases.iter().map(|(_, skill)| skill);
    let output = Command::new(python)
        .args(["-c", JUDGE])
        .args(paths)
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    let judged = String::from_utf8(output.stdout).unwrap();
    let judged: Vec<&str> = judged.lines().collect();
    assert_eq!(judged.len(), cases.len());
    let verdicts = cases.iter().zip(judged);
    verdicts
        .map(|((case, _), judged)| (case.clone(), verdict(judged == "True")))
        .collect()
}

/// Files too large for the corpus. The reference has no limit, so `validate` has none either.
#[test]
fn large_files_are_valid_but_are_not_loaded() {
    let head = "---\nname: a-skill\ndescription: One.\n";
    for (text, code) in [
        (
            format!("{head}---\n{}", "Text.\n".repeat(2 * FILE_LIMIT / 6)),
            "FILE_TOO_LARGE",
        ),
        (
            format!("{head}license: {}\n---\n", "x".repeat(FRONT_MATTER_LIMIT)),
            "FRONT_MATTER_TOO_LARGE",
        ),
    ] {
        assert_eq!(validate("a-skill", &text), []);
        assert_eq!(parse(&text).unwrap_err().code, code);
        if let Ok(program) = std::env::var("CLEO_AGENTSKILLS") {
            let directory = tempfile::tempdir().unwrap();
            let skill = directory.path().join("a-skill");
            fs::create_dir(&skill).unwrap();
            fs::write(skill.join("SKILL.md"), &text).unwrap();
            let theirs = reference_verdicts(&program, &[("large".to_string(), skill)]);
            assert_eq!(theirs["large"], VALID);
        }
    }
}

/// Texts that are difficult in YAML.
const PIECES: &[&str] = &[
    "\n", "\n\n", "\n  ", "\n    ", " ", "\t", ":", ": ", "- ", "? ", "#", " # c", "|", ">-", "\"",
    "'", "\\", "[", "]", "{", "}", ",", "&a", "*a", "!t", "%", "<<: ", "=", "---", "...", "~",
    "\r\n", "\u{85}", "\u{2028}", "\u{feff}", "\0", "é", "🚀", "a: b", "word", "\n---\n",
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![8 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => ".{0,3}"]
}

proptest! {
    #![proptest_config(super::cases(250))]

    #[test]
    fn no_text_makes_them_panic(text in "\\PC*", bytes in prop::collection::vec(any::<u8>(), 0..99)) {
        let _ = (parse(&text), validate("a", &text), validate_bytes("a", &bytes));
    }

    #[test]
    fn no_front_matter_makes_them_panic(
        pieces in prop::collection::vec(piece(), 0..40),
    ) {
        let text = format!("---\nname: a\ndescription: b\n{}\n---\n", pieces.concat());
        for fault in validate("a", &text) {
            prop_assert!(fault.line >= 1 && fault.column >= 1 && !fault.message.is_empty());
        }
        let valid = validate("a", &text).is_empty();
        prop_assert!(!valid || parse(&text).is_ok());
    }
}
