//! Which faults `validate` finds and where. The verdicts as such are held by `src/tests/skills_corpus.rs`.

use super::*;

/// Checks the faults of `front` in a directory `a-b`, each as `line:column code`.
fn check(front: &str, expected: &[&str]) {
    check_file(&format!("---\n{front}---\nBody.\n"), expected);
}

fn check_file(text: &str, expected: &[&str]) {
    let shown = |fault: Fault| format!("{}:{} {}", fault.line, fault.column, fault.code);
    let found: Vec<_> = validate("a-b", text).into_iter().map(shown).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn every_rule_of_keys_names_its_place() {
    let long = "é".repeat(1025);
    check("name: a-b\ndescription: x\n", &[]);
    check("description: x\n", &["1:1 SKILL_NAME_MISSING"]);
    check("name: a-b\n", &["1:1 SKILL_DESCRIPTION_MISSING"]);
    check("name: ' '\ndescription: x\n", &["2:7 SKILL_NAME_EMPTY"]);
    check(
        "name: a-b\ndescription:\n- x\n",
        &["4:3 SKILL_DESCRIPTION_EMPTY"],
    );
    check(
        &format!("name: a-b\ndescription: {long}\n"),
        &["3:14 SKILL_DESCRIPTION_TOO_LONG"],
    );
    let expected = ["3:16 SKILL_COMPATIBILITY_TOO_LONG"];
    check(
        &format!(
            "name: a-b\ncompatibility: {}\ndescription: x\n",
            &long[..1002]
        ),
        &expected,
    );
    let expected = ["4:3 SKILL_COMPATIBILITY_NOT_TEXT"];
    check(
        "description: x\ncompatibility:\n  a: b\nname: a-b\n",
        &expected,
    );
}

#[test]
fn all_faults_are_listed_in_order_of_file() {
    let expected = [
        "2:1 SKILL_FIELD_UNKNOWN",
        "3:7 SKILL_NAME_UPPERCASE",
        "3:7 SKILL_NAME_HYPHEN_EDGE",
        "3:7 SKILL_NAME_HYPHEN_DOUBLE",
        "3:7 SKILL_NAME_CHARACTER",
        "3:7 SKILL_NAME_DIRECTORY",
        "4:14 SKILL_DESCRIPTION_EMPTY",
        "5:1 SKILL_FIELD_UNKNOWN",
    ];
    check(
        "tier: 2\nname: -A--b_\ndescription: ''\ntags: x\n",
        &expected,
    );
}

#[test]
fn refused_yaml_does_not_hide_other_faults() {
    let expected = [
        "3:11 YAML_FLOW_STYLE",
        "2:1 SKILL_NAME_DIRECTORY",
        "5:1 SKILL_FIELD_UNKNOWN",
    ];
    check(
        "name: other\nmetadata: {a: b}\ndescription: x\ntier: 2\n",
        &expected,
    );
}

#[test]
fn refused_yaml_names_its_place() {
    for (line, expected) in [
        ("license: Use when: x", "4:18 YAML_COLON"),
        ("license: [a]", "4:10 YAML_FLOW_STYLE"),
        ("license: &a b", "4:10 YAML_ANCHOR"),
        ("license: *a", "4:10 YAML_SYNTAX"),
        ("license: !!str b", "4:10 YAML_TAG"),
        ("license: @b", "4:10 YAML_SYNTAX"),
        ("license: \tb", "4:10 YAML_TAB"),
        ("license: \"b", "4:10 YAML_QUOTE"),
        ("license: \"\\q\"", "4:10 YAML_SYNTAX"),
        ("license: |0\n  b", "4:10 YAML_SYNTAX"),
        ("license: - b", "4:10 YAML_SYNTAX"),
        ("license: b\n  c: d", "5:4 YAML_COLON"),
        ("license", "4:1 YAML_SYNTAX"),
        ("%YAML 1.2", "4:1 YAML_SYNTAX"),
        ("license: é\u{7f}", "4:11 YAML_CHARACTER"),
        ("license: b\nlicense: c", "5:1 YAML_DUPLICATE_KEY"),
        ("license: b\n c: d", "5:3 YAML_COLON"),
        ("license:\n  a: b\n c: d", "6:2 YAML_INDENTATION"),
        ("license:\n  a: b\nmetadata:\n c: d", "7:2 YAML_INDENTATION"),
        ("metadata:\n  ? - a\n  : b", "5:5 YAML_COMPLEX_KEY"),
        ("<<: a", "4:1 YAML_MERGE"),
        ("...\na: b", "5:1 YAML_SEVERAL_DOCUMENTS"),
    ] {
        let text = format!("---\nname: a-b\ndescription: x\n{line}\n---\n");
        let faults = validate("a-b", &text);
        let shown = |fault: &Fault| format!("{}:{} {}", fault.line, fault.column, fault.code);
        assert_eq!(
            faults.first().map(shown).as_deref(),
            Some(expected),
            "{line:?}"
        );
    }
}

#[test]
fn errors_of_files_come_before_keys() {
    check_file("", &["1:1 FRONT_MATTER_MISSING"]);
    check_file("---\nname: a-b\n", &["1:1 FRONT_MATTER_UNCLOSED"]);
    check_file("---\n---\n", &["2:1 YAML_NOT_MAPPING"]);
    check_file("---\n- a\n---\n", &["2:1 YAML_NOT_MAPPING"]);
    check_file(
        "---name: a-b\ndescription: [\n---\n",
        &["2:14 YAML_FLOW_STYLE"],
    );
    check_file(
        "--- name: a-b\ndescription: x\n---\n",
        &["2:1 YAML_INDENTATION"],
    );
    check_file(
        "\u{feff}---\nname: a-b\ndescription: x\n---\n",
        &["1:1 FRONT_MATTER_BOM"],
    );
}

#[test]
fn bytes_that_are_not_utf_8_are_found() {
    let faults = validate_bytes("a-b", b"---\nname: \xc3\xa9\xff\n---\n");
    assert_eq!(
        faults[0].to_string(),
        "2:8: FILE_NOT_UTF8: The file is not UTF-8."
    );
}

#[test]
fn names_are_compared_after_normalization() {
    for (directory, name, valid) in [
        ("évaluation", "e\u{301}valuation", true),
        ("e\u{301}valuation", "évaluation", true),
        ("fi-x", "\u{fb01}-x", true),
        ("a-b", "' a-b '", true),
        ("a-b ", "a-b", false),
        ("数据", "数据", true),
        ("ß", "ß", true),
        ("का", "का", false),
        ("\u{1f150}", "\u{1f150}", false),
    ] {
        let text = format!("---\nname: {name}\ndescription: x\n---\n");
        assert_eq!(
            validate(directory, &text).is_empty(),
            valid,
            "{directory:?} {name:?}"
        );
    }
}
