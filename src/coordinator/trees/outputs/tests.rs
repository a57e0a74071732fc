use std::ffi::OsStr;
use std::os::unix::fs::symlink;

use super::super::baseline::digests;
use super::*;

/// A root with an output in a folder.
fn world() -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let outputs = root.path().join(OUTPUT_DIR);
    fs::create_dir_all(outputs.join("a/b")).unwrap();
    fs::write(outputs.join("a/b/c.csv"), "1").unwrap();
    (root, outputs)
}

/// Looks at outputs of which nothing was there before.
fn looked(root: &Path) -> Outputs {
    Outputs::find(root, Some(&Baseline::default()))
}

/// Looks at outputs of which everything was there before that is in a folder.
fn looked_after(root: &Path, before: &Path) -> Outputs {
    let found = Outputs::find(before, None);
    let others = found.others.into_iter().map(|other| other.mark);
    let baseline = Baseline {
        tree: digests(before, before, found.paths),
        others: others.collect(),
        ..Baseline::default()
    };
    Outputs::find(root, Some(&baseline))
}

fn paths(root: &Path) -> Vec<String> {
    let paths = looked(root).all().unwrap().paths.into_iter();
    let short = |path: String| path.replace(&format!("{OUTPUT_DIR}/"), "");
    paths.map(short).collect()
}

#[test]
fn outputs_are_files_in_all_folders_and_no_links() {
    let (root, outputs) = world();
    for name in ["x.md", "MANIFEST.jsonl", ".new-1", "a/MANIFEST.jsonl"] {
        fs::write(outputs.join(name), "1").unwrap();
    }
    fs::write(root.path().join("secret"), "1").unwrap();
    symlink(root.path().join("secret"), outputs.join("a/link")).unwrap();
    symlink(root.path(), outputs.join("around")).unwrap();
    let expected = [".new-1", "a/MANIFEST.jsonl", "a/b/c.csv", "x.md"];
    assert_eq!(paths(root.path()), expected);
}

// Elsewhere no file can have such a name.
#[cfg(target_os = "linux")]
#[test]
fn new_links_and_names_without_utf8_are_reported() {
    let (root, outputs) = world();
    symlink("c.csv", outputs.join("a/b/last.csv")).unwrap();
    fs::write(outputs.join(OsStr::from_bytes(b"caf\xe9.csv")), "1").unwrap();
    let folder = outputs.join(OsStr::from_bytes(b"d\xe9"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("x.csv"), "1").unwrap();
    let told = looked(root.path()).all().unwrap().others;
    let mut told: Vec<String> = told.iter().map(|other| other.stays().message).collect();
    told.sort();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("/a/b/last.csv is a link"), "{told:?}");
    assert!(told[1].contains("is not UTF-8"), "{told:?}");
    let again = looked_after(root.path(), root.path());
    assert!(again.others.is_empty() && again.changed.is_empty());
    assert_eq!(again.paths.len(), 1);
}

#[test]
fn what_was_there_before_is_not_bounded_and_not_changed() {
    let (root, outputs) = world();
    for number in 0..=VISITS_MAX {
        fs::write(outputs.join(format!("a/b/{number}")), "").unwrap();
    }
    assert!(looked(root.path()).all().is_err());
    fs::create_dir_all(outputs.join(["d"; DEPTH_MAX + 1].join("/"))).unwrap();
    fs::write(outputs.join(["d"; DEPTH_MAX + 1].join("/") + "/x"), "").unwrap();
    let found = looked_after(root.path(), root.path()).all().unwrap();
    assert_eq!(found.paths.len(), VISITS_MAX + 3);
    assert_eq!(found.changed, [] as [String; 0]);

    let ((before, _), (root, outputs)) = (world(), world());
    fs::write(outputs.join("a/b/c.csv"), "2").unwrap();
    let found = looked_after(root.path(), before.path());
    assert_eq!(found.changed, found.paths);
}

#[test]
fn unreadable_folder_is_not_treated_as_empty() {
    let root = tempfile::tempdir().unwrap();
    symlink("claudedocs", root.path().join("claudedocs")).unwrap();
    let why = looked(root.path()).all().err().unwrap().message;
    assert!(why.contains("agent-outputs cannot be read"), "{why}");
}

#[test]
fn there_may_be_none() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(paths(root.path()), [] as [&str; 0]);
    let (other, _) = world();
    fs::create_dir(root.path().join("claudedocs")).unwrap();
    symlink(other.path(), root.path().join(OUTPUT_DIR)).unwrap();
    assert_eq!(paths(root.path()), [] as [&str; 0], "it leads out");
}

#[test]
fn what_is_more_than_comes_home_is_said() {
    let (root, outputs) = world();
    fs::create_dir_all(outputs.join("a/.git/objects")).unwrap();
    fs::write(outputs.join("a/.git/objects/x"), "1").unwrap();
    let found = looked(root.path());
    assert_eq!(found.paths.len(), 1, "{:?}", found.paths);
    let why = found.all().err().unwrap().message;
    assert!(why.contains("/a lies among"), "{why}");

    let (root, outputs) = world();
    let deep = outputs.join(["d"; DEPTH_MAX].join("/"));
    fs::create_dir_all(deep.join("e")).unwrap();
    fs::write(deep.join("file"), "1").unwrap();
    assert_eq!(paths(root.path()).len(), 2);
    fs::write(deep.join("e/file"), "1").unwrap();
    let why = looked(root.path()).all().err().unwrap().message;
    assert!(why.contains("hold more"), "{why}");

    let (root, outputs) = world();
    let large = fs::File::create(outputs.join("a/large")).unwrap();
    large.set_len(BYTES_MAX + 1).unwrap();
    fs::write(outputs.join("z.md"), "1").unwrap();
    let found = looked(root.path());
    let is_there = found.paths.iter().any(|path| path.ends_with("/z.md"));
    assert!(is_there && found.all().is_err());
}

#[test]
fn an_output_goes_through_folders_only() {
    let (root, outputs) = world();
    let way = |path: &str| require_way(root.path(), &format!("{OUTPUT_DIR}/{path}"));
    fs::write(outputs.join("file"), "1").unwrap();
    symlink(root.path(), outputs.join("link")).unwrap();
    for (path, is_free) in [
        ("x.md", true),
        ("a/b/c.csv", true),
        ("new/b/c.csv", true),
        ("file/c.csv", false),
        ("link/c.csv", false),
        ("link/b/c.csv", false),
    ] {
        assert_eq!(way(path).is_ok(), is_free, "{path}");
    }
}
