//! What cleo and `cleo-net` say to each other: one [`Call`] as a line on standard input, then
//! [`Line`]s on standard output, the last of which is `end` or `fault`. Pure.

use serde::{Deserialize, Serialize};

/// One request. It may hold a key, so it has no picture for logs.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Method, such as `POST`.
    pub method: String,
    /// Address, `http://…` or `https://…`.
    pub url: String,
    /// Names and values of headers.
    pub headers: Vec<(String, String)>,
    /// What is sent; none sends nothing.
    pub body: Option<String>,
    /// How long connecting may take, in milliseconds.
    pub connect_timeout_ms: u64,
    /// How long everything may take, in milliseconds.
    pub timeout_ms: u64,
    /// Most bytes of the answer's body.
    pub max_bytes: u64,
    /// Whether only an address may be called that anybody can reach: none on this machine, none in
    /// a network around it.
    pub public_only: bool,
}

/// One line of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Line {
    /// How the answer begins; comes once.
    Head(Head),
    /// More of the body, as soon as it is there. What is no UTF-8 is replaced.
    Chunk(String),
    /// The body is whole.
    End,
    /// It did not work; nothing follows.
    Fault(Fault),
}

/// How an answer begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Head {
    /// Status, such as 200.
    pub status: u16,
    /// What the body is.
    pub content_type: Option<String>,
    /// When to try again: seconds or a date.
    pub retry_after: Option<String>,
}

/// Why there is no whole answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// What happened, to follow a colon. May hold text from strangers.
    pub message: String,
}

impl Fault {
    /// Makes a fault.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        let message = message.into();
        Fault { kind, message }
    }
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FaultKind {
    /// The address, a header or the proxy's address is none.
    Address,
    /// The host has no address.
    Dns,
    /// The address is none that anybody can reach, and only such a one is allowed.
    NotPublic,
    /// Nobody answered there, or not in time.
    Connect,
    /// The connection could not be made safe.
    Tls,
    /// The proxy refused.
    Proxy,
    /// The answer was not whole in time.
    Timeout,
    /// The answer is larger than allowed.
    TooLarge,
    /// The connection was closed before the answer was whole.
    Closed,
    /// The answer is no HTTP.
    Protocol,
    /// `cleo-net` itself failed.
    Internal,
}

impl FaultKind {
    /// Says whether the same request may well succeed a moment later.
    pub fn is_passing(self) -> bool {
        matches!(
            self,
            FaultKind::Dns | FaultKind::Connect | FaultKind::Closed | FaultKind::Proxy
        )
    }
}
