//! Tokens for the server: who may call it from elsewhere, as whom, for what and how long. They are stored
//! in the user's folder of data and not in the project, so that nothing that comes with a repository
//! can let anybody in; and only as digests, so that who reads them cannot use them.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

pub(crate) use super::Scope;
use super::Surroundings;
use super::config::lock_folder_of;
use crate::clock::timestamp;
use crate::error::{Code, Error, Result, is_visible_line, nearest, quote};
use crate::file::{create_private_folder, read_private, unwritable, write_private};
use crate::id;

/// How every token begins.
const PREFIX: &str = "cleo_";
/// Random bytes in a token.
const SECRET: usize = 32;
/// Message for a user whose data folder is unknown, with the way out.
pub(super) const NO_HOME: &str = "HOME is not set to a full path, nor is XDG_DATA_HOME; type `export HOME=FOLDER` with \
                                  that of your home folder";
/// Largest file of tokens that is read, in bytes.
const FILE_MAX: u64 = 4 << 20;
const TOKENS_MAX: usize = 1_000;
/// Longest name of a user, in characters.
const USER_MAX: usize = 100;

/// A token, without what makes it one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Token {
    /// Its name for people and commands.
    pub(crate) id: String,
    /// The user as whom callers with this token act.
    pub(crate) user: String,
    pub(crate) scope: Scope,
    /// When it was made, RFC 3339 in UTC.
    pub(crate) created_at: String,
    /// When it ends; none: when it is revoked.
    pub(crate) expires_at: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredToken {
    #[serde(flatten)]
    token: Token,
    digest: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TokenFile {
    workspace: String,
    tokens: Vec<StoredToken>,
}

/// A token that was made. Its secret is told once and stored nowhere.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Created {
    pub(crate) token: Token,
    pub(crate) secret: String,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Listed {
    /// The tokens, oldest first.
    pub(crate) tokens: Vec<Token>,
    pub(crate) total: usize,
}

/// A token that was taken away.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Revoked {
    pub(crate) token: Token,
}

/// Makes a token for a user. `lasts` is in seconds; none: until it is revoked.
pub(crate) fn create(
    surroundings: &Surroundings,
    user: &str,
    scope: Scope,
    lasts: Option<u64>,
) -> Result<Created> {
    surroundings.assignment.refuse_agent("makes no tokens")?;
    let user = user.trim();
    // `ann/x` would be an agent of `ann`.
    if !is_visible_line(user, USER_MAX) || user.contains('/') {
        let what = "visible characters without a slash";
        let message = format!("a user is one line of at most {USER_MAX} {what}");
        return Err(Error::new(Code::InputInvalid, message));
    }
    let user = user.to_string();
    let path = find_file(surroundings)?;
    let _lock = lock_tokens(&path)?;
    let mut stored = read_tokens(&path)?;
    if stored.tokens.len() >= TOKENS_MAX {
        let message = format!("there are {TOKENS_MAX} tokens, as many as there may be");
        return Err(Error::new(Code::InputInvalid, message).fix("cleo serve token list"));
    }
    let now = surroundings.clock.now();
    let lasts = lasts.and_then(|lasts| TimeDelta::try_seconds(i64::try_from(lasts).ok()?));
    let expires = lasts.and_then(|lasts| now.checked_add_signed(lasts));
    let secret = format!("{PREFIX}{}", make_secret()?);
    let token = Token {
        id: id::random().chars().take(8).collect(),
        user,
        scope,
        created_at: timestamp(now),
        expires_at: expires.map(timestamp),
    };
    stored.workspace = surroundings.workspace()?.identity();
    stored.tokens.push(StoredToken {
        token: token.clone(),
        digest: id::digest(&secret),
    });
    write_tokens(&path, &stored)?;
    Ok(Created { token, secret })
}

pub(crate) fn list(surroundings: &Surroundings) -> Result<Listed> {
    let path = find_file(surroundings)?;
    let stored = read_tokens(&path)?.tokens.into_iter();
    let tokens: Vec<Token> = stored.map(|stored| stored.token).collect();
    Ok(Listed {
        total: tokens.len(),
        tokens,
    })
}

pub(crate) fn revoke(surroundings: &Surroundings, id: &str) -> Result<Revoked> {
    surroundings
        .assignment
        .refuse_agent("takes no tokens away")?;
    let path = find_file(surroundings)?;
    let _lock = lock_tokens(&path)?;
    let mut stored = read_tokens(&path)?;
    let Some(which) = stored
        .tokens
        .iter()
        .position(|stored| stored.token.id == id)
    else {
        let error = Error::new(Code::TokenNotFound, format!("there is no token `{id}`"));
        let ids = stored.tokens.iter().map(|stored| stored.token.id.as_str());
        return Err(match nearest(id, ids) {
            Some(near) => error.did_you_mean(near).fix("cleo serve token list"),
            None => error.fix("cleo serve token list"),
        });
    };
    let token = stored.tokens.remove(which).token;
    write_tokens(&path, &stored)?;
    Ok(Revoked { token })
}

/// The tokens of a workspace, for who looks them up often: the file is read when it has changed.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    /// When the file or its permissions changed last, in seconds and nanoseconds, and its length.
    read: Option<(i64, i64, u64)>,
    stored: Vec<StoredToken>,
}

impl Tokens {
    /// Begins without having looked.
    pub(crate) fn new(surroundings: &Surroundings) -> Result<Tokens> {
        Ok(Tokens {
            path: find_file(surroundings)?,
            read: None,
            stored: Vec::new(),
        })
    }

    /// Finds the token with a secret; none when there is none, or it has ended by `now`.
    pub(crate) fn find(&mut self, secret: &str, now: &str) -> Option<&Token> {
        self.reload_if_changed();
        let digest = id::digest(secret);
        // All are compared, and each whole, so that how long it takes says nothing.
        let mut found = None;
        for stored in &self.stored {
            if is_same(&stored.digest, &digest) {
                found = Some(&stored.token);
            }
        }
        let holds = |token: &&Token| token.expires_at.as_deref().is_none_or(|end| now < end);
        found.filter(holds)
    }

    fn reload_if_changed(&mut self) {
        let described = std::fs::metadata(&self.path);
        let described = described.map(|data| (data.ctime(), data.ctime_nsec(), data.len()));
        let described = described.ok();
        if described.is_none() || described != self.read {
            // A file that cannot be read has no valid token.
            self.stored = read_tokens(&self.path)
                .map(|stored| stored.tokens)
                .unwrap_or_default();
            self.read = described;
        }
    }
}

fn is_same(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let differs = pairs.fold(0, |differs, (one, other)| differs | (one ^ other));
    differs == 0 && one.len() == other.len()
}

/// Makes a secret of 64 hexadecimal digits.
pub(super) fn make_secret() -> Result<String> {
    let mut bytes = [0; SECRET];
    getrandom::fill(&mut bytes)
        .map_err(|cause| error!(Internal, "the system has no randomness: {cause}"))?;
    Ok(id::hex(&bytes).trim_start_matches("sha256:").to_string())
}

/// Returns the file of the tokens of the workspace, and of no other one that was or will be at its place.
fn find_file(surroundings: &Surroundings) -> Result<PathBuf> {
    let folder = data_folder(&surroundings.data_home, "server-tokens")?;
    let name = file_name(surroundings.workspace()?.identity().as_bytes());
    Ok(folder.join(format!("{name}.json")))
}

/// Takes the lock of the file, so that no concurrent change is lost.
fn lock_tokens(path: &Path) -> Result<File> {
    let folder = path.parent().unwrap_or(path);
    create_private_folder(folder).map_err(|cause| unwritable(path, cause))?;
    lock_folder_of(path, "cleo serve token list")
}

fn read_tokens(path: &Path) -> Result<TokenFile> {
    if !path.exists() {
        return Ok(TokenFile::default());
    }
    let unusable = |why: String| {
        let message = format!("{} {why}", path.display());
        let place = quote(&path.to_string_lossy());
        Error::new(Code::FileUnreadable, message).fix(format!("ls -l {place}"))
    };
    let bytes = read_private(path, FILE_MAX).ok_or_else(|| {
        let why = "has no valid token, because others may have put it there: it is not a regular file of this \
                   account that is closed to others";
        unusable(why.to_string())
    })?;
    serde_json::from_slice(&bytes).map_err(|cause| unusable(format!("holds no tokens: {cause}")))
}

/// Writes the tokens where only the user can read them.
fn write_tokens(path: &Path, stored: &TokenFile) -> Result<()> {
    let text = serde_json::to_string_pretty(stored).unwrap_or_default() + "\n";
    write_private(path, &text)
}

pub(super) fn file_name(bytes: &[u8]) -> String {
    let digest = id::digest(bytes);
    digest.trim_start_matches("sha256:").to_string()
}

/// Names the file that is stored for a folder: by the bytes of its path, because two that are not UTF-8 can look the same as
/// text.
pub(super) fn default_token_path(path: &Path) -> String {
    file_name(path.as_os_str().as_encoded_bytes())
}

/// Returns a folder of the user's data.
pub(super) fn data_folder(home: &Option<PathBuf>, what: &str) -> Result<PathBuf> {
    let home = home.as_ref();
    let home = home.ok_or_else(|| {
        let message = format!("no folder is known in which {what} could be stored: {NO_HOME}");
        Error::new(Code::ConfigInvalid, message)
    })?;
    Ok(home.join("cleo").join(what))
}
