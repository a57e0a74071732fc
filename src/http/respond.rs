//! From a request to a response: authentication, routing, the handler and the headers.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::{
    DefaultBodyLimit, FromRequest, FromRequestParts, RawPathParams, Request, State,
};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{Method, Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::routing::{MethodFilter, on};
use axum::{Extension, Router};
use bytes::Bytes;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;

use super::answer::Answer;
use super::assigned;
use super::call::Call;
use super::fault::{self, Shape};
use super::guard::{self, Caller, Pass};
use super::places::Place;
use super::route::{self, Respond, Route, Work};
use super::server::Server;
use crate::error::{Code, Error, Result};
use crate::ops::tokens::Scope;
use crate::store::left_out;

/// Header of a reply without rows that are damaged in the database.
const DAMAGED_ROWS: HeaderName = HeaderName::from_static("cleo-damaged-rows");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
/// Maximum size of a body without authentication, in bytes: enough for a token.
const OPEN_BODY_MAX: usize = 4_096;

#[derive(Clone)]
struct Admitted {
    /// `None` if a required token is missing.
    caller: Option<Caller>,
    limited_as: String,
}

/// Makes the router of the server. Requests have the address of their sender as an extension.
pub(super) fn router(server: &Arc<Server>) -> Router {
    let mut router = Router::new();
    for route in route::all() {
        let filter = MethodFilter::try_from(route.method.clone()).unwrap_or(MethodFilter::GET);
        let server = Arc::clone(server);
        let handler = move |request: Request| answer(Arc::clone(&server), route, request);
        router = router.route(route.path, on(filter, handler));
    }
    let pages = Arc::clone(server);
    let router = router
        .method_not_allowed_fallback(|request: Request| {
            let error = error!(MethodRefused, "this path does not support this method");
            std::future::ready(refuse(&error, &request).response())
        })
        .fallback(move |request: Request| {
            let admitted = request.extensions().get::<Admitted>();
            let is_in = admitted.is_some_and(|admitted| admitted.caller.is_some());
            let answer = super::pages::answer(&pages.pages, &request, is_in);
            let done = answer.unwrap_or_else(|error| fault::answer(&error, Shape::Ours));
            std::future::ready(done.response())
        })
        .layer(CatchPanicLayer::custom(|_| {
            let message = "internal error; see the messages of the server";
            fault::answer(&Error::new(Code::Internal, message), Shape::Ours).response()
        }));
    let router = match cors(&server.options.origins) {
        Some(cors) => router.layer(cors),
        None => router,
    };
    router.layer(from_fn_with_state(Arc::clone(server), respond))
}

/// Checks a request, passes it on with its caller, and adds security headers that the reply does
/// not set itself.
async fn respond(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<IpAddr>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let since = Instant::now();
    let mut response = match check(&server, peer, &request) {
        Ok(_) if guard::head(&request) > guard::HEAD_MAX => refuse_head(&request).response(),
        Ok(admitted) => {
            request.extensions_mut().insert(admitted);
            next.run(request).await
        }
        Err(error) => refuse(&error, &request).response(),
    };
    let policy = "default-src 'none'; frame-ancestors 'none'";
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (RESOURCE_POLICY, "same-origin"),
        (X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer`, browsers would send `Origin: null` for forms on our own pages. Other
        // origins get nothing either way.
        (REFERRER_POLICY, "same-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, policy),
    ] {
        let headers = response.headers_mut();
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    server.answered.count(response.status(), since.elapsed());
    response
}

/// Returns the layer that allows other origins, or `None` without any.
fn cors(origins: &[String]) -> Option<CorsLayer> {
    let origins = origins.iter().flat_map(|origin| origin.parse());
    let origins: Vec<HeaderValue> = origins.collect();
    let headers = ["idempotency-key", "last-event-id"].map(HeaderName::from_static);
    let cors = CorsLayer::new()
        .allow_methods([
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
        ])
        .allow_headers([&[AUTHORIZATION, CONTENT_TYPE], &headers[..]].concat())
        .expose_headers([DAMAGED_ROWS])
        .max_age(Duration::from_secs(600));
    (!origins.is_empty()).then(|| cors.allow_origin(origins))
}

/// Panics in the place that a request names, for tests.
#[cfg(any(test, feature = "faults"))]
fn inject_fault(headers: &axum::http::HeaderMap, place: &str) {
    let named = headers.get("cleo-fault");
    assert!(named.is_none_or(|named| named != place), "injected fault");
}

fn check(server: &Server, peer: IpAddr, request: &Request) -> Result<Admitted> {
    let headers = request.headers();
    guard::check_once(headers)?;
    let host = guard::check_host(server, headers, request.uri())?;
    guard::check_origin(server, &host, headers, request.uri().path())?;
    guard::check_workspace(server, headers)?;
    let caller = guard::caller(server, headers).ok();
    let limited_as = guard::limit_key(caller.as_ref(), peer);
    server.rates.count_call(&limited_as, Instant::now())?;
    Ok(Admitted { caller, limited_as })
}

async fn answer(server: Arc<Server>, route: &'static Route, request: Request) -> Response<Body> {
    let (is_near, say) = (!server.asks_tokens(), Arc::clone(&server.say));
    let done = answer_request(server, route, request).await;
    let done = done.map_err(fault::strip_place).map_err(|error| {
        if fault::status_of(&error) == StatusCode::INTERNAL_SERVER_ERROR {
            say(&format!("{} {}: {error}", route.method, route.path));
        }
        match is_near {
            true => error,
            false => fault::hide_details(error),
        }
    });
    done.unwrap_or_else(|error| fault::answer(&error, shape(route, error.code)))
        .response()
}

fn shape(route: &Route, code: Code) -> Shape {
    match code {
        Code::Unauthorized | Code::Forbidden | Code::RateLimited => route.shape.refusal_shape(),
        Code::ServerBusy | Code::BodyTooLarge | Code::MediaType => route.shape.refusal_shape(),
        _ => route.shape,
    }
}

async fn answer_request(
    server: Arc<Server>,
    route: &'static Route,
    request: Request,
) -> Result<Answer> {
    let (mut parts, body) = request.into_parts();
    let admitted = parts.extensions.remove::<Admitted>();
    let admitted = admitted.ok_or_else(|| guard::unauthorized("this request needs a token"))?;
    let (caller, limited_as) = (
        require_caller(admitted.caller, &server, &parts, route)?,
        admitted.limited_as,
    );
    let most = match caller.user.is_empty() {
        true => server.options.max_body.min(OPEN_BODY_MAX),
        false => server.options.max_body,
    };
    // A body announced as too large is refused at once.
    if body.size_hint().lower() > most as u64 {
        return Err(too_large(most));
    }
    // A limit for the whole body; a layer of tower-http would apply it to each piece.
    let Ok(body) = tokio::time::timeout(server.options.patience, read(body, most)).await else {
        let message = "timeout while reading the body of the request; send it again";
        let error = Error::new(Code::InputInvalid, message).passing(true);
        return Ok(fault::answer(&error, route.shape.refusal_shape())
            .under(StatusCode::REQUEST_TIMEOUT)
            .header(CONNECTION, "close"));
    };
    let body = body?;
    // A slow sender does not occupy a place, and what waits for nothing needs none.
    let place = match &route.work {
        Work::Quick(_) => None,
        Work::Waiting(_) | Work::Slow(_) => {
            let place = server.calls.try_take(limited_as.clone());
            Some(place.ok_or_else(fault::busy)?)
        }
    };
    let names = RawPathParams::from_request_parts(&mut parts, &()).await;
    let names = names.map_err(|cause| Error::new(Code::InputInvalid, cause.body_text()))?;
    let names = names.iter();
    let call = Call {
        server,
        caller,
        limited_as,
        parts: names
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        method: parts.method,
        uri: parts.uri,
        headers: parts.headers,
        body,
    };
    if !route.takes_query {
        call.refuse_query()?;
    }
    #[cfg(any(test, feature = "faults"))]
    inject_fault(&call.headers, "task");
    match &route.work {
        Work::Quick(respond) => respond(&call),
        Work::Waiting(promise) => promise(call).await,
        Work::Slow(respond) => work_on(route, respond, call, place).await,
    }
}

/// Runs a call on a blocking thread, and replies while the caller is authorized. Work that has
/// begun continues without a reader.
async fn work_on(
    route: &'static Route,
    respond: &'static Respond,
    call: Call,
    place: Option<Place>,
) -> Result<Answer> {
    let (pass, is_let_in) = (
        Pass::for_headers(&call.server, &call.headers),
        call.is_signed_in(),
    );
    let worked = async move {
        let job = take_model_place(route, &call).await?;
        let begun = tokio::task::spawn_blocking(move || {
            #[cfg(any(test, feature = "faults"))]
            inject_fault(&call.headers, "thread");
            let before = left_out::times();
            let done =
                respond(&call).and_then(|answer| assigned::hide_unseen_agents(&call, answer));
            drop((place, job));
            match left_out::times() > before {
                // The rows themselves are shown only to the user of this machine, because they may
                // belong to others.
                true => done.map(|answer| answer.header(DAMAGED_ROWS, "left-out")),
                false => done,
            }
        });
        begun
            .await
            .map_err(|cause| Error::new(Code::Internal, "the call failed").because(cause))?
    };
    tokio::select! {
        done = worked => done,
        refused = pass.wait_until_refused(), if is_let_in => Err(refused),
    }
}

/// Waits for a place among calls to models or workers, without holding a thread.
async fn take_model_place(route: &Route, call: &Call) -> Result<Option<Place>> {
    if !(route.asks)(&call.server) {
        return Ok(None);
    }
    let place = call.server.answers.take(call.limited_as.clone()).await;
    place.map(Some).ok_or_else(fault::busy)
}

fn require_caller(
    admitted: Option<Caller>,
    server: &Server,
    parts: &Parts,
    route: &Route,
) -> Result<Caller> {
    let caller = match admitted {
        Some(caller) => caller,
        None if route.is_open => Caller {
            user: String::new(),
            scope: Scope::Read,
            is_local: false,
            expires_at: None,
        },
        None => guard::caller(server, &parts.headers)?,
    };
    if !route.is_open {
        caller.rights().require(route.scope)?;
    }
    Ok(caller)
}

async fn read(body: Body, most: usize) -> Result<Bytes> {
    let mut request = Request::new(body);
    DefaultBodyLimit::max(most).apply(&mut request);
    let read = Bytes::from_request(request, &()).await;
    read.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(most),
        _ => Error::new(Code::InputInvalid, "the body of the request is incomplete"),
    })
}

fn too_large(most: usize) -> Error {
    let message = format!("the body of the request is larger than {most} bytes");
    Error::new(Code::BodyTooLarge, message)
}

fn refuse_head(request: &Request) -> Answer {
    let message = format!(
        "the head of the request is larger than {} bytes",
        guard::HEAD_MAX
    );
    let answer = refuse(&Error::new(Code::InputInvalid, message), request);
    answer.under(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
}

fn refuse(error: &Error, request: &Request) -> Answer {
    fault::answer(error, route::refusals_at(request.uri().path()))
}
