//! From a request to a response: who calls, may they, what do they want, and who answers it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, CONNECTION, HeaderName,
    HeaderValue, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Response, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};
use bytes::Bytes;
use tokio::sync::OwnedSemaphorePermit;
use tower_http::catch_panic::CatchPanicLayer;
use tower_service::Service;

use super::answer::Answer;
use super::assigned;
use super::call::Call;
use super::fault::{self, Shape};
use super::guard;
use super::guard::Caller;
use super::guard::Pass;
use super::route::{self, Handler, Route, Work};

use super::server::Server;
use crate::error::{Code, Error, Result};
use crate::store::left_out;

/// Header of an answer without rows that are damaged in the database.
const DAMAGED_ROWS: &str = "cleo-damaged-rows";
/// Largest body of somebody who has not said who it is, in bytes: a token with room.
const OPEN_BODY_MAX: usize = 4_096;

pub(super) fn router(server: &Arc<Server>) -> Router {
    let mut router = Router::new();
    for route in route::all() {
        router = router.route(route.path, method(server, route));
    }
    let pages = Arc::clone(server);
    let router = router
        .method_not_allowed_fallback(|request: Request| {
            let message = "there is something under this path, but not with this method";
            let error = Error::new(Code::MethodRefused, message);
            std::future::ready(refused(&error, &request).response())
        })
        .fallback(move |request: Request| {
            let admitted = request.extensions().get::<Arc<Admitted>>();
            let is_in = admitted.is_some_and(|admitted| admitted.is_ok());
            let answer = super::pages::answer(&pages.pages, &request, is_in);
            let done = answer.unwrap_or_else(|error| fault::answer(&error, Shape::Ours));
            std::future::ready(done.response())
        });
    router.layer(CatchPanicLayer::custom(|_| {
        let message = "the server panicked in this request; its own messages say where";
        fault::answer(&Error::new(Code::Internal, message), Shape::Ours).response()
    }))
}

/// Panics in the place that a request names, for tests.
#[cfg(any(test, feature = "faults"))]
fn inject_fault(headers: &HeaderMap, place: &str) {
    let named = headers.get("cleo-fault");
    assert!(named.is_none_or(|named| named != place), "injected fault");
}

fn method(server: &Arc<Server>, route: &'static Route) -> MethodRouter {
    let filter = match route.method {
        Method::POST => MethodFilter::POST,
        Method::PUT => MethodFilter::PUT,
        Method::PATCH => MethodFilter::PATCH,
        Method::DELETE => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    };
    let server = Arc::clone(server);
    on(filter, move |request: Request| {
        answer(Arc::clone(&server), route, request)
    })
}

pub(super) async fn respond(
    server: &Arc<Server>,
    router: &Router,
    peer: IpAddr,
    mut request: Request,
) -> Response<Body> {
    let admitted = admit(server, peer, &request);
    let allowed = match &admitted {
        Ok((_, origin)) => origin.clone(),
        Err(_) => None,
    };
    let mut response = match admitted {
        Err(error) => refused(&error, &request).response(),
        Ok(_) if guard::head(&request) > guard::HEAD_MAX => {
            let message = format!("the head of a request may have {} bytes", guard::HEAD_MAX);
            let error = Error::new(Code::InputInvalid, message);
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            refused(&error, &request).under(status).response()
        }
        Ok((caller, _)) if request.method() == Method::OPTIONS && allowed.is_some() => {
            drop(caller);
            preflight()
        }
        Ok((caller, _)) => {
            request.extensions_mut().insert(caller);
            let answered = router.clone().call(request).await;
            answered.unwrap_or_else(|never| match never {})
        }
    };
    let headers = response.headers_mut();
    safe(headers);
    if let Some(origin) = allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let readable = HeaderValue::from_static(DAMAGED_ROWS);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, readable);
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
    response
}

/// Who calls; an error when that is to be told only where a caller is needed.
type Admitted = Result<Caller>;

fn admit(
    server: &Server,
    peer: IpAddr,
    request: &Request,
) -> Result<(Arc<Admitted>, Option<HeaderValue>)> {
    let headers = request.headers();
    guard::check_once(headers)?;
    let host = guard::check_host(server, headers, request.uri())?;
    let origin = guard::check_origin(server, &host, headers)?;
    let origin = origin.and_then(|origin| HeaderValue::from_str(origin).ok());
    let caller = guard::caller(server, headers);
    let who = || guard::counted(caller.as_ref().ok(), peer);
    server.rates.take(who, Instant::now())?;
    Ok((Arc::new(caller), origin))
}

async fn answer(server: Arc<Server>, route: &'static Route, request: Request) -> Response<Body> {
    let (is_near, say) = (!server.asks_tokens(), Arc::clone(&server.say));
    let done = answered(server, route, request).await;
    let done = done.map_err(fault::without_place).map_err(|error| {
        if fault::status_of(&error) == StatusCode::INTERNAL_SERVER_ERROR {
            say(&format!("{} {}: {error}", route.method, route.path));
        }
        match is_near {
            true => error,
            false => fault::hidden(error),
        }
    });
    done.unwrap_or_else(|error| fault::answer(&error, shape(route, error.code)))
        .response()
}

fn shape(route: &Route, code: Code) -> Shape {
    match code {
        Code::Unauthorized | Code::Forbidden | Code::RateLimited => route.shape.of_refusals(),
        Code::ServerBusy | Code::BodyTooLarge | Code::MediaType => route.shape.of_refusals(),
        _ => route.shape,
    }
}

async fn answered(server: Arc<Server>, route: &'static Route, request: Request) -> Result<Answer> {
    let (mut parts, body) = request.into_parts();
    let caller = caller(&parts, route)?;
    let most = match caller.user.is_empty() {
        true => server.options.max_body.min(OPEN_BODY_MAX),
        false => server.options.max_body,
    };
    let Ok(body) = tokio::time::timeout(server.options.patience, read(body, most)).await else {
        let message = "the body of the request did not come in time; send it again";
        let error = Error::new(Code::InputInvalid, message).passing(true);
        return Ok(fault::answer(&error, route.shape.of_refusals())
            .under(StatusCode::REQUEST_TIMEOUT)
            .header(CONNECTION, "close"));
    };
    let body = body?;
    // Whoever sends slowly takes no place from others.
    let permit = Arc::clone(&server.calls).try_acquire_owned();
    let permit = permit.map_err(|_| fault::busy())?;
    let names = RawPathParams::from_request_parts(&mut parts, &()).await;
    let names = names.map_err(|cause| Error::new(Code::InputInvalid, cause.body_text()))?;
    let names = names.iter();
    let call = Call {
        server,
        caller,
        parts: names
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        uri: parts.uri,
        headers: parts.headers,
        body,
    };
    if !route.takes_query {
        call.refuse_query()?;
    }
    #[cfg(any(test, feature = "faults"))]
    inject_fault(&call.headers, "task");
    match route.work {
        Work::Quick(handler) => handler(&call),
        Work::Waiting(promise) => promise(call).await,
        Work::Slow(handler) => worked(route, handler, call, permit).await,
    }
}

/// Has a call worked on where that may wait, and answers it as long as the caller is let in, if anybody has
/// to be. What was begun is carried out, whoever hears of it.
async fn worked(
    route: &'static Route,
    handler: Handler,
    call: Call,
    permit: OwnedSemaphorePermit,
) -> Result<Answer> {
    let (pass, is_let_in) = (Pass::of(&call.server, &call.headers), call.is_signed_in());
    let worked = async move {
        let place = place(route, &call.server).await?;
        let begun = tokio::task::spawn_blocking(move || {
            #[cfg(any(test, feature = "faults"))]
            inject_fault(&call.headers, "thread");
            let before = left_out::times();
            let done = handler(&call).and_then(|answer| assigned::masked(&call, answer));
            drop((place, permit));
            match left_out::times() > before {
                // Which ones it were is for the user of this machine: they may be other users'.
                true => done
                    .map(|answer| answer.header(HeaderName::from_static(DAMAGED_ROWS), "left-out")),
                false => done,
            }
        });
        begun.await.map_err(|cause| {
            Error::new(Code::Internal, "the call was not carried out").because(cause)
        })?
    };
    tokio::select! {
        done = worked => done,
        refused = pass.ended(), if is_let_in => Err(refused),
    }
}

/// Waits until a call that waits for models or workers may: whatever waits for that holds no thread.
async fn place(route: &Route, server: &Arc<Server>) -> Result<Option<OwnedSemaphorePermit>> {
    if !(route.asks)(server) {
        return Ok(None);
    }
    let place = Arc::clone(&server.answers).acquire_owned().await;
    place.map(Some).map_err(|_| fault::busy())
}

fn caller(parts: &Parts, route: &Route) -> Result<Caller> {
    let admitted = parts.extensions.get::<Arc<Admitted>>();
    let caller = match admitted.map(AsRef::as_ref) {
        Some(Ok(caller)) => caller.clone(),
        Some(Err(_)) if route.is_open => Caller {
            user: String::new(),
            scope: crate::ops::tokens::Scope::Read,
            is_local: false,
            expires_at: None,
        },
        Some(Err(error)) => {
            return Err(Error {
                fix: error.fix.clone(),
                alternatives: error.alternatives.clone(),
                ..Error::new(error.code, error.message.clone())
            });
        }
        None => return Err(Error::new(Code::Internal, "the call came past its guard")),
    };
    if !route.is_open {
        guard::check_scope(&caller, route.scope)?;
    }
    Ok(caller)
}

async fn read(body: Body, most: usize) -> Result<Bytes> {
    to_bytes(body, most).await.map_err(|cause| {
        let is_long = std::error::Error::source(&cause)
            .is_some_and(|source| source.to_string().contains("length limit"));
        let message = format!("the body of a request may have {most} bytes");
        match is_long {
            true => Error::new(Code::BodyTooLarge, message),
            false => Error::new(Code::InputInvalid, "the body of the request broke off"),
        }
    })
}

fn refused(error: &Error, request: &Request) -> Answer {
    fault::answer(error, route::refusals_at(request.uri().path()))
}

fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    for (name, value) in [
        (
            "access-control-allow-methods",
            "GET, POST, PUT, PATCH, DELETE",
        ),
        (
            "access-control-allow-headers",
            "authorization, content-type, idempotency-key, last-event-id",
        ),
        ("access-control-max-age", "600"),
    ] {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    response
}

fn safe(headers: &mut HeaderMap) {
    for (name, value) in [
        (
            "content-security-policy",
            "default-src 'none'; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        // With none at all, a browser says of forms on our own pages, too, that they come from nowhere.
        // Others are told nothing either way.
        ("referrer-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        let name = HeaderName::from_static(name);
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
}
