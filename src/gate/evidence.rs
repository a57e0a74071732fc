//! Evidence for a gate or a criterion: its origin, and whether it is still fresh.

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};
use crate::estimate::one_line;
use crate::id::digest;

/// Longest URL, in bytes.
const URL_MAX: usize = 2_000;
/// Longest line of a failed command in a message, in characters.
const LINE_MAX: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Evidence {
    #[serde(flatten)]
    pub(crate) proof: Proof,
    #[serde(flatten)]
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Proof {
    /// A command that cleo ran itself.
    Command {
        /// The words of the command.
        command: Vec<String>,
        /// Its exit code; none when it was ended or could not be started.
        exit_code: Option<i32>,
        /// How long it took, in milliseconds.
        duration_ms: u64,
        /// SHA-256 over the digests, in hex, of the bytes that cleo read from its standard output
        /// and from its standard error. These are all that it wrote when it ended by itself and
        /// left nothing running that writes; else what had come when cleo stopped reading: at the
        /// time limit, or half a second after its end.
        output_digest: String,
        last_lines: Vec<String>,
        /// True when it was ended because it took too long.
        timed_out: bool,
    },
    File {
        /// Where it is, relative to the workspace root.
        path: String,
        /// SHA-256 of its bytes.
        digest: String,
    },
    /// A commit that git has.
    Commit {
        revision: String,
        /// The full id that git resolved it to.
        id: String,
    },
    /// A place on the web, which cleo never looks at.
    Url {
        url: String,
    },
    Note {
        text: String,
    },
    /// Somebody's word, with nothing beside it.
    Claim,
}

impl Proof {
    /// Returns whether a command succeeded; anything else leaves that open.
    pub(crate) fn outcome(&self) -> Option<bool> {
        match self {
            Proof::Command { exit_code, .. } => Some(*exit_code == Some(0)),
            _ => None,
        }
    }

    /// Tells how a command failed.
    pub(crate) fn describe_end(&self) -> Option<String> {
        let Proof::Command {
            exit_code,
            output_digest,
            timed_out,
            ..
        } = self
        else {
            return None;
        };
        let how = match exit_code {
            Some(0) => return None,
            _ if *timed_out => "took too long".to_string(),
            Some(code) => format!("exited with {code}"),
            // Output of a command that ran is a digest of two digests.
            None if *output_digest == digest("") => "did not start".to_string(),
            None => "was ended by a signal".to_string(),
        };
        Some(how)
    }

    /// Tells how a command failed, with the last lines that it wrote, indented.
    pub(crate) fn describe_failure(&self) -> Option<String> {
        let Proof::Command { last_lines, .. } = self else {
            return None;
        };
        let how = self.describe_end()?;
        let lines = last_lines.iter();
        let lines = lines.map(|line| format!("\n    {}", one_line(line, LINE_MAX)));
        Some(how + &lines.collect::<String>())
    }
}

/// Where and when evidence was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Origin {
    /// Working directory, relative to the workspace root; `.` is the root.
    pub(crate) directory: String,
    /// The git worktree that has this root, if it is another one than the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    /// The git commit that was checked out, if there was one.
    pub(crate) commit: Option<String>,
    /// Digest of the files of the task before the evidence was taken; none when they could not be
    /// read.
    pub(crate) tree: Option<String>,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    pub(crate) by: String,
    /// Epoch of the claim under which it was taken, if known.
    pub(crate) epoch: Option<u32>,
}

/// Whether evidence still holds for the files as they are; of several pieces the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Freshness {
    /// Nothing has changed since.
    Fresh,
    /// It was taken where the files of the task could not be read.
    Unknown,
    Stale(Cause),
}

/// Why evidence is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    Changed,
    Unreadable,
    Elsewhere,
    /// It lacks the mark of this user.
    Foreign,
}

impl Cause {
    /// Describes it, to stand after "because".
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Cause::Changed => "files changed since",
            Cause::Unreadable => "files could not be read",
            Cause::Elsewhere => "it passed in another worktree",
            Cause::Foreign => "it was not verified in this workspace by this user on this machine",
        }
    }
}

/// The present state, to compare evidence with.
pub(crate) struct Present<'a> {
    /// Digest of the files of the task; none when they cannot be read.
    pub(crate) tree: Option<&'a str>,
    /// Reads the digest of a file; none when it is not there.
    pub(crate) file: &'a dyn Fn(&str) -> Option<String>,
    /// Returns whether evidence was taken in another place, which may differ although `tree` is the same.
    pub(crate) is_elsewhere: &'a dyn Fn(&Origin) -> bool,
}

impl Evidence {
    /// Returns whether the evidence speaks for the gate; anything but a command leaves that open.
    pub(crate) fn outcome(&self) -> Option<bool> {
        self.proof.outcome()
    }

    /// Returns whether a program can take the evidence again.
    pub(crate) fn is_proof(&self) -> bool {
        use Proof::{Command, Commit, File};
        matches!(self.proof, Command { .. } | File { .. } | Commit { .. })
    }

    /// Compares what is there now with what was there then.
    pub(crate) fn freshness(&self, present: &Present<'_>) -> Freshness {
        if let Proof::File { path, digest } = &self.proof
            && (present.file)(path).as_ref() != Some(digest)
        {
            return Freshness::Stale(Cause::Changed);
        }
        if self.is_proof() && (present.is_elsewhere)(&self.origin) {
            return Freshness::Stale(Cause::Elsewhere);
        }
        match self.origin.tree.as_deref() {
            // Taken of files that could not be read, it proves nothing of files that can.
            None if self.is_proof() && present.tree.is_some() => {
                Freshness::Stale(Cause::Unreadable)
            }
            None => Freshness::Unknown,
            then if then == present.tree => Freshness::Fresh,
            Some(_) if present.tree.is_none() => Freshness::Stale(Cause::Unreadable),
            Some(_) => Freshness::Stale(Cause::Changed),
        }
    }
}

/// Judges pieces of evidence together. Where there is proof, words beside it are remarks, which do
/// not age; words alone do.
pub(crate) fn freshness(evidence: &[Evidence], present: &Present<'_>) -> Freshness {
    let has_proof = evidence.iter().any(Evidence::is_proof);
    let deciding = evidence.iter().filter(|each| each.is_proof() || !has_proof);
    let found = deciding.map(|each| each.freshness(present)).max();
    found.unwrap_or(Freshness::Fresh)
}

/// Checks the address of a web page: http or https, a host, nothing that does not belong into an
/// address, and no name or password.
pub(crate) fn check_url(url: &str) -> Result<()> {
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let is_host = |host: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[') && host.chars().all(fits)
    };
    let plain = |c: char| c.is_ascii_graphic() && !"<>\"\\^`{|}".contains(c);
    if url.len() <= URL_MAX && url.chars().all(plain) && authority.is_some_and(is_host) {
        return Ok(());
    }
    let message = format!(
        "`{url}` is not an address of at most {URL_MAX} characters like https://ci.example/runs/1, \
         without a name or password"
    );
    Err(Error::new(Code::InputInvalid, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_proof(proof: Proof, tree: Option<&str>) -> Evidence {
        Evidence {
            proof,
            origin: Origin {
                tree: tree.map(str::to_string),
                ..Origin::default()
            },
        }
    }

    fn file(digest: &str) -> Proof {
        Proof::File {
            path: "a".into(),
            digest: digest.into(),
        }
    }

    fn note() -> Proof {
        Proof::Note { text: "x".into() }
    }

    #[test]
    fn evidence_is_as_fresh_as_stalest_piece_that_decides() {
        use Freshness::{Fresh, Unknown};
        let changed = Freshness::Stale(Cause::Changed);
        let unreadable = Freshness::Stale(Cause::Unreadable);
        for (evidence, expected) in [
            (vec![from_proof(note(), Some("now"))], Fresh),
            (vec![from_proof(note(), Some("then"))], changed),
            (vec![from_proof(note(), None)], Unknown),
            (vec![from_proof(file("f"), None)], unreadable),
            (vec![from_proof(file("f"), Some("now"))], Fresh),
            (vec![from_proof(file("g"), Some("now"))], changed),
            (
                vec![
                    from_proof(file("f"), Some("now")),
                    from_proof(note(), Some("then")),
                ],
                Fresh,
            ),
            (
                vec![
                    from_proof(file("f"), Some("now")),
                    from_proof(file("f"), Some("then")),
                ],
                changed,
            ),
            (vec![from_proof(Proof::Claim, None)], Unknown),
        ] {
            let present = Present {
                tree: Some("now"),
                file: &|path| (path == "a").then(|| "f".to_string()),
                is_elsewhere: &|_| false,
            };
            assert_eq!(freshness(&evidence, &present), expected, "{evidence:?}");
        }
        let unread = Present {
            tree: None,
            file: &|_| None,
            is_elsewhere: &|_| false,
        };
        for (then, expected) in [(Some("then"), unreadable), (None, Unknown)] {
            assert_eq!(freshness(&[from_proof(note(), then)], &unread), expected);
        }
    }

    #[test]
    fn addresses_are_those_of_web_pages() {
        for (url, is_right) in [
            ("https://ci.example/runs/1?x=%20#top", true),
            ("http://localhost:8080", true),
            ("http://[::1]/x", true),
            ("https://", false),
            ("https:///x", false),
            ("ftp://ci.example/x", false),
            ("javascript:alert(1)", false),
            ("file:///etc/passwd", false),
            ("https://me:secret@ci.example/", false),
            ("https://ci.example/a b", false),
            ("https://ci.example/\u{1b}[31m", false),
            ("https://ci.example/ü", false),
        ] {
            assert_eq!(check_url(url).is_ok(), is_right, "{url}");
        }
        assert!(check_url(&format!("https://x/{}", "y".repeat(URL_MAX))).is_err());
    }
}
