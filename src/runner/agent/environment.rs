//! What an agent sees of the user's environment: what every program needs, what its own program
//! needs, what the settings allow, and nothing else.

use std::ffi::OsString;

/// What every program needs, with ways through proxies and certificates. A name may end with `*`.
const EVERYBODY: &[&str] = &[
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LC_*",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_*",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Chooses from the user's variables those that have one of these names, or one that everybody gets.
pub(super) fn passed<'a>(
    user: impl Iterator<Item = (OsString, OsString)>,
    names: impl Iterator<Item = &'a String>,
) -> Vec<(OsString, OsString)> {
    let names: Vec<&str> = names.map(String::as_str).collect();
    let fits = |variable: &str| {
        let mut wanted = EVERYBODY.iter().chain(&names);
        wanted.any(|name| match name.strip_suffix('*') {
            Some(start) => variable.starts_with(start),
            None => variable == *name,
        })
    };
    user.filter(|(name, _)| name.to_str().is_some_and(fits))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_goes_on() {
        let user = [
            "PATH",
            "LC_ALL",
            "LCD",
            "HOME",
            "AWS_SECRET_ACCESS_KEY",
            "CODEX_HOME",
            "CODEX",
            "X",
        ];
        let user = user.map(|name| (OsString::from(name), OsString::from("value")));
        let names = ["CODEX_*", "X"].map(String::from);
        let passed = passed(user.into_iter(), names.iter());
        let names: Vec<_> = passed
            .iter()
            .filter_map(|(name, _)| name.to_str())
            .collect();
        assert_eq!(names, ["PATH", "LC_ALL", "HOME", "CODEX_HOME", "X"]);
    }
}
