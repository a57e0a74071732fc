//! Performs one request with ureq and passes the response on as it comes.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use ureq::config::Config;
use ureq::http::{HeaderMap, Request, Response, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body, Error, Proxy, Timeout};

use super::address::is_public;
use super::proxy::choose_proxy;
use super::{Call, Fault, FaultKind, Head, Part};

/// Longest text of a fault that is passed on, in characters.
const WORDS_MAX: usize = 300;

/// Passes a part on; returns false if the reader is gone.
type PassOn<'a> = dyn FnMut(Part) -> bool + 'a;

/// Performs a request. Everything before the fault, if there is one, has been passed on.
pub(super) fn perform(agent: &Agent, call: &Call, pass_on: &mut PassOn<'_>) -> Result<(), Fault> {
    let response = send(agent, call).map_err(fault)?;
    let head = read_head(response.status().as_u16(), response.headers());
    if !pass_on(Part::Head(head)) {
        return Ok(());
    }
    let body = response.into_body().into_with_config().limit(u64::MAX);
    stream(body.reader(), call.max_bytes, pass_on)
}

/// Passes a body on line by line, so that no character is cut. An empty text is its end.
fn stream(body: impl Read, max: u64, pass_on: &mut PassOn<'_>) -> Result<(), Fault> {
    let mut body = BufReader::new(body.take(max.saturating_add(1)));
    let mut total = 0;
    loop {
        let mut line = Vec::new();
        let read = body.read_until(b'\n', &mut line);
        let read = read.map_err(|cause| fault(Error::from(cause)))?;
        total += read as u64;
        if total > max {
            let message = format!("the answer is larger than {max} bytes");
            return Err(Fault::new(FaultKind::TooLarge, message));
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        if !pass_on(Part::Line(line)) || read == 0 {
            return Ok(());
        }
    }
}

pub(super) fn make_agent(call: &Call) -> Result<Agent, Fault> {
    let uri = call.url.parse::<Uri>();
    let uri = uri.map_err(|_| Fault::new(FaultKind::Address, "the address is invalid"))?;
    let is_https = uri.scheme_str() == Some("https");
    // A proxy would resolve the name itself, maybe to a private address.
    let proxy = match call.public_only {
        true => None,
        false => {
            let host = uri.host().unwrap_or_default();
            let address = choose_proxy(is_https, host, |name| std::env::var(name).ok());
            // The address is not repeated: it may hold a password.
            let refused = |_| Fault::new(FaultKind::Address, "the address of the proxy is invalid");
            let proxy = address.map(|address| Proxy::new(address.trim()).map_err(refused));
            proxy.transpose()?
        }
    };
    // Where both end together, the whole exchange took too long.
    let connect = Some(call.connect_timeout).filter(|connect| *connect < call.timeout);
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("cleo/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .proxy(proxy)
        .tls_config(TlsConfig::builder().root_certs(roots(is_https)).build())
        .timeout_connect(connect)
        .timeout_global(Some(call.timeout));
    let config = config.build();
    Ok(match call.public_only {
        true => Agent::with_parts(config, DefaultConnector::default(), PublicOnly::default()),
        false => config.new_agent(),
    })
}

/// Returns the certificates of the machine (or of `SSL_CERT_FILE` and `SSL_CERT_DIR`), else Mozilla's.
fn roots(is_https: bool) -> RootCerts {
    if !is_https {
        return RootCerts::WebPki;
    }
    let found = rustls_native_certs::load_native_certs().certs;
    match found.is_empty() {
        true => RootCerts::WebPki,
        false => found
            .iter()
            .map(|one| Certificate::from_der(one).to_owned())
            .into(),
    }
}

fn send(agent: &Agent, call: &Call) -> Result<Response<Body>, Error> {
    let mut request = Request::builder().method(call.method).uri(&call.url);
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    match &call.body {
        Some(body) => agent.run(request.body(body.as_str())?),
        None => agent.run(request.body(())?),
    }
}

fn read_head(status: u16, headers: &HeaderMap) -> Head {
    let text = |name| headers.get(name)?.to_str().ok().map(shorten);
    Head {
        status,
        content_type: text("content-type"),
        retry_after: text("retry-after"),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(WORDS_MAX).collect()
}

/// Returns what kind of fault it is. Nothing of the request is repeated.
fn fault(error: Error) -> Fault {
    let (kind, message) = match error {
        Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            (FaultKind::Connect, "it did not answer in time".to_string())
        }
        Error::Timeout(_) => (FaultKind::Timeout, "time is up".to_string()),
        Error::HostNotFound => (FaultKind::Dns, "the host has no address".to_string()),
        Error::Other(cause) if cause.is::<NotPublic>() => (FaultKind::NotPublic, cause.to_string()),
        Error::ConnectionFailed => (FaultKind::Connect, "it cannot be reached".to_string()),
        Error::ConnectProxyFailed(why) => (FaultKind::Proxy, format!("the proxy refused: {why}")),
        Error::InvalidProxyUrl => (
            FaultKind::Address,
            "the address of the proxy is invalid".to_string(),
        ),
        Error::BadUri(_) | Error::Http(_) => (
            FaultKind::Address,
            "the address or a header is invalid".to_string(),
        ),
        Error::Tls(why) => (FaultKind::Tls, why.to_string()),
        Error::Rustls(cause) => (FaultKind::Tls, cause.to_string()),
        Error::Io(cause) => {
            use io::ErrorKind::*;
            let kind = match cause.kind() {
                InvalidData => FaultKind::Tls,
                UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe => {
                    FaultKind::Closed
                }
                _ => FaultKind::Connect,
            };
            (kind, cause.to_string())
        }
        other => (FaultKind::Protocol, other.to_string()),
    };
    Fault::new(kind, shorten(&message))
}

#[derive(Debug, Default)]
struct PublicOnly(DefaultResolver);

#[derive(Debug)]
struct NotPublic;

impl fmt::Display for NotPublic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the address is not a public one")
    }
}

impl std::error::Error for NotPublic {}

impl Resolver for PublicOnly {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        match found.iter().all(|place| is_public(place.ip())) {
            true => Ok(found),
            false => Err(Error::Other(Box::new(NotPublic))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_apart() {
        let io = |kind: io::ErrorKind| Error::Io(io::Error::from(kind));
        for (error, kind) in [
            (Error::HostNotFound, FaultKind::Dns),
            (Error::Timeout(Timeout::Global), FaultKind::Timeout),
            (Error::Timeout(Timeout::Connect), FaultKind::Connect),
            (io(io::ErrorKind::ConnectionRefused), FaultKind::Connect),
            (io(io::ErrorKind::ConnectionReset), FaultKind::Closed),
            (io(io::ErrorKind::UnexpectedEof), FaultKind::Closed),
            (io(io::ErrorKind::InvalidData), FaultKind::Tls),
            (Error::ConnectProxyFailed("407".into()), FaultKind::Proxy),
            (Error::InvalidProxyUrl, FaultKind::Address),
            (Error::LargeResponseHeader(2, 1), FaultKind::Protocol),
            (Error::Other(Box::new(NotPublic)), FaultKind::NotPublic),
        ] {
            assert_eq!(fault(error).kind, kind);
        }
    }
}
