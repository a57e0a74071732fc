use super::*;
use proptest::prelude::*;

#[test]
fn patterns_overlap_when_one_file_can_fit_both() {
    for (a, b, expected) in [
        ("src/a.rs", "src/a.rs", true),
        ("src/a.rs", "src/b.rs", false),
        ("src/auth", "src/auth/token.rs", true),
        ("src/auth/", "./src//auth/token.rs", true),
        ("src/auth", "src/authority.rs", false),
        ("src/auth/**", "src/auth/deep/x.rs", true),
        ("src/auth/**", "src/web/**", false),
        ("src/**/*.rs", "src/auth/token.rs", true),
        ("src/**/*.rs", "src/auth/token.md", false),
        ("src/**/*.rs", "**/mod.rs", true),
        ("**/*.rs", "**/*.md", false),
        ("**/*_test.rs", "src/token*.rs", true),
        ("src/*.rs", "src/auth/x.rs", false),
        ("src/*", "src/auth", true),
        ("src/?.rs", "src/ab.rs", false),
        ("src/?.rs", "src/a.rs", true),
        ("src/{auth,web}/**", "src/web/x.rs", true),
        ("src/{auth,web}/**", "src/db/x.rs", false),
        ("src/{a,{b,c}}.rs", "src/c.rs", true),
        ("a{,b}/x", "a/x", true),
        ("src/[ab].rs", "src/a.rs", true),
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx", true),
        ("app/[slug]/page.tsx", "app/about/layout.tsx", false),
        ("/src/a.rs", "src/a.rs", true),
        ("src/../lib/x.rs", "lib/x.rs", true),
        ("src\\auth\\x.rs", "src/auth/x.rs", true),
        ("src/{a", "src/b", true),
        (".", "anything", true),
        ("", "anything", true),
        ("src/**", "src", true),
        ("**/*.rs", "docs/x.md", false),
        ("conf.d", "conf.d/*.conf", true),
        ("conf.d/", "**/x", true),
        (".github", "**/*.yml", true),
        ("Ünï/*.md", "Ünï/ä.md", true),
        ("docs", "src", false),
        ("*", "src/a.rs", false),
        ("**", "src/a.rs", true),
    ] {
        assert_eq!(overlap(a, b), expected, "{a} and {b}");
        assert_eq!(overlap(b, a), expected, "{b} and {a}");
    }
}

#[test]
fn hostile_patterns_take_no_long_time() {
    let stars = "*a".repeat(900);
    assert!(!overlap(&stars, &format!("{}b", "a".repeat(1_800))));
    assert!(overlap(&"{a,b}".repeat(300), "c"));
    assert!(overlap(&"{".repeat(2_000), "c"));
    assert!(overlap(&"**/".repeat(600), &"x/".repeat(900)));
}

#[test]
fn who_has_taken_a_file_is_named_with_the_texts_that_mean_it() {
    let texts = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| text.to_string())
            .collect::<Vec<_>>()
    };
    let mut occupied = Occupied::default();
    occupied.take(1, patterns(&texts(&["src/auth/**", "docs/auth.md"])));
    occupied.take(2, patterns(&texts(&["src/web/x.rs"])));
    let mut found = |of: &[&str]| {
        let taken = occupied.conflict(&patterns(&texts(of)), &mut 0);
        taken.map(|taken| (taken.owner, taken.texts))
    };
    assert_eq!(
        found(&["src/db", "src/auth/x.rs", "docs"]),
        Some((1, vec![1, 2]))
    );
    assert_eq!(found(&["src/web"]), Some((2, vec![0])));
    assert_eq!(found(&["**/x.rs"]).map(|(_, texts)| texts), Some(vec![0]));
    assert_eq!(found(&["src/db", "README.md"]), None);
    assert_eq!(
        occupied.conflict(&patterns(&texts(&["src/web"])), &mut STEPS_MAX.clone()),
        None
    );
}

/// The plainest reading of a pattern: does it mean this file?
fn means(pattern: &str, path: &str) -> bool {
    fn name(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|n| name(rest, &text[n..])),
            Some(('?', rest)) => !text.is_empty() && name(rest, &text[1..]),
            Some((c, rest)) => text.first() == Some(c) && name(rest, &text[1..]),
        }
    }
    fn parts(pattern: &[&str], path: &[&str]) -> bool {
        match pattern.split_first() {
            None => path.is_empty(),
            Some((&"**", rest)) => (0..=path.len()).any(|n| parts(rest, &path[n..])),
            Some((first, rest)) => {
                let chars = |text: &str| text.chars().collect::<Vec<_>>();
                !path.is_empty() && name(&chars(first), &chars(path[0])) && parts(rest, &path[1..])
            }
        }
    }
    let mut split: Vec<&str> = pattern.split('/').collect();
    if split.last().is_some_and(|last| !last.contains(['*', '?'])) {
        split.push("**");
    }
    parts(&split, &path.split('/').collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn patterns_that_mean_one_file_overlap(
        path in "[ab]{1,3}(/[ab]{1,3}){0,3}",
        patterns in prop::collection::vec("([ab*?]{1,3}|\\*\\*)(/([ab*?]{1,3}|\\*\\*)){0,3}", 40),
    ) {
        let meaning: Vec<&String> = patterns.iter().filter(|one| means(one, &path)).collect();
        for a in &meaning {
            for b in &meaning {
                prop_assert!(overlap(a, b), "{} and {} both mean {}", a, b, path);
            }
            prop_assert!(overlap(a, &path), "{} means {}", a, path);
        }
    }
}
