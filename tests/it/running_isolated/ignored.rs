//! Ignored files of a worktree, which no branch can hold, are copied and named before it goes.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;
use walkdir::WalkDir;

use super::proof::{last_run, run, words};
use super::{COMMIT, find_retained, is_clean, repository};
use crate::world::{TestWorkspace, expect_exit, says};

/// Writes what git ignores in a repository and its worktrees.
fn ignore(workspace: &TestWorkspace, patterns: &str) {
    workspace.write(".git/info/exclude", format!("{patterns}\n"));
}

/// Sees that a warning of T1 says something, in the result of a run and where it is shown later.
#[track_caller]
fn is_warned(workspace: &TestWorkspace, result: &Value, text: &str) {
    let warnings = &result["tasks"][0]["warnings"];
    assert!(warnings.to_string().contains(text), "{text}: {result}");
    let id = result["run"]["id"].as_str().unwrap();
    let shown = workspace.ok(&format!("runs show {id}"));
    assert!(shown.stdout.contains(text), "{text}: {shown}");
}

/// Returns the folder of a run, below the workspace.
fn folder(result: &Value) -> String {
    format!(".cleo/runs/{}", result["run"]["id"].as_str().unwrap())
}

#[test]
fn declared_output_whose_place_leads_out_is_kept() {
    for (link, target, declared) in [
        ("data", "data", "data/result.csv"),
        ("data/result.csv", "data/own", "data/result.csv"),
        ("data/result.csv", "none", "data/result.csv"),
        ("data", "data", "data/*.csv"),
        ("data", "data", "data"),
    ] {
        let workspace = repository();
        ignore(&workspace, "data");
        workspace.write("../disk/data/own", "mine\n");
        let link = workspace.path(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(workspace.path("../disk").join(target), link).unwrap();
        workspace.ok(&format!("update T1 --deliverable '{declared}'"));
        let script = "mkdir data && echo hours >data/result.csv && echo more >data/cache";
        let result = expect_exit(run(&workspace, "T1", script), 0);
        let kept = format!("{}/outputs/T1-1/data", folder(&result));
        assert_eq!(workspace.read(&format!("{kept}/result.csv")), "hours\n");
        let is_folder = declared == "data";
        assert_eq!(workspace.path(&format!("{kept}/cache")).exists(), is_folder);
        is_warned(&workspace, &result, "data/result.csv");
        assert_eq!(workspace.read("../disk/data/own"), "mine\n");
        let written = WalkDir::new(workspace.path("../disk")).into_iter();
        assert_eq!(written.count(), 3, "nothing goes through the link");
        is_clean(&workspace);
    }
}

#[test]
fn declared_patterns_name_ignored_files() {
    for (declared, found) in [
        ("--deliverable 'data/*.csv'", "result.csv"),
        ("--deliverable 'data/**'", "deep/x.csv result.csv {a}.bin"),
        ("--deliverable '**/x.{csv,tsv}'", "deep/x.csv"),
        ("--deliverable 'data/{a}.bin'", "{a}.bin"),
        ("--deliverable 'A page? It says hello, or *'", ""),
        ("--file 'data/*.csv'", "result.csv"),
        ("--file 'data/{a}.bin'", "{a}.bin"),
        // Folders among the files of a task may hold caches, too.
        ("--file '**/data/**'", ""),
        ("--file 'data'", ""),
    ] {
        let workspace = repository();
        ignore(&workspace, "data/");
        workspace.ok(&format!("update T1 {declared}"));
        let script =
            "mkdir -p data/deep && cd data && echo x | tee result.csv deep/x.csv >'{a}.bin'; cd ..";
        expect_exit(run(&workspace, "T1", script), 0);
        let data = workspace.path("data");
        let all = WalkDir::new(&data).into_iter().flatten();
        let files = all.filter(|entry| entry.file_type().is_file());
        let names = files.map(|entry| {
            entry
                .path()
                .strip_prefix(&data)
                .unwrap()
                .display()
                .to_string()
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        assert_eq!(names.join(" "), found, "{declared}");
        is_clean(&workspace);
    }
}

#[test]
fn copies_follow_no_links_of_agent() {
    let names = ["x.ign", "d/x.ign", "T1-1/x.ign", "T1-1/d/x.ign"];
    for links in [
        "mv $run/outputs $run/own && ln -s $out $run/outputs",
        "mv $run/outputs/* $out && rmdir $run/outputs && ln -s $out $run/outputs",
        "ln -s $out $run/outputs/T1-1",
        "mkdir -p $run/outputs/T1-1 && ln -s $out $run/outputs/T1-1/d",
    ] {
        let workspace = repository();
        ignore(&workspace, "*.ign");
        for name in names {
            workspace.write(&format!("../out/{name}"), "mine\n");
        }
        let out = workspace.path("../out");
        fs::set_permissions(&out, PermissionsExt::from_mode(0o755)).unwrap();
        let script = format!(
            "run=$CLEO_ROOT/.cleo/runs/$CLEO_RUN_ID out={}
{links}
echo new >n; mkdir d; echo x | tee x.ign >d/x.ign",
            out.display()
        );
        let (_, result) = run(&workspace, "T1", &script);
        let task = &result["tasks"][0];
        assert!(task.to_string().contains(" is a link"), "{links}: {task}");
        let kept = task["worktree"]
            .as_str()
            .unwrap_or_else(|| panic!("{links}: {task}"));
        let kept = kept.strip_prefix("[WORKSPACE]/").unwrap();
        assert_eq!(workspace.read(&format!("{kept}/d/x.ign")), "x\n", "{links}");
        for name in names {
            let theirs = workspace.read(&format!("../out/{name}"));
            assert_eq!(theirs, "mine\n", "{links}: {name}");
        }
        let mode = fs::metadata(&out).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{links}");
    }
}

#[test]
fn worktree_without_its_baseline_is_kept() {
    for (hangs, next) in [
        ("", "resume"),
        ("", "cancel"),
        (": >$run/hangs; sleep 600", "cancel"),
    ] {
        let workspace = repository();
        ignore(&workspace, "*.ign");
        let script = format!(
            "run=$CLEO_ROOT/.cleo/runs/$CLEO_RUN_ID; rm -r $run/outputs; echo x >x.ign; {hangs}"
        );
        let mut child = workspace.command(&words(&workspace, "T1", &script));
        let child = child.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = child.spawn().unwrap();
        let is_at_work = || {
            let runs = WalkDir::new(workspace.path(".cleo/runs")).max_depth(2);
            let mut runs = runs.into_iter().flatten();
            !runs.any(|entry| entry.file_name() == "hangs")
        };
        while child.try_wait().unwrap().is_none() && is_at_work() {
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let id = last_run(&workspace);
        workspace.json(&["runs", next, &id]);
        let kept = format!(".cleo/runs/{id}/trees/T1-1/x.ign");
        assert_eq!(workspace.read(&kept), "x\n", "{hangs} {next}");
        let shown = workspace.ask(format!("runs show {id}"));
        let task = shown["result"]["tasks"][0].to_string();
        assert!(task.contains("save what you need from there"), "{shown}");
    }
}

#[test]
fn worktree_with_ignored_file_of_submodule_is_kept() {
    let workspace = repository();
    workspace.write("../lib/.gitignore", "*.ign\nbuild/\n");
    workspace.git("init --quiet --initial-branch main ../lib");
    workspace.git("-C ../lib add .");
    workspace.git("-C ../lib commit --quiet --message lib");
    let lib = workspace.path("../lib").display().to_string();
    let allow = "-c protocol.file.allow=always submodule --quiet";
    workspace.git(format!("{allow} add {lib} sub"));
    workspace.git("commit --quiet --message sub");
    let update =
        format!("export GIT_CONFIG_GLOBAL=/dev/null; git {allow} update --init >&2 || exit 9");
    let script = format!("{update}\nmkdir sub/build; echo y >sub/build/y; echo new >n");
    expect_exit(run(&workspace, "T1", &script), 0);
    let script = format!("{update}\necho hours >sub/result.ign; echo newer >n");
    let result = expect_exit(run(&workspace, "T2", &script), 80);
    let place = find_retained(&result["tasks"][0]);
    assert_eq!(
        workspace.read(&format!("{place}/sub/result.ign")),
        "hours\n"
    );
}

#[test]
fn ignored_links_are_not_lost() {
    let workspace = repository();
    ignore(&workspace, "*.ign\nbuild/");
    workspace.ok("update T1 --deliverable latest.ign --deliverable build/link");
    let script = "mkdir build; ln -s build-1.2 latest.ign; ln -s ../.env build/link; echo new >n";
    let result = expect_exit(run(&workspace, "T1", script), 0);
    let kept = format!("{}/outputs/T1-1", folder(&result));
    for (link, target) in [("build/link", "../.env"), ("latest.ign", "build-1.2")] {
        let kept = fs::read_link(workspace.path(&format!("{kept}/{link}"))).unwrap();
        assert_eq!(kept.to_str(), Some(target), "{link}");
        is_warned(&workspace, &result, &format!("{link} -> {target}"));
    }
}

#[test]
fn copies_are_no_more_readable_than_their_files() {
    let workspace = repository();
    ignore(&workspace, "*.ign");
    workspace.ok("update T1 --deliverable secret.ign --file tool.ign");
    let script = "umask 077; echo x | tee secret.ign other.ign >tool.ign
chmod 600 secret.ign && chmod 640 other.ign && chmod 755 tool.ign && echo new >n";
    let result = expect_exit(run(&workspace, "T1", script), 0);
    let other = format!("{}/outputs/T1-1/other.ign", folder(&result));
    for (file, most) in [("secret.ign", 0o600), (&*other, 0o640), ("tool.ign", 0o755)] {
        let mode = fs::metadata(workspace.path(file))
            .unwrap()
            .permissions()
            .mode()
            & 0o777;
        assert_eq!(mode & !most, 0, "{file}: {mode:o}");
        assert_eq!(mode & 0o700, most & 0o700, "{file}: {mode:o}");
    }
}

#[test]
fn killed_copy_leaves_no_draft() {
    let workspace = repository();
    ignore(&workspace, "*.ign");
    let words = words(
        &workspace,
        "T1",
        "head -c 50000000 /dev/zero >big.ign; echo new >n",
    );
    let mut child = workspace.command(&words);
    let child = child.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    let find = |prefix: &str| {
        let all = WalkDir::new(workspace.path(".cleo/runs"));
        let copies = all.into_iter().flatten();
        let copies =
            copies.filter(|entry| entry.path().parent().unwrap().ends_with("outputs/T1-1"));
        let names = copies.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(prefix)).count()
    };
    while find(".cleo-new-") == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it was too fast");
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(find(".cleo-new-"), 1, "it was too fast");
    workspace.ok(&format!("runs resume {}", last_run(&workspace)));
    assert_eq!((find(".cleo-new-"), find("big.ign")), (0, 1));
}

#[test]
fn single_files_that_git_ignores_are_kept() {
    let workspace = repository();
    workspace.write("notes/first", "first");
    workspace.git("add notes");
    workspace.write(".gitignore", ".env*\n*.log\nbuild/\n");
    workspace.git("add .gitignore");
    workspace.git(format!("{COMMIT} ignore"));
    workspace.ok("update T1 --deliverable notes/made.log");
    let script =
        "mkdir build && echo x >build/x && echo x >notes/made.log && echo x >notes/other.log
echo KEY= >.env.example
echo '*' >notes/.gitignore && echo x >notes/hidden && ln -s hidden notes/link
mkdir -p .venv/lib && echo '*' >.venv/.gitignore && echo x >.venv/lib/x && echo x >.venv/x";
    let result = expect_exit(run(&workspace, "T1", script), 0);
    let kept = format!("{}/outputs/T1-1", folder(&result));
    let warnings = result["tasks"][0]["warnings"].as_array().unwrap();
    let [warning] = &warnings[..] else {
        panic!("{result}");
    };
    says(
        warning,
        format!(
            "git ignores files that were in the worktree of T1, so they are not merged; they are in [WORKSPACE]/{kept}: \
             .env.example, notes/.gitignore, notes/hidden, notes/link -> hidden, notes/other.log (`ls -AR "
        ),
    );
    assert_eq!(workspace.read("notes/made.log"), "x\n");
    assert_eq!(workspace.read(&format!("{kept}/.env.example")), "KEY=\n");
    assert_eq!(workspace.read(&format!("{kept}/notes/hidden")), "x\n");
    assert!(!workspace.path(&format!("{kept}/.venv")).exists());
    is_clean(&workspace);
}
