//! Which files a task may declare: paths and globs below the workspace root, judged by their words
//! alone.

use crate::error::{Code, Error, Result};

/// Returns declared files without `.` and `..`. One that leads out of the workspace is refused.
pub fn check_files(files: &[String]) -> Result<Vec<String>> {
    files.iter().map(|file| check_file(file)).collect()
}

fn check_file(file: &str) -> Result<String> {
    inside(file).ok_or_else(|| {
        let message = format!(
            "the file `{file}` may lie outside of the workspace: a task declares paths and globs \
             below its root"
        );
        Error::new(Code::PathOutside, message)
    })
}

/// Returns a path or glob without `.` and `..`; none when it leads out of the workspace, or nobody can
/// tell where it leads.
pub fn inside(file: &str) -> Option<String> {
    let file = file.trim();
    if file.starts_with('/') {
        return None;
    }
    // Braces may hold slashes, so that its names cannot be told apart.
    if file.contains('{') {
        let mut names = file.split(['/', '{', ',', '}']);
        return (!names.any(|name| name == "..")).then(|| file.to_string());
    }
    let mut names: Vec<&str> = Vec::new();
    for name in file.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_none_or(|above| *above == "**") => return None,
            ".." => _ = names.pop(),
            name => names.push(name),
        }
    }
    let folder = if file.ends_with('/') { "/" } else { "" };
    match names.is_empty() {
        true if file.is_empty() => Some(String::new()),
        true => Some(".".to_string()),
        false => Some(names.join("/") + folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_left_out() {
        for (file, expected) in [
            ("src/auth/**", "src/auth/**"),
            ("./src/auth/../auth/login.rs", "src/auth/login.rs"),
            (" src//x/ ", "src/x/"),
            ("src/..", "."),
            ("./", "."),
            ("", ""),
            ("src/{a,b}/*.rs", "src/{a,b}/*.rs"),
            ("a..b", "a..b"),
        ] {
            assert_eq!(inside(file).as_deref(), Some(expected), "{file}");
        }
    }

    #[test]
    fn what_leads_out_or_nobody_knows_where_is_refused() {
        for file in [
            "/etc/passwd",
            "../../etc/passwd",
            "src/../../x",
            "**/../x",
            "{..,a}/x",
            "/",
        ] {
            let error = check_files(&[file.to_string()]).unwrap_err();
            assert_eq!(error.code, Code::PathOutside, "{file}");
        }
    }
}
