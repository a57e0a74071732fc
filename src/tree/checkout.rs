//! Finds the git worktree of a folder without calling git, because `complete` and `verify` need it for every caller.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result, quote};
use crate::file::read;

/// Most bytes of a file that says where a repository is.
const LINK_MAX: u64 = 16 << 10;

struct Checkout {
    top: PathBuf,
    /// The folder that all worktrees of the repository share.
    common: PathBuf,
    /// Whether the repository knows of it: anybody can make a `.git` that leads to the repository of somebody else.
    is_known: bool,
}

impl Checkout {
    /// Finds the checkout whose files begin in a folder. As for git, a folder `.git` that holds no
    /// repository is none; a file `.git` that leads nowhere is an error.
    fn at(top: &Path) -> Result<Option<Checkout>> {
        let mark = top.join(".git");
        let Ok(about) = fs::metadata(&mark) else {
            return Ok(None);
        };
        let folder = match about.is_dir() {
            true if !mark.join("HEAD").exists() => return Ok(None),
            true => fs::canonicalize(&mark).ok(),
            false => find_linked(top, &mark),
        };
        let found = folder.and_then(|folder| Some((common_folder(&folder)?, folder)));
        match found {
            Some((common, folder)) => Ok(Some(Checkout {
                is_known: about.is_dir() && !mark.is_symlink()
                    || is_worktree_of(&common, &folder, &mark),
                top: top.to_path_buf(),
                common,
            })),
            None => {
                let message = format!(
                    "{} leads to no git repository, so it is unknown which files are to be judged",
                    mark.display()
                );
                let look = format!("cat {}", quote(&mark.to_string_lossy()));
                Err(Error::new(Code::TreeUnknown, message).fix(look))
            }
        }
    }

    fn around(folder: &Path) -> Result<Option<Checkout>> {
        for folder in folder.ancestors() {
            if let Some(checkout) = Checkout::at(folder)? {
                return Ok(Some(checkout));
            }
        }
        Ok(None)
    }
}

/// Returns where the file `.git` of a linked worktree or a submodule leads.
fn find_linked(top: &Path, mark: &Path) -> Option<PathBuf> {
    let text = String::from_utf8(read(mark, LINK_MAX).ok()?).ok()?;
    let folder = text.strip_prefix("gitdir:")?.trim();
    fs::canonicalize(top.join(folder)).ok()
}

/// Returns whether a repository has a folder for the linked worktree of a `.git`, which names that `.git`.
fn is_worktree_of(common: &Path, folder: &Path, mark: &Path) -> bool {
    let back = || {
        let back = String::from_utf8(read(&folder.join("gitdir"), LINK_MAX).ok()?).ok()?;
        fs::canonicalize(folder.join(back.trim())).ok()
    };
    folder.parent() == Some(&common.join("worktrees"))
        && back().is_some_and(|back| fs::canonicalize(mark).is_ok_and(|mark| mark == back))
}

/// Returns whether the files of a linked worktree begin in a folder, and its repository knows of it.
pub(crate) fn is_linked_worktree(top: &Path) -> bool {
    find_linked_worktree(top).is_some()
}

fn find_linked_worktree(top: &Path) -> Option<Checkout> {
    let mark = top.join(".git").symlink_metadata();
    let is_linked = mark.is_ok_and(|mark| mark.is_file());
    let checkout = Checkout::at(top).ok()?;
    checkout.filter(|it| is_linked && it.is_known)
}

/// Finds the main checkout of the linked worktree whose files begin in a folder.
pub(crate) fn main_checkout(top: &Path) -> Option<PathBuf> {
    let checkout = find_linked_worktree(top)?;
    let main = checkout.common.parent()?;
    checkout
        .common
        .ends_with(".git")
        .then(|| main.to_path_buf())
}

fn common_folder(folder: &Path) -> Option<PathBuf> {
    let link = folder.join("commondir");
    match link.exists() {
        true => {
            let text = String::from_utf8(read(&link, LINK_MAX).ok()?).ok()?;
            fs::canonicalize(folder.join(text.trim())).ok()
        }
        false => fs::canonicalize(folder).ok(),
    }
}

/// Finds the folder that corresponds to the root of a workspace in the worktree of `here`; none
/// if that is the workspace itself, or if `here` is in no repository. A folder of another
/// repository is refused, because its files are not the ones that would be judged. A submodule is a part of the
/// repository around it.
pub(crate) fn root_in_worktree(root: &Path, here: &Path) -> Result<Option<PathBuf>> {
    let (Ok(root), Ok(here)) = (fs::canonicalize(root), fs::canonicalize(here)) else {
        return Ok(None);
    };
    let mut own = None;
    for folder in here.ancestors() {
        if folder == root {
            return Ok(None);
        }
        let Some(checkout) = Checkout::at(folder)? else {
            continue;
        };
        if own.is_none() {
            own = Some(Checkout::around(&root)?);
        }
        match own.as_ref().and_then(Option::as_ref) {
            Some(own) if own.common == checkout.common => {
                if own.top == checkout.top || checkout.is_known {
                    return locate_in_checkout(&root, own, &checkout);
                }
                let top = checkout.top.display();
                let message = format!("the repository of the workspace knows of no worktree {top}");
                return Err(Error::new(Code::TreeUnknown, message).fix("git worktree list"));
            }
            Some(own) if checkout.common.starts_with(&own.common) => {}
            // A workspace in no repository may hold several.
            None if here.starts_with(&root) => {}
            _ => {
                let message = format!(
                    "{} is another repository than that of the workspace {}, whose files would be judged",
                    checkout.top.display(),
                    root.display()
                );
                let fix = format!("cd {}", quote(&root.to_string_lossy()));
                return Err(Error::new(Code::TreeUnknown, message).fix(fix));
            }
        }
    }
    Ok(None)
}

fn locate_in_checkout(root: &Path, own: &Checkout, checkout: &Checkout) -> Result<Option<PathBuf>> {
    if own.top == checkout.top {
        return Ok(None);
    }
    let inside = root.strip_prefix(&own.top).unwrap_or(Path::new(""));
    let there = match inside.as_os_str().is_empty() {
        true => checkout.top.clone(),
        false => checkout.top.join(inside),
    };
    if there.is_dir() {
        return Ok(Some(there));
    }
    let message = format!(
        "the worktree {} has no folder {}, so there is nothing of the workspace to be judged",
        checkout.top.display(),
        inside.display()
    );
    let fix = format!("cd {}", quote(&root.to_string_lossy()));
    Err(Error::new(Code::TreeUnknown, message).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            let path = top.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("main/.git/HEAD", "");
        write("main/app/x", "");
        write("main/lib/.git", "gitdir: ../.git/modules/lib\n");
        write("main/.git/modules/lib/HEAD", "");
        write("main/.git/worktrees/tree/commondir", "../..\n");
        write("main/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
        write(
            "tree/.git",
            &format!(
                "gitdir: {}\n",
                top.join("main/.git/worktrees/tree").display()
            ),
        );
        write("tree/app/x", "");
        write(
            "tree/lib/.git",
            "gitdir: ../../main/.git/worktrees/tree/modules/lib\n",
        );
        write("main/.git/worktrees/tree/modules/lib/HEAD", "");
        write("main/clone/.git/HEAD", "");
        write("other/.git/HEAD", "");
        write("broken/.git", "gitdir: nowhere\n");
        write("none/.git/x", "");
        write("plain/x", "");
        (folder, top)
    }

    #[test]
    fn tree_around_caller_is_found() {
        let (_folder, top) = layout();
        let look = |root: &str, here: &str| {
            let found = root_in_worktree(&top.join(root), &top.join(here));
            let name = |path: PathBuf| path.strip_prefix(&top).unwrap().display().to_string();
            found.map_err(|error| error.code).map(|path| path.map(name))
        };
        for (root, here, expected) in [
            ("main", "main", None),
            ("main", "main/app", None),
            ("main", "main/lib", None),
            ("main", "tree", Some("tree")),
            ("main", "tree/app", Some("tree")),
            ("main", "tree/lib", Some("tree")),
            ("main/app", "tree", Some("tree/app")),
            ("main/app", "main/lib", None),
            ("tree", "main/app", Some("main")),
            ("main", "plain", None),
            ("main", "none", None),
            ("plain", "plain", None),
        ] {
            let expected = Ok(expected.map(String::from));
            assert_eq!(look(root, here), expected, "{root} {here}");
        }
        for (root, here) in [
            ("main", "other"),
            ("main", "main/clone"),
            ("main", "broken"),
            ("plain", "other"),
            ("main/lib", "other"),
        ] {
            assert_eq!(look(root, here), Err(Code::TreeUnknown), "{root} {here}");
        }
        // A workspace around repositories is that of all of them.
        assert_eq!(look(".", "other"), Ok(None));
    }
}
