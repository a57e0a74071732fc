//! Keeps layers, names and prose of the sources as ARCHITECTURE.md and CONTRIBUTING.md describe them.
//! A rule has no violation but its exceptions.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use regex::Regex;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;
use walkdir::WalkDir;

/// At most ten: the rule, how the violation begins, and the reason why it stays.
const EXCEPTIONS: [(&str, &str, &str); 1] = [(
    "source files over 400 lines",
    "src/ops/api.rs",
    "the table of operations is one list of rows that is read as one",
)];

/// Modules of `src/` from the top down. A longer path counts before the folder that it is in.
const LAYERS: [(&str, &str); 7] = [
    ("main", "main lib"),
    ("faces", "cli http"),
    ("engine", "coordinator"),
    ("verbs", "ops"),
    (
        "io",
        "workspace file store catalogue embedded manifest::log tree llm worker net runner",
    ),
    ("model", MODEL),
    (
        "base",
        "clock document error estimate id reply score strict words yaml",
    ),
];
const MODEL: &str = "agent agent_files chat claim config dispatch gate hook manifest markdown phase plan \
    protocol query route run session skill spawn task template transfer";

/// Words that never begin the name of a function: participles and adjectives, which say no action.
const PARTICIPLES: &str = "added allowed alone answered appended applied archived asked awaited batched begun \
     blocked brought called cancelled carried changed checked claimed cleaned closed colored completed copied counted \
     crowded cut_off damaged decided deleted done drawn embedded ended excepted expected exported failed filled \
     filtered finished followed found freed given gone handed handled heard held hidden ignored interrupted isolated \
     joined judged kept killed known laid led left linked listed littered logged looked lost made merged moved named \
     noted offered opened outdated parsed passed planned played proposed protected proved put_by recorded refused \
     rejected released removed renamed repeated replaced replied required reserved resumed retained returned routed \
     said seeded seen sent served settled shared shipped shown spawned specified spoken spent started stopped stored \
     streamed swept switched taken titled told torn tried trusted unclosed unfinished unheard unknown unmerged unread \
     unresolved unreverted unseen unsettled unused used wanted waited worked written";

/// Phrases for which the field has a common word: anyway, by default, maximum, is in, is duplicated, takes precedence,
/// depends on, resumes, cancel, undo, fix, in progress, in parallel, the remaining, untrusted input, invalid.
const PHRASES: &str = "says whether|all the same|unless told|where nothing else is said|at most so (many|much)|lies? in|stands? in|\
    stands twice|is there twice|stands before|stands? on|gives way|goes on|go on|going on|went on|gone on|gives? up|gave up|\
    given up|takes? back|took back|taken back|mend|mends|mended|under way|side by side|what is left of|strangers?|in turns|\
    brought home|a stretch of work|(it|that|this|which) is no [a-km-z]\\w+|lacking|is lacking|so it is with";

/// A sentence of a comment that begins so has no subject.
const OPENINGS: &str = "Who|Whoever|Whom|Whose|What|Whatever|Those|One that|One who";

#[test]
fn layers_point_down() {
    let mut found = Vec::new();
    for (path, line, from, to) in TREE.imports() {
        let (above, below) = (layer(&to), layer(&from));
        if above < below {
            found.push(format!("{path}:{line}: {} uses {to}", LAYERS[below].0));
        }
    }
    check("paths into a layer above", found);
}

#[test]
fn folders_import_no_circle() {
    let mut edges = Vec::new();
    for (path, line, from, to) in TREE.imports() {
        let (from, to) = (from.split("::"), to.split("::"));
        let pairs = from.clone().zip(to.clone());
        let common = pairs.take_while(|(one, other)| one == other).count();
        // The two parts of the closest folder that has both.
        let (one, other) = (join(from.take(common + 1)), join(to.take(common + 1)));
        let are_apart = !one.starts_with(&other) && !other.starts_with(&one);
        if are_apart && TREE.folders.contains(&one) && TREE.folders.contains(&other) {
            edges.push((one, other, format!("{path}:{line}")));
        }
    }
    let pairs = edges.iter().map(|(from, to, _)| (&**from, &**to));
    let graph = DiGraphMap::<&str, ()>::from_edges(pairs);
    let mut found = Vec::new();
    for circle in tarjan_scc(&graph).iter().filter(|circle| circle.len() > 1) {
        for folder in circle {
            let is_in = |from: &String, to: &String| from == folder && circle.contains(&&**to);
            let to = edges.iter().filter(|(from, to, _)| is_in(from, to));
            let to = Vec::from_iter(to.map(|(_, to, place)| format!("{to} ({place})")));
            found.push(format!("{folder} imports {}", to.join(", ")));
        }
    }
    check("folders in a circle of imports", found);
}

#[test]
fn functions_are_named_by_verbs() {
    let participles: BTreeSet<&str> = PARTICIPLES.split_whitespace().collect();
    let predicate = Regex::new(r"^(is|has|can|should|passes)(_|$)|^[a-z]+[^su_]s(_|$)").unwrap();
    let (mut bad, mut bools, mut of) = (Vec::new(), Vec::new(), Vec::new());
    for source in &TREE.files {
        // A trait names its functions, in the implementation too.
        let functions = source.functions().filter(|it| !it.is_test);
        for function in functions.filter(|it| !it.is_of_trait) {
            let (path, line, name) = (&source.path, function.line, &*function.name);
            let place = format!("{path}:{line}: fn {name}");
            if participles.contains(name) || participles.contains(name.split('_').next().unwrap()) {
                bad.push(place.clone());
            }
            if function.is_bool && !predicate.is_match(name) {
                bools.push(place.clone());
            }
            if name == "of" {
                of.push(place);
            }
        }
    }
    check("functions named by participles", bad);
    check("bool functions that do not read as predicates", bools);
    check("functions named `of`", of);
}

#[test]
fn prose_has_no_banned_phrases() {
    let phrases = format!(r"(?i)\b({})\b", PHRASES.replace(' ', r"\s+"));
    let openings = format!(r"(?:^|[.!?:]\s+)({OPENINGS})\b");
    let [phrases, openings] = [phrases, openings].map(|pattern| Regex::new(&pattern).unwrap());
    let mut found = Vec::new();
    for source in &TREE.files {
        for (start, text, is_comment) in &source.prose {
            let openings = openings.captures_iter(text).filter(|_| *is_comment);
            let openings = openings.map(|hit| hit.get(1).unwrap());
            for hit in phrases.find_iter(text).chain(openings) {
                let line = start + count_lines(&text[..hit.start()]);
                found.push(format!("{}:{line}: {}", source.path, hit.as_str()));
            }
        }
    }
    check("banned phrases and sentence openings", found);
}

#[test]
fn files_and_test_names_are_short() {
    let (mut files, mut names) = (Vec::new(), Vec::new());
    for source in &TREE.files {
        let (path, lines) = (&source.path, count_lines(&source.text));
        let is_long = lines > 400 && !source.is_test;
        files.extend(is_long.then(|| format!("{path}: {lines} lines")));
        let tests = source.functions().filter(|it| it.is_test);
        let long = tests.filter(|it| it.name.len() > 60);
        names.extend(long.map(|it| format!("{path}:{}: fn {}", it.line, it.name)));
    }
    check("source files over 400 lines", files);
    check("test names over 60 characters", names);
}

/// Fails on violations of a rule other than the exceptions.
fn check(rule: &str, mut found: Vec<String>) {
    assert!(EXCEPTIONS.len() <= 10, "at most ten exceptions");
    for (_, begins, _) in EXCEPTIONS.iter().filter(|(name, ..)| *name == rule) {
        let all = found.len();
        found.retain(|it| !it.starts_with(begins));
        assert!(found.len() < all, "{begins} needs no exception");
    }
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}

/// Returns the number of the layer that a module is in, counted from the top.
fn layer(module: &str) -> usize {
    let is_in = |modules: &str, path: &str| modules.split_whitespace().any(|it| it == path);
    let find = |path: &str| LAYERS.iter().position(|(_, modules)| is_in(modules, path));
    let ends = module.rmatch_indices("::").map(|(at, _)| at);
    let mut paths = std::iter::once(module).chain(ends.map(|end| &module[..end]));
    paths
        .find_map(find)
        .unwrap_or_else(|| panic!("{module} is in no layer of LAYERS"))
}

fn join<'a>(path: impl Iterator<Item = &'a str>) -> String {
    Vec::from_iter(path).join("::")
}

fn is_test(path: &str) -> bool {
    let is_test = |part: &str| ["tests", "tests.rs", "conformance"].contains(&part);
    !path.starts_with("src/") || path.split('/').any(is_test)
}

fn count_lines(text: &str) -> usize {
    text.matches('\n').count()
}

static TREE: LazyLock<Tree> = LazyLock::new(Tree::read);

#[derive(Default)]
struct Tree {
    files: Vec<Source>,
    modules: BTreeSet<String>,
    folders: BTreeSet<String>,
}

struct Source {
    path: String,
    module: String,
    is_test: bool,
    text: String,
    /// The code with comments and literals blanked, at the same offsets.
    code: String,
    /// First line, text and whether it is a comment.
    prose: Vec<(usize, String, bool)>,
}

struct Function {
    name: String,
    line: usize,
    is_bool: bool,
    is_test: bool,
    is_of_trait: bool,
}

impl Tree {
    fn read() -> Tree {
        let (mut tree, root) = (Tree::default(), Path::new(env!("CARGO_MANIFEST_DIR")));
        let folders = ["src", "tests/it", "benches", "fuzz/fuzz_targets", "web/src"];
        let entries = folders.map(|folder| WalkDir::new(root.join(folder)).sort_by_file_name());
        for entry in entries.into_iter().flatten() {
            let entry = entry.unwrap();
            let path = entry.path().strip_prefix(root).unwrap();
            let path = path.to_str().unwrap().to_string();
            let module = path.trim_start_matches("src/").replace('/', "::");
            let module = module.trim_end_matches(".rs").trim_end_matches("::mod");
            if entry.file_type().is_dir() {
                tree.folders.insert(module.to_string());
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let (code, prose) = match path.rsplit('.').next() {
                Some("rs") => read_rust(&text),
                Some("ts" | "tsx") => (String::new(), vec![(1, text.clone(), false)]),
                _ => continue,
            };
            tree.modules.insert(module.to_string());
            let (module, is_test) = (module.to_string(), is_test(&path));
            tree.files.push(Source {
                path,
                module,
                is_test,
                text,
                code,
                prose,
            });
        }
        tree
    }

    /// Returns every path from `crate::` or `super::` in `src/` without tests: file, line, module and target.
    fn imports(&self) -> impl Iterator<Item = (&str, usize, String, String)> {
        let sources = self.files.iter().filter(|it| !it.is_test);
        sources.flat_map(|it| {
            let targets = it.imports(self).into_iter();
            targets.map(|(line, target)| (&*it.path, line, it.module.clone(), target))
        })
    }
}

impl Source {
    fn imports(&self, tree: &Tree) -> Vec<(usize, String)> {
        static BEGIN: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\b(?:crate|super(::super)*)::").unwrap());
        let tests = self.code.find("#[cfg(test)]\nmod tests {");
        let mut found = Vec::new();
        for hit in BEGIN.find_iter(&self.code[..tests.unwrap_or(self.code.len())]) {
            let line = count_lines(&self.code[..hit.start()]) + 1;
            let parts: Vec<&str> = self.module.split("::").collect();
            let base = match hit.as_str().matches("super").count() {
                0 => String::new(),
                supers => parts[..parts.len().saturating_sub(supers)].join("::"),
            };
            let mut targets = BTreeSet::new();
            resolve(&self.code[hit.end()..], base, tree, &mut targets);
            let is_used = |it: &String| !it.is_empty() && !it.split("::").any(|it| it == "tests");
            found.extend(targets.into_iter().filter(is_used).map(|it| (line, it)));
        }
        found
    }

    fn functions(&self) -> impl Iterator<Item = Function> {
        static PATTERNS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
            [
                r"(?m)^( *)(?:pub(?:\([^)]*\))? |const |async )*fn (\w+)",
                r"^(?:<[^({]*>)?\([^{;]*?\)\s*->\s*bool\s*(?:\{|;|where)",
                r"^ *(?:pub(?:\([^)]*\))? )?(?:impl|trait|mod|macro_rules!|proptest!)\b.*",
            ]
            .map(|pattern| Regex::new(pattern).unwrap())
        });
        let [function, is_bool, owner] = &*PATTERNS;
        function.captures_iter(&self.code).map(|hit| {
            let before = &self.code[..hit.get(0).unwrap().start()];
            let above = before.lines().rev();
            let is_owner = |it: &&str| !it.starts_with(&hit[1]) && owner.is_match(it);
            let owner = above.clone().find(is_owner).unwrap_or_default();
            let is_attribute =
                |it: &&str| matches!(it.trim_start().chars().next(), None | Some('#'));
            let mut attributes = above.take_while(is_attribute);
            Function {
                name: hit[2].to_string(),
                line: count_lines(before) + 1,
                is_bool: is_bool.is_match(&self.code[hit.get(2).unwrap().end()..]),
                is_test: attributes.any(|it| it.contains("test]") || it.contains("test(")),
                is_of_trait: owner.contains("impl") && owner.contains(" for "),
            }
        })
    }
}

/// Follows a path to the longest module that it names, and each branch of braces by itself.
fn resolve(path: &str, base: String, tree: &Tree, targets: &mut BTreeSet<String>) {
    let mut words = path.split(|it: char| !it.is_alphanumeric() && it != '_');
    let word = words.next().unwrap_or_default();
    let separator = if base.is_empty() { "" } else { "::" };
    let joined = format!("{base}{separator}{word}");
    let Some(inner) = path.strip_prefix('{') else {
        let is_module = tree.modules.contains(&joined);
        return match path[word.len()..].strip_prefix("::") {
            Some(rest) if is_module => resolve(rest, joined, tree, targets),
            _ => drop(targets.insert(if is_module { joined } else { base })),
        };
    };
    let (mut depth, mut start) = (0, 0);
    for (at, sign) in inner.char_indices() {
        if depth == 0 && matches!(sign, ',' | '}') {
            resolve(inner[start..at].trim_start(), base.clone(), tree, targets);
            start = at + 1;
        }
        match sign {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            _ => {}
        }
    }
}

/// Splits Rust into code, and comments and literals with the line at which each begins.
fn read_rust(text: &str) -> (String, Vec<(usize, String, bool)>) {
    static PATTERNS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
        let comment = r"(?P<comment>(?: *//[^\n]*\n)+|/\*.*?\*/|//[^\n]*)";
        let literal = r##"(?P<text>\bb?r#".*?"#|\bb?r"[^"]*"|"(?:[^"\\]|\\.)*")"##;
        let token = format!(r"(?s){comment}|{literal}|'(?:[^'\\\n]|\\[^\n]{{1,9}}?)'");
        [token.as_str(), r"(?m)^\s*//[/!]?\s?"].map(|pattern| Regex::new(pattern).unwrap())
    });
    let [token, slashes] = &*PATTERNS;
    let (mut code, mut prose, mut end) = (String::new(), Vec::new(), 0);
    for hit in token.captures_iter(text) {
        let whole = hit.get(0).unwrap();
        let line = count_lines(&text[..whole.start()]) + 1;
        if hit.name("comment").is_some() {
            prose.push((
                line,
                slashes.replace_all(whole.as_str(), "").to_string(),
                true,
            ));
        } else if hit.name("text").is_some() {
            prose.push((line, whole.as_str().replace("\\\n", "\n"), false));
        }
        code.push_str(&text[end..whole.start()]);
        code.extend(
            whole
                .as_str()
                .chars()
                .map(|it| if it == '\n' { '\n' } else { ' ' }),
        );
        end = whole.end();
    }
    code.push_str(&text[end..]);
    (code, prose)
}
