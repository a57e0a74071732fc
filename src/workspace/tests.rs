//! Tests of the folder with `.cleo/` in it.

use super::*;

impl Workspace {
    /// Creates a workspace in `root` and returns the new parts, relative to it; none if it existed.
    pub(crate) fn create(root: &Path) -> Result<(Workspace, Vec<String>)> {
        let workspace = Workspace::from(root.to_path_buf());
        let made = workspace.create_missing()?;
        Ok((workspace, made))
    }
}

#[test]
fn damaged_workspace_hides_the_one_above() {
    let folder = tempfile::tempdir().unwrap();
    Workspace::create(folder.path()).unwrap();
    for name in ["file", "link"] {
        let below = folder.path().join(name);
        fs::create_dir(&below).unwrap();
        match name {
            "file" => fs::write(below.join(".cleo"), "x").unwrap(),
            _ => std::os::unix::fs::symlink("nowhere", below.join(".cleo")).unwrap(),
        }
        let error = Workspace::find(&below).unwrap_err();
        assert!(error.message.ends_with(".cleo is not a folder"));
    }
}

#[test]
fn workspace_is_found_from_below_and_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Workspace::from(folder.path().to_path_buf()).missing();
    let (workspace, made) = Workspace::create(folder.path()).unwrap();
    assert_eq!(made, missing);
    assert_eq!(
        made,
        [".cleo", OUTPUT_DIR, ".cleo/.gitignore", ".cleo/cleo.db"]
    );
    let files = fs::read_dir(folder.path().join(".cleo")).unwrap().count();
    assert_eq!(files, 2, "only the database and .gitignore stay");
    assert_eq!(Workspace::create(folder.path()).unwrap().1, [] as [&str; 0]);
    let below = folder.path().join(OUTPUT_DIR);
    assert_eq!(Workspace::find(&below).unwrap(), workspace);
}

#[test]
fn worktree_shows_its_files_and_those_of_main_checkout() {
    let folder = tempfile::tempdir().unwrap();
    let (home, _) = Workspace::create(folder.path()).unwrap();
    let tree = Workspace::from(home.root.join(".cleo/runs/run_1/trees/T1-1"));
    fs::create_dir_all(&tree.root).unwrap();
    assert_eq!((home.home(), tree.home()), (None, Some(home.clone())));
    fs::write(home.root.join("a"), "home").unwrap();
    assert_eq!([tree.holding("a"), tree.holding("b")], [home, tree.clone()]);
    fs::write(tree.root.join("a"), "tree").unwrap();
    assert_eq!(tree.holding("a"), tree);
}

#[test]
fn what_cleo_keeps_is_no_place_for_anything_else() {
    let folder = tempfile::tempdir().unwrap();
    let (workspace, _) = Workspace::create(folder.path()).unwrap();
    std::os::unix::fs::symlink(".cleo/cleo.db", folder.path().join("link")).unwrap();
    for (path, is_own) in [
        (".cleo/cleo.db", true),
        ("link", true),
        ("claudedocs/../.cleo/cleo.db-wal", true),
        (".cleo/config.yaml", true),
        (".cleo/.gitignore", true),
        (".cleo/runs", true),
        (".cleo/skills", true),
        (MANIFEST, true),
        (".cleo/tasks.jsonl", false),
        ("cleo.db", false),
        ("none/cleo.db", false),
    ] {
        let refused = workspace.refuse_own(&folder.path().join(path));
        assert_eq!(refused.is_err(), is_own, "{path}");
    }
}

#[test]
fn paths_that_lead_out_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (workspace, _) = Workspace::create(folder.path()).unwrap();
    std::os::unix::fs::symlink("/", folder.path().join("out")).unwrap();
    for path in [
        "../x",
        "a/../../x",
        "/etc/passwd",
        "",
        "out/etc/passwd",
        "a\0b",
        "out",
    ] {
        let refused = workspace.confine(path).err().map(|error| error.code);
        assert_eq!(refused, Some(Code::PathOutside), "{path:?}");
    }
    assert!(workspace.confine("claudedocs/agent-outputs/new.md").is_ok());
}
