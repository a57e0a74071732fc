//! The parts of a request that handlers read, and the replies that they return, each with its description in
//! `docs/openapi.json`. In the manner of axum's extractors, which handlers on blocking threads cannot be given.

use axum::http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::call::Call;
use super::fault;
use super::route::Route;
use crate::error::{Error, Result};
use crate::ops::operation::Described;

/// A function that answers a call.
pub(super) trait Handler<Signature>: Send + Sync + 'static {
    fn answer(&self, call: &Call) -> Result<Answer>;

    fn describe(route: Route) -> Route;
}

impl<F, R> Handler<(R,)> for F
where
    F: Fn(&Call) -> Result<R> + Send + Sync + 'static,
    R: Reply,
{
    fn answer(&self, call: &Call) -> Result<Answer> {
        self(call)?.answer()
    }

    fn describe(route: Route) -> Route {
        R::describe(route)
    }
}

impl<F, P, R> Handler<(P, R)> for F
where
    F: Fn(&Call, P) -> Result<R> + Send + Sync + 'static,
    P: FromCall,
    R: Reply,
{
    fn answer(&self, call: &Call) -> Result<Answer> {
        self(call, P::from_call(call)?)?.answer()
    }

    fn describe(route: Route) -> Route {
        R::describe(P::describe(route))
    }
}

/// A part of a request.
pub(super) trait FromCall: Sized {
    fn from_call(call: &Call) -> Result<Self>;

    fn describe(route: Route) -> Route;
}

/// The body: a JSON object in which no field is unknown or there twice.
pub(super) struct StrictJson<T>(pub(super) T);

impl<T: DeserializeOwned + Described> FromCall for StrictJson<T> {
    fn from_call(call: &Call) -> Result<StrictJson<T>> {
        call.body().map(StrictJson)
    }

    fn describe(route: Route) -> Route {
        route.takes::<T>()
    }
}

/// A body as in [`StrictJson`]; the default where there is none.
pub(super) struct OptionalJson<T>(pub(super) T);

impl<T: DeserializeOwned + Default + Described> FromCall for OptionalJson<T> {
    fn from_call(call: &Call) -> Result<OptionalJson<T>> {
        let body = match call.body.is_empty() {
            true => T::default(),
            false => call.body()?,
        };
        Ok(OptionalJson(body))
    }

    fn describe(route: Route) -> Route {
        route.may_take::<T>()
    }
}

/// What a handler returns.
pub(super) trait Reply {
    fn answer(self) -> Result<Answer>;

    fn describe(route: Route) -> Route;
}

/// A reply that the list of endpoints describes.
impl Reply for Answer {
    fn answer(self) -> Result<Answer> {
        Ok(self)
    }

    fn describe(route: Route) -> Route {
        route
    }
}

pub(super) struct Json<T, const STATUS: u16 = 200>(pub(super) T);

impl<T: Serialize + Described, const STATUS: u16> Reply for Json<T, STATUS> {
    fn answer(self) -> Result<Answer> {
        let status = StatusCode::from_u16(STATUS).unwrap_or_default();
        Answer::json(status, &self.0)
    }

    fn describe(route: Route) -> Route {
        route.answers::<T>(STATUS)
    }
}

/// What a check found; beside an error where it failed.
pub(super) struct Verdict<T>(pub(super) T, pub(super) Option<Error>);

impl<T: Serialize + Described> Reply for Verdict<T> {
    fn answer(self) -> Result<Answer> {
        match self.1 {
            Some(error) => fault::verdict(&self.0, &error),
            None => Answer::ok(&self.0),
        }
    }

    fn describe(route: Route) -> Route {
        route.answers::<T>(200)
    }
}
