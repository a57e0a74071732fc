use super::*;

fn bindings(pairs: &[(&'static str, &str)]) -> Bindings {
    Bindings(
        pairs
            .iter()
            .map(|(name, value)| (*name, value.to_string()))
            .collect(),
    )
}

#[test]
fn token_is_two_braces_around_capitals() {
    let known = bindings(&[("DATE", "2026-01-26"), ("A", "x"), ("A1_B", "y")]);
    for (template, expected) in [
        ("{{DATE}}", "2026-01-26"),
        ("{{A}}{{A1_B}}", "xy"),
        ("{{2-3 sentence overview}}", "{{2-3 sentence overview}}"),
        (
            "{{lower}} {{ DATE }} {{Date}}",
            "{{lower}} {{ DATE }} {{Date}}",
        ),
        ("${{ secrets.X }}", "${{ secrets.X }}"),
        ("{{#if DATE}}{{/if}} {% x %}", "{{#if DATE}}{{/if}} {% x %}"),
        ("{{{A}}}", "{x}"),
        ("{{A", "{{A"),
        ("{{}} {{_A}} {{1A}}", "{{}} {{_A}} {{1A}}"),
        ("é{{A}}é", "éxé"),
    ] {
        let injected = inject(template, &known);
        assert_eq!(injected.text, expected, "{template}");
        assert!(injected.unresolved.is_empty(), "{template}");
    }
}

#[test]
fn value_is_inserted_once_and_literally() {
    let hostile = "{{DATE}} & \\1 $0 | \"q\" 'q'\n{{TASK_TITLE}} {{#x}}";
    let known = bindings(&[("TASK_TITLE", hostile), ("DATE", "2026-01-26")]);
    let injected = inject("<{{TASK_TITLE}}|{{TASK_TITLE}}>", &known);
    assert_eq!(injected.text, format!("<{hostile}|{hostile}>"));
    assert!(injected.unresolved.is_empty());
}

#[test]
fn unresolved_tokens_stay_and_are_listed_sorted_and_once() {
    let injected = inject("{{ZED}} {{ALPHA}} {{ZED}}", &Bindings::default());
    assert_eq!(injected.text, "{{ZED}} {{ALPHA}} {{ZED}}");
    assert_eq!(
        injected.unresolved.into_iter().collect::<Vec<_>>(),
        ["ALPHA", "ZED"]
    );
}

#[test]
fn command_tokens_have_documented_values() {
    let bindings = Bindings::new();
    for (name, value) in [
        ("TASK_SHOW_CMD", "cleo show"),
        ("TASK_START_CMD", "cleo start"),
        ("TASK_COMPLETE_CMD", "cleo complete"),
        ("TASK_LINK_CMD", "cleo research link"),
        ("TASK_LIST_CMD", "cleo list"),
        ("TASK_FIND_CMD", "cleo find"),
        ("TASK_ADD_CMD", "cleo add"),
        ("TASK_PHASE_CMD", "cleo phase"),
        ("SESSION_LIST_CMD", "cleo session list"),
        ("SESSION_START_CMD", "cleo session start"),
        ("SESSION_END_CMD", "cleo session end"),
        ("RESEARCH_LIST_CMD", "cleo research list"),
        ("RESEARCH_SHOW_CMD", "cleo research show"),
        ("RESEARCH_INJECT_CMD", "cleo research inject"),
        ("MANIFEST_APPEND_CMD", "cleo manifest append"),
    ] {
        assert_eq!(bindings.get(name), Some(value));
    }
}

#[test]
fn required_tokens_are_checked() {
    let good = [
        ("TASK_ID", "T1"),
        ("DATE", "2026-01-26"),
        ("TOPIC_SLUG", "a-b_C9"),
    ];
    assert!(bindings(&good).check_required().is_ok());
    for (name, wrong) in [
        ("TASK_ID", ""),
        ("TASK_ID", "12"),
        ("DATE", "2026-02-30"),
        ("DATE", "today"),
        ("TOPIC_SLUG", ""),
        ("TOPIC_SLUG", "a b"),
        ("TOPIC_SLUG", "../x"),
    ] {
        let mut some = bindings(&good);
        some.set(name, wrong);
        assert_eq!(
            some.check_required().unwrap_err().code,
            Code::TokenInvalid,
            "{name}={wrong}"
        );
    }
}

#[test]
fn slugs_are_short_plain_and_never_empty() {
    let long = format!("{} end", "word ".repeat(13));
    for (title, expected) in [
        ("Authentication Research!", "authentication-research"),
        ("  Über die Größe: 2×3 ", "uber-die-gro-e-2-3"),
        ("日本語", "task-t5"),
        ("", "task-t5"),
        (
            &long,
            "word-word-word-word-word-word-word-word-word-word-word-word",
        ),
        (&"x".repeat(70), &"x".repeat(60)),
    ] {
        assert_eq!(slug(title, TaskId(5)), expected);
    }
}

proptest::proptest! {
    #[test]
    fn text_without_tokens_is_unchanged(text in "[^{}]*") {
        let known = bindings(&[("A", "x")]);
        proptest::prop_assert_eq!(inject(&text, &known).text, text);
    }

    #[test]
    fn what_is_left_in_braces_is_listed(text in "(\\{\\{[A-C]{1,2}\\}\\}|[a-z{} ])*") {
        let known = bindings(&[("A", "x")]);
        let injected = inject(&text, &known);
        for name in &injected.unresolved {
            proptest::prop_assert!(has_token(&injected.text, name));
        }
    }

    #[test]
    fn slugs_fit_rule(title in "\\PC*") {
        let slug = slug(&title, TaskId(1));
        proptest::prop_assert!(!slug.is_empty() && slug.len() <= 60);
        proptest::prop_assert!(!slug.starts_with('-') && !slug.ends_with('-'));
    }
}
