//! HTTP exchanges with model servers and workers. Each runs on a thread of its own, so that the caller notices
//! signals while a name is resolved or a server does not answer. Redirects are not followed.

pub(crate) mod address;
mod proxy;
mod request;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Code, Error};
use crate::runner::signals::{self, Guard};

/// How much longer than its timeout an exchange may take, to report the timeout itself.
const GRACE: Duration = Duration::from_secs(2);
/// How often to check whether cleo is asked to end.
const LOOK: Duration = Duration::from_millis(25);
/// Most parts of a response that are not read yet.
const WAITING: usize = 64;

#[derive(Clone)]
pub(crate) struct Call {
    /// Method, such as `POST`.
    pub(crate) method: &'static str,
    /// Address, `http://…` or `https://…`.
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<String>,
    pub(crate) connect_timeout: Duration,
    /// Limits the whole exchange.
    pub(crate) timeout: Duration,
    pub(crate) max_bytes: u64,
    /// Whether to refuse private addresses.
    pub(crate) public_only: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    /// When to retry: seconds or a date.
    pub(crate) retry_after: Option<String>,
}

#[derive(Debug)]
pub(crate) enum Failure {
    Fault(Fault),
    /// cleo itself: it is asked to end, or cannot start a thread.
    Own(Error),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        let message = message.into();
        Fault { kind, message }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The address, a header or the address of the proxy is invalid.
    Address,
    Dns,
    /// The address is not public, and only public ones are allowed.
    NotPublic,
    /// Nothing answered there, or not in time.
    Connect,
    Tls,
    Proxy,
    Timeout,
    TooLarge,
    /// The connection was closed before the response was complete.
    Closed,
    Protocol,
    Internal,
}

impl FaultKind {
    pub(crate) fn is_transient(self) -> bool {
        matches!(
            self,
            FaultKind::Dns | FaultKind::Connect | FaultKind::Closed | FaultKind::Proxy
        )
    }
}

/// A part of a response, in the order in which they come.
enum Part {
    Head(Head),
    Line(String),
    End(Result<(), Fault>),
}

/// Performs one exchange. `on_line` gets the body line by line, as it comes.
pub(crate) fn perform(call: &Call, on_line: &mut dyn FnMut(&Head, &str)) -> Result<Head, Failure> {
    let guard = Guard::begin().map_err(Failure::Own)?;
    let agent = request::make_agent(call).map_err(Failure::Fault)?;
    let (sender, parts) = mpsc::sync_channel(WAITING);
    let (owned, sending) = (call.clone(), agent.clone());
    let work = move || {
        let done = request::perform(&sending, &owned, &mut |part| sender.send(part).is_ok());
        // The caller no longer waits once its time is up.
        let _ = sender.send(Part::End(done));
    };
    let thread = thread::Builder::new().name("cleo-net".to_string());
    thread.spawn(work).map_err(|cause| {
        let message = format!("no thread can be started: {cause}");
        Failure::Own(Error::new(Code::Internal, message).because(cause))
    })?;
    let done = receive(&parts, call.timeout, on_line);
    // Closes the connection of a server that is still answering: it may charge for more.
    agent.shutdown();
    match guard.end() {
        Some(code) => Err(Failure::Own(signals::interruption_error(
            code,
            "cleo waited for an answer",
        ))),
        None => done.map_err(Failure::Fault),
    }
}

fn receive(
    parts: &Receiver<Part>,
    timeout: Duration,
    on_line: &mut dyn FnMut(&Head, &str),
) -> Result<Head, Fault> {
    let (begun, limit) = (Instant::now(), timeout.saturating_add(GRACE));
    let mut head = Head::default();
    loop {
        match parts.recv_timeout(LOOK) {
            Ok(Part::Head(begin)) => head = begin,
            Ok(Part::Line(line)) => on_line(&head, &line),
            Ok(Part::End(done)) => return done.map(|()| head),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Fault::new(FaultKind::Internal, "the exchange broke off"));
            }
        }
        if signals::caught_code().is_some() {
            return Err(Fault::new(FaultKind::Internal, "interrupted"));
        }
        if begun.elapsed() >= limit {
            return Err(Fault::new(FaultKind::Timeout, "time is up"));
        }
    }
}
