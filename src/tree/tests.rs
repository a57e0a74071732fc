use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::*;

/// A folder, in a repository of git or not.
struct Folder(tempfile::TempDir);

impl Folder {
    fn plain() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("src/a.rs", "a");
        folder.write("src/deep/b.rs", "b");
        folder.write("README.md", "r");
        folder.write(".cleo/cleo.db", "never");
        folder.write("claudedocs/x.md", "never");
        folder
    }

    fn with_git() -> Folder {
        let folder = Folder::plain();
        folder.git(&["init", "-q"]);
        folder.commit();
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t.example"];
        let done = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "git {arguments:?}: {done:?}");
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x", "--allow-empty"]);
    }

    fn tree(&self, patterns: &[&str]) -> Tree {
        let patterns: Vec<String> = patterns.iter().map(|text| text.to_string()).collect();
        digest(self.path(), &patterns).unwrap()
    }

    fn digest(&self, patterns: &[&str]) -> String {
        self.tree(patterns).digest.unwrap()
    }
}

const AUTH: &[&str] = &["src/**"];

type Step = (&'static str, fn(&Folder));

/// Steps, and whether each changes the digest of the files `src/**` and of all files.
const STEPS: &[(Step, bool, bool)] = &[
    (
        ("a tracked file is edited", |it| it.write("src/a.rs", "A")),
        true,
        true,
    ),
    (
        ("the same content is committed", Folder::commit),
        false,
        false,
    ),
    (
        ("a file is touched", |it| it.write("src/a.rs", "A")),
        false,
        false,
    ),
    (
        ("a file elsewhere is edited", |it| {
            it.write("README.md", "R")
        }),
        false,
        true,
    ),
    (
        ("a file is added", |it| it.write("src/new.rs", "n")),
        true,
        true,
    ),
    (("it is committed", Folder::commit), false, false),
    (
        ("a file is renamed", |it| {
            fs::rename(it.path().join("src/new.rs"), it.path().join("src/old.rs")).unwrap();
        }),
        true,
        true,
    ),
    (
        ("a file is deleted", |it| {
            fs::remove_file(it.path().join("src/old.rs")).unwrap()
        }),
        true,
        true,
    ),
    (
        ("cleo's own files change", |it| {
            it.write(".cleo/cleo.db", "x");
            it.write("claudedocs/x.md", "x");
        }),
        false,
        false,
    ),
    (
        ("a file becomes a program", |it| {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(it.path().join("src/a.rs"), mode).unwrap();
        }),
        true,
        true,
    ),
    (
        ("a link is made", |it| {
            symlink("/etc", it.path().join("src/etc")).unwrap()
        }),
        true,
        true,
    ),
    (
        ("a link leads elsewhere", |it| {
            fs::remove_file(it.path().join("src/etc")).unwrap();
            symlink("/usr", it.path().join("src/etc")).unwrap();
        }),
        true,
        true,
    ),
];

#[test]
fn digest_changes_when_file_does() {
    for (folder, has_git) in [(Folder::with_git(), true), (Folder::plain(), false)] {
        for ((name, step), declared, all) in STEPS {
            let before = (folder.digest(AUTH), folder.digest(&[]));
            if has_git || !name.contains("committed") {
                step(&folder);
            }
            let after = (folder.digest(AUTH), folder.digest(&[]));
            assert_eq!(before.0 != after.0, *declared, "{name}, git: {has_git}");
            assert_eq!(before.1 != after.1, *all, "{name}, all, git: {has_git}");
        }
    }
}

#[test]
fn git_makes_no_difference_to_digest() {
    let (plain, git) = (Folder::plain(), Folder::with_git());
    assert_eq!(plain.digest(AUTH), git.digest(AUTH));
    assert_eq!(plain.digest(&[]), git.digest(&[]));
    assert_eq!(plain.tree(&[]).files, 3);
}

#[test]
fn ignored_files_count_only_by_own_path() {
    let folder = Folder::with_git();
    folder.write(".gitignore", "*.log\n");
    let before = (folder.digest(AUTH), folder.digest(&[]));
    folder.write("src/x.log", "1");
    assert_eq!((folder.digest(AUTH), folder.digest(&[])), before);
    let named = folder.digest(&["src/x.log"]);
    folder.write("src/x.log", "2");
    assert_ne!(folder.digest(&["src/x.log"]), named);
}

#[test]
fn marks_in_index_hide_no_change() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let folder = Folder::with_git();
        folder.git(&["update-index", mark, "src/a.rs"]);
        let before = folder.digest(AUTH);
        folder.write("src/a.rs", "changed");
        assert_ne!(folder.digest(AUTH), before, "{mark}");
    }
}

#[test]
fn hostile_repo_runs_nothing() {
    let folder = Folder::with_git();
    let calm = folder.digest(&[]);
    let mark = folder.path().join(".cleo/ran");
    let script = folder.path().join(".cleo/script");
    folder.write(
        ".cleo/script",
        &format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display()),
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for name in [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "core.sshCommand",
        "core.pager",
        "core.askPass",
        "credential.helper",
        "diff.external",
        "alias.ls-files",
    ] {
        folder.git(&["config", name, script]);
    }
    folder.git(&[
        "config",
        "core.hooksPath",
        folder.path().join(".cleo").to_str().unwrap(),
    ]);
    fs::create_dir_all(folder.path().join(".git/info")).unwrap();
    folder.write(".git/info/attributes", "* filter=evil\n");
    folder.git(&["config", "core.worktree", "/"]);
    assert_eq!(folder.digest(&[]), calm);
    assert!(head(folder.path()).unwrap().is_some());
    assert!(commit(folder.path(), "HEAD").is_ok());
    assert!(!mark.exists(), "something of the repository was run");
}

#[test]
fn folder_of_repo_sees_only_what_is_below_it() {
    let folder = Folder::with_git();
    let below = |patterns: &[String]| digest(&folder.path().join("src"), patterns).unwrap();
    assert_eq!(below(&[]).files, 2);
    assert_eq!(below(&["deep".into()]).files, 1);
}

#[test]
fn linked_worktree_is_repo_like_any_other() {
    let folder = Folder::with_git();
    folder.git(&["worktree", "add", "-q", "linked"]);
    let linked = folder.path().join("linked");
    assert_eq!(
        digest(&linked, &[]).unwrap().digest,
        Some(folder.digest(&["src", "README.md"]))
    );
    assert_eq!(
        super::head(&linked).unwrap(),
        super::head(folder.path()).unwrap()
    );
}

#[test]
fn ignored_workspace_is_digested_without_its_repo() {
    let above = Folder::with_git();
    above.write(".gitignore", "*\n");
    above.write("inner/src/a.rs", "a");
    let inner = |patterns: &[String]| digest(&above.path().join("inner"), patterns).unwrap();
    assert_eq!((inner(&[]).files, inner(&["src/**".into()]).files), (1, 1));
}

#[test]
fn files_of_repo_within_count() {
    let folder = Folder::with_git();
    folder.write("lib/inner/x.rs", "x");
    Command::new("git")
        .args(["init", "-q"])
        .current_dir(folder.path().join("lib/inner"))
        .status()
        .unwrap();
    let before = (folder.digest(&["lib/**"]), folder.digest(&[]));
    folder.write("lib/inner/x.rs", "y");
    assert_ne!(folder.digest(&["lib/**"]), before.0);
    assert_ne!(folder.digest(&[]), before.1);
}

#[test]
fn what_is_no_file_is_neither_waited_for_nor_followed() {
    let folder = Folder::plain();
    let done = Command::new("mkfifo")
        .arg(folder.path().join("src/pipe"))
        .status();
    assert!(done.unwrap().success());
    symlink("/etc", folder.path().join("out")).unwrap();
    assert_eq!(folder.tree(AUTH).files, 3);
    // Read or not, a file behind a link that leads out looks the same.
    assert_eq!(folder.tree(&["out/passwd"]), folder.tree(&["out/passwd"]));
    let behind = hash_files(folder.path(), &[PathBuf::from("out/passwd")]).unwrap();
    let gone = hash_files(folder.path(), &[PathBuf::from("out/passwd")]);
    fs::remove_file(folder.path().join("out")).unwrap();
    folder.write("out/passwd", "x");
    assert_eq!(Some(&behind), gone.as_ref());
    assert_ne!(
        hash_files(folder.path(), &[PathBuf::from("out/passwd")]).unwrap(),
        behind
    );
    assert_eq!(file_digest(&folder.path().join("src/pipe")), None);
    assert_eq!(file_digest(&folder.path().join("src")), None);
    assert!(file_digest(&folder.path().join("src/a.rs")).is_some());
}

#[test]
fn names_that_are_no_text_count() {
    use std::ffi::OsStr;
    let folder = Folder::with_git();
    let name = OsStr::from_bytes(b"src/\xff\n.rs");
    let before = folder.digest(AUTH);
    fs::write(folder.path().join(name), "1").unwrap();
    let with = folder.digest(AUTH);
    assert_ne!(with, before);
    fs::write(folder.path().join(name), "2").unwrap();
    assert_ne!(folder.digest(AUTH), with);
}

#[test]
fn revisions_are_commits_that_are_there() {
    let folder = Folder::with_git();
    let head = head(folder.path()).unwrap().unwrap();
    assert_eq!(commit(folder.path(), "HEAD").unwrap(), head);
    assert_eq!(commit(folder.path(), &head[..8]).unwrap(), head);
    let unknown = "0".repeat(40);
    for revision in [
        "",
        "-x",
        "--all",
        "nope",
        "HEAD~5",
        "a\nb",
        &unknown,
        "HEAD:README.md",
    ] {
        let refused = commit(folder.path(), revision).unwrap_err();
        assert_eq!(
            refused.code,
            crate::error::Code::InputInvalid,
            "{revision:?}"
        );
    }
    let plain = Folder::plain();
    assert_eq!(super::head(plain.path()).unwrap(), None);
    assert!(commit(plain.path(), "HEAD").is_err());
}

#[test]
fn repo_without_commit_has_no_head() {
    let folder = Folder::plain();
    folder.git(&["init", "-q"]);
    assert_eq!(head(folder.path()).unwrap(), None);
    assert_eq!(folder.tree(&[]).files, 3);
}

#[test]
fn patterns_without_end_are_said_to_be() {
    let tree = Folder::plain().tree(&[&"{a,b}?".repeat(100_000)]);
    assert_eq!((tree.digest, tree.files), (None, 0));
    assert!(tree.problem.unwrap().contains("patterns"));
}

#[test]
fn tasks_that_declare_one_file_are_found() {
    let folder = Folder::plain();
    let set =
        |patterns: &[&str]| -> Vec<String> { patterns.iter().map(|it| it.to_string()).collect() };
    let sets = [
        set(&["src/*.rs"]),
        set(&["src/deep"]),
        set(&["src/a.rs", "x"]),
        set(&["x"]),
    ];
    let sets: Vec<&[String]> = sets.iter().map(Vec::as_slice).collect();
    let found = find_overlaps(folder.path(), &sets).unwrap();
    assert_eq!(
        found,
        [
            (0, 2, PathBuf::from("src/a.rs")),
            (2, 3, PathBuf::from("x"))
        ]
    );
}

#[test]
fn too_many_bytes_are_said_to_be() {
    let folder = Folder::plain();
    let large = File::create(folder.path().join("src/large")).unwrap();
    large.set_len(BYTES_MAX + 1).unwrap();
    let mut left = 10;
    assert_eq!(
        digest_file_content(&folder.path().join("src/large"), &mut left),
        None
    );
}

#[test]
fn changes_of_folder_run_no_filter_and_leave_repository() {
    let folder = Folder::with_git();
    let base = git::head(folder.path()).unwrap().unwrap();
    folder.git(&["config", "filter.evil.clean", "touch ran; cat"]);
    folder.write(".gitattributes", "* filter=evil\n");
    folder.write("src/a.rs", "changed\n");
    folder.write("new file.txt", "new\n");
    fs::remove_file(folder.path().join("README.md")).unwrap();
    let objects = || WalkDir::new(folder.path().join(".git")).into_iter().count();
    let before = objects();
    let found = changes::in_folder(folder.path(), folder.path(), &base).unwrap();
    let told = found
        .files
        .iter()
        .map(|file| format!("{} {}", file.change, file.path));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "added .gitattributes",
            "deleted README.md",
            "added new file.txt",
            "changed src/a.rs"
        ]
    );
    assert!(!folder.path().join("ran").exists());
    assert_eq!(objects(), before);

    let inner = "an inner/repository";
    folder.git(&["init", "--quiet", inner]);
    let inside = |words: &[&str]| folder.git(&[&["-C", inner], words].concat());
    inside(&["commit", "--quiet", "--allow-empty", "-m", "one"]);
    folder.write("an inner/repository/.gitattributes", "* filter=evil\n");
    inside(&["add", "."]);
    folder.git(&["add", inner]);
    inside(&["config", "filter.evil.clean", "touch ../../looked; cat"]);
    folder.write("an inner/repository/.gitattributes", "* filter=evil \n");
    let found = changes::in_folder(folder.path(), folder.path(), &base).unwrap();
    assert!(found.files.iter().any(|file| file.path == inner));
    assert!(!folder.path().join("looked").exists());
    fs::remove_dir_all(folder.path().join("an inner")).unwrap();
    folder.git(&["rm", "--cached", "--quiet", inner]);
    folder.commit();
    let tip = git::head(folder.path()).unwrap().unwrap();
    let found = changes::between(folder.path(), &base, &tip).unwrap();
    let changed = found
        .files
        .iter()
        .find(|file| file.path == "src/a.rs")
        .unwrap();
    assert_eq!((changed.added, changed.removed), (1, 1));
}
