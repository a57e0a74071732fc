//! Endpoints as data: one list defines the router and the API description.

#![cfg_attr(
    not(feature = "schemas"),
    allow(
        clippy::extra_unused_type_parameters,
        unused_mut,
        unused_variables,
        reason = "only schemas describe endpoints"
    )
)]

use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;

use axum::http::Method;
use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::call::Call;
use super::fault::Shape;
use super::server::Server;
use super::{
    agents, chat, events, executions, openapi, operations, plans, probes, query, routing, runs,
    session, work,
};
use crate::error::Result;
#[cfg(feature = "schemas")]
use crate::ops::operation::Describe;
#[cfg(all(test, feature = "schemas"))]
use crate::ops::operation::Facts;
use crate::ops::operation::{Described, Frame, Operation};
use crate::ops::tokens::Scope;

/// A function that answers a call.
pub(super) type Respond = Box<dyn Fn(&Call) -> Result<Answer> + Send + Sync>;

pub(super) type Promise = Pin<Box<dyn Future<Output = Result<Answer>> + Send>>;

pub(super) enum Work {
    /// On a blocking thread, because it waits for the disk or for others.
    Slow(Respond),
    /// Inline, because it takes microseconds.
    Quick(Respond),
    /// Async, because it only waits.
    Waiting(fn(Call) -> Promise),
}

#[cfg(feature = "schemas")]
#[derive(Default)]
pub(super) struct Description {
    pub(super) query: Option<Describe>,
    pub(super) body: Option<Describe>,
    /// Whether the body is optional.
    pub(super) is_bodiless: bool,
    /// Statuses with their replies; `None` is not JSON but the named type.
    pub(super) answers: Vec<(u16, Option<Describe>, &'static str)>,
    /// Statuses of errors, besides those common to all endpoints of this kind.
    pub(super) refusals: Vec<u16>,
    /// The operation of the table.
    #[cfg(test)]
    pub(super) row: Option<Row>,
}

/// An operation without its types.
#[cfg(all(test, feature = "schemas"))]
pub(super) struct Row {
    pub(super) facts: &'static Facts,
    pub(super) request_name: std::borrow::Cow<'static, str>,
    pub(super) request: Describe,
    pub(super) reply: Describe,
}

pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) work: Work,
    pub(super) about: &'static str,
    pub(super) tag: &'static str,
    pub(super) scope: Scope,
    pub(super) shape: Shape,
    /// Whether it needs no token.
    pub(super) is_open: bool,
    /// Whether query parameters are allowed.
    pub(super) takes_query: bool,
    /// Returns whether the endpoint waits for models or workers.
    pub(super) asks: fn(&Server) -> bool,
    #[cfg(feature = "schemas")]
    pub(super) description: Description,
}

impl Route {
    pub(super) fn for_operation<Request: Described, Reply: Described>(
        operation: &'static Operation<Request, Reply>,
        answer: impl Fn(&Call) -> Result<Answer> + Send + Sync + 'static,
    ) -> Route {
        let facts = &operation.facts;
        let (method, path) = facts.address.split_once(' ').unwrap_or_default();
        let method = Method::from_bytes(method.as_bytes()).unwrap_or_default();
        let tag = path.trim_start_matches("/api/").split('/').next();
        let mut route = Route::new(method, path, Work::Slow(Box::new(answer)));
        route.takes_query = !operations::has_body(&route.method);
        if facts.asks {
            route.asks = |_| true;
        }
        #[cfg(feature = "schemas")]
        {
            route.description.is_bodiless = true;
            let has_body = operations::has_body(&route.method);
            route.description.body = has_body.then_some(Request::json_schema as Describe);
            if facts.is_versioned {
                route.description.answers.push((304, None, ""));
            }
            #[cfg(test)]
            (route.description.row = Some(Row {
                facts,
                request_name: Request::schema_name(),
                request: Request::json_schema,
                reply: |generator| generator.subschema_for::<Reply>(),
            }));
        }
        if facts.frame != Frame::Ours {
            route.shape = Shape::Success;
        }
        route
            .about(facts.about)
            .tag(tag.unwrap_or_default())
            .scope(facts.scope)
    }

    pub(super) fn get(path: &'static str, respond: fn(&Call) -> Result<Answer>) -> Route {
        Route::new(Method::GET, path, Work::Slow(Box::new(respond))).scope(Scope::Read)
    }

    pub(super) fn post(path: &'static str, respond: fn(&Call) -> Result<Answer>) -> Route {
        Route::new(Method::POST, path, Work::Slow(Box::new(respond)))
    }

    pub(super) fn delete(path: &'static str, respond: fn(&Call) -> Result<Answer>) -> Route {
        Route::new(Method::DELETE, path, Work::Slow(Box::new(respond)))
    }

    /// Makes an endpoint whose handler only waits.
    pub(super) fn waiting(method: Method, path: &'static str, work: fn(Call) -> Promise) -> Route {
        Route::new(method, path, Work::Waiting(work))
    }

    fn new(method: Method, path: &'static str, work: Work) -> Route {
        Route {
            method,
            path,
            work,
            about: "",
            tag: "cleo",
            scope: Scope::Write,
            shape: Shape::Ours,
            is_open: false,
            takes_query: false,
            asks: |_| false,
            #[cfg(feature = "schemas")]
            description: Description::default(),
        }
    }

    pub(super) fn about(mut self, about: &'static str) -> Route {
        self.about = about;
        self
    }

    pub(super) fn tag(mut self, tag: &'static str) -> Route {
        self.tag = tag;
        self
    }

    pub(super) fn scope(mut self, scope: Scope) -> Route {
        self.scope = scope;
        self
    }

    pub(super) fn errors(mut self, shape: Shape) -> Route {
        self.shape = shape;
        self
    }

    pub(super) fn open(mut self) -> Route {
        self.is_open = true;
        self
    }

    /// Says when it waits for models or workers. So many calls do at a time as the server allows; others
    /// wait for their turn without a thread.
    pub(super) fn asks(mut self, asks: fn(&Server) -> bool) -> Route {
        self.asks = asks;
        self
    }

    /// Has it worked on at once: it takes microseconds and waits for nothing.
    pub(super) fn quick(mut self) -> Route {
        if let Work::Slow(respond) = self.work {
            self.work = Work::Quick(respond);
        }
        self
    }

    /// Ignores query parameters, as pages do.
    pub(super) fn page(mut self) -> Route {
        self.takes_query = true;
        self
    }

    pub(super) fn query<T: DeserializeOwned + Described>(mut self) -> Route {
        self.takes_query = true;
        #[cfg(feature = "schemas")]
        (self.description.query = Some(|generator| T::json_schema(generator)));
        self
    }

    pub(super) fn takes<T: Described>(mut self) -> Route {
        #[cfg(feature = "schemas")]
        (self.description.body = Some(|generator| generator.subschema_for::<T>()));
        self
    }

    /// Says that it can be called without a body.
    pub(super) fn or_nothing(mut self) -> Route {
        #[cfg(feature = "schemas")]
        (self.description.is_bodiless = true);
        self
    }

    pub(super) fn answers<T: Described>(mut self, status: u16) -> Route {
        #[cfg(feature = "schemas")]
        self.description.answers.push((
            status,
            Some(|generator| generator.subschema_for::<T>()),
            super::answer::JSON,
        ));
        self
    }

    /// Describes an answer that is not JSON.
    pub(super) fn sends(mut self, status: u16, mime: &'static str) -> Route {
        #[cfg(feature = "schemas")]
        self.description.answers.push((status, None, mime));
        self
    }

    /// Adds a status under which it refuses and others of its kind do not.
    pub(super) fn refuses(mut self, status: u16) -> Route {
        #[cfg(feature = "schemas")]
        self.description.refusals.push(status);
        self
    }
}

static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    [
        agents::routes(),
        chat::routes(),
        events::routes(),
        executions::routes(),
        openapi::routes(),
        operations::routes(),
        plans::routes(),
        probes::routes(),
        query::routes(),
        routing::routes(),
        runs::routes(),
        session::routes(),
        work::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
});

pub(super) fn all() -> &'static [Route] {
    &ROUTES
}

pub(super) fn refusals_at(path: &str) -> Shape {
    let route = all().iter().find(|route| route.path == path);
    route.map_or(Shape::Ours, |route| route.shape.refusal_shape())
}
