//! The session of a page: who the caller is and what it may see. Pages sign in with a token, kept
//! in a cookie that scripts cannot read.

use axum::http::header::SET_COOKIE;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::call::Call;
use super::guard::{self, Caller, cookie_name};
use super::route::Route;
use crate::error::{Code, Error, Result};
use crate::ops::tokens::Scope;
use crate::ops::workspace::{self, Counts};

pub(super) fn routes() -> Vec<Route> {
    let routes = [
        Route::get("/api/status", status)
            .about("Returns the workspace, the caller and the number of items of each kind")
            .answers::<Standing>(200),
        Route::get("/api/session", show)
            .about("Returns the caller")
            .answers::<Signed>(200)
            .quick(),
        Route::post("/api/session", sign_in)
            .about("Signs in with a token, which is stored in a cookie")
            .takes::<Secret>()
            .answers::<Signed>(200)
            .quick()
            .open(),
        Route::delete("/api/session", sign_out)
            .about("Signs out")
            .answers::<Signed>(200)
            .quick()
            .open(),
    ];
    routes.map(|route| route.tag("server")).into()
}

/// The caller; none after signing out.
#[derive(Serialize, schemars::JsonSchema)]
struct Signed {
    session: Option<Session>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Session {
    user: String,
    /// Rights of the caller: read, write, admin.
    scopes: Vec<Scope>,
    /// Expiry of the token, if it has one.
    expires_at: Option<String>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Secret {
    token: String,
}

impl Session {
    fn for_caller(caller: &Caller) -> Session {
        Session {
            user: caller.user.clone(),
            scopes: scopes(caller),
            expires_at: caller.expires_at.clone(),
        }
    }
}

fn scopes(caller: &Caller) -> Vec<Scope> {
    let all = Scope::ALL.iter().copied();
    all.filter(|scope| *scope <= caller.scope).collect()
}

fn show(call: &Call) -> Result<Answer> {
    let session = Some(Session::for_caller(&call.caller));
    Answer::ok(&Signed { session })
}

fn sign_in(call: &Call) -> Result<Answer> {
    let Secret { token } = call.body()?;
    let caller = guard::find_caller(&call.server, token.trim())?;
    let session = Some(Session::for_caller(&caller));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !token.trim().chars().all(is_plain) {
        return Err(Error::new(Code::InputInvalid, "invalid token"));
    }
    let cookie = format!(
        "{}={}; Path=/; HttpOnly; SameSite=Strict",
        cookie_name(&call.server),
        token.trim()
    );
    Ok(Answer::ok(&Signed { session })?.header(SET_COOKIE, &cookie))
}

fn sign_out(call: &Call) -> Result<Answer> {
    let name = cookie_name(&call.server);
    let cookie = format!("{name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    Ok(Answer::ok(&Signed { session: None })?.header(SET_COOKIE, &cookie))
}

#[derive(Serialize, schemars::JsonSchema)]
struct Standing {
    status: Status,
}

/// The workspace, the caller, and the number of items of each kind.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Status {
    version: &'static str,
    workspace: Place,
    address: String,
    user: String,
    /// Whether the caller is the user of this machine.
    local: bool,
    scopes: Vec<Scope>,
    /// Whether callers need a token.
    token_needed: bool,
    counts: Counts,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Place {
    name: String,
    /// The folder; only for the user of this machine.
    root: Option<String>,
}

fn status(call: &Call) -> Result<Answer> {
    let server = &call.server;
    let mut context = call.context("status")?;
    let counts = workspace::counts(&mut context, call.visible_user())?;
    let root = server.workspace.root.canonicalize();
    let root = root.unwrap_or_else(|_| server.workspace.root.clone());
    let name = root.file_name().unwrap_or_default();
    Answer::ok(&Standing {
        status: Status {
            version: env!("CARGO_PKG_VERSION"),
            workspace: Place {
                name: name.to_string_lossy().into_owned(),
                root: call.caller.is_local.then(|| root.display().to_string()),
            },
            address: server.address.to_string(),
            user: call.user().to_string(),
            local: call.caller.is_local,
            scopes: scopes(&call.caller),
            token_needed: server.asks_tokens(),
            counts,
        },
    })
}
