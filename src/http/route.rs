//! An endpoint, as data: from one list of them come the router and the description of all.

use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;

use axum::http::Method;
#[cfg(feature = "schemas")]
use schemars::{Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::call::Call;
use super::fault::Shape;
use super::server::Server;
use super::{
    agents, around, chat, conversations, events, executions, openapi, plans, query, routing, runs,
    session, tasks, work,
};
use crate::error::Result;
use crate::ops::tokens::Scope;

pub(super) type Handler = fn(&Call) -> Result<Answer>;

pub(super) type Promise = Pin<Box<dyn Future<Output = Result<Answer>> + Send>>;

#[derive(Clone, Copy)]
pub(super) enum Work {
    /// On a thread of its own, because it waits for the disk or for others.
    Slow(Handler),
    /// At once, because it takes microseconds and waits for nothing.
    Quick(Handler),
    /// Without a thread, because all it does is wait.
    Waiting(fn(Call) -> Promise),
}

/// What can be described: whatever has a schema, which only the feature `schemas` has.
#[cfg(feature = "schemas")]
pub(super) trait Described: schemars::JsonSchema {}
#[cfg(feature = "schemas")]
impl<T: schemars::JsonSchema> Described for T {}
/// What can be described: whatever has a schema, which only the feature `schemas` has.
#[cfg(not(feature = "schemas"))]
pub(super) trait Described {}
#[cfg(not(feature = "schemas"))]
impl<T> Described for T {}

/// Makes the schema of a type.
#[cfg(feature = "schemas")]
pub(super) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// What the description says of an endpoint besides its path.
#[cfg(feature = "schemas")]
#[derive(Default)]
pub(super) struct Description {
    pub(super) query: Option<Describe>,
    pub(super) body: Option<Describe>,
    /// Whether it can be called without one.
    pub(super) is_bodiless: bool,
    /// Statuses with what is answered under them; none is no JSON, of the type that is named.
    pub(super) answers: Vec<(u16, Option<Describe>, &'static str)>,
    /// Statuses under which it refuses, besides those under which all of its kind do.
    pub(super) refusals: Vec<u16>,
}

pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) work: Work,
    pub(super) about: &'static str,
    pub(super) tag: &'static str,
    pub(super) scope: Scope,
    pub(super) shape: Shape,
    /// Whether it answers those, too, who have no token where one is needed.
    pub(super) is_open: bool,
    /// Whether something may stand in the query of its address.
    pub(super) takes_query: bool,
    /// Says whether it waits for models or workers.
    pub(super) asks: fn(&Server) -> bool,
    #[cfg(feature = "schemas")]
    pub(super) description: Description,
}

impl Route {
    pub(super) fn get(path: &'static str, handler: Handler) -> Route {
        Route::new(Method::GET, path, handler, Scope::Read)
    }

    pub(super) fn post(path: &'static str, handler: Handler) -> Route {
        Route::new(Method::POST, path, handler, Scope::Write)
    }

    pub(super) fn put(path: &'static str, handler: Handler) -> Route {
        Route::new(Method::PUT, path, handler, Scope::Write)
    }

    pub(super) fn patch(path: &'static str, handler: Handler) -> Route {
        Route::new(Method::PATCH, path, handler, Scope::Write)
    }

    pub(super) fn delete(path: &'static str, handler: Handler) -> Route {
        Route::new(Method::DELETE, path, handler, Scope::Write)
    }

    fn new(method: Method, path: &'static str, handler: Handler, scope: Scope) -> Route {
        Route {
            method,
            path,
            work: Work::Slow(handler),
            about: "",
            tag: "cleo",
            scope,
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
        if let Work::Slow(handler) = self.work {
            self.work = Work::Quick(handler);
        }
        self
    }

    pub(super) fn waiting(mut self, work: fn(Call) -> Promise) -> Route {
        self.work = Work::Waiting(work);
        self
    }

    /// Has it pass over what stands in the query of its address, as pages and what is only looked at do.
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

    /// Says what its body is.
    #[cfg_attr(
        not(feature = "schemas"),
        expect(unused_mut, reason = "only schemas describe it")
    )]
    pub(super) fn takes<T: Described>(mut self) -> Route {
        #[cfg(feature = "schemas")]
        (self.description.body = Some(|generator| generator.subschema_for::<T>()));
        self
    }

    /// Says what its body is, where it can be called without one.
    #[cfg_attr(
        not(feature = "schemas"),
        expect(unused_mut, reason = "only schemas describe it")
    )]
    pub(super) fn may_take<T: Described>(mut self) -> Route {
        #[cfg(feature = "schemas")]
        (self.description.is_bodiless = true);
        self.takes::<T>()
    }

    /// Says what it answers under a status.
    #[cfg_attr(
        not(feature = "schemas"),
        expect(unused, reason = "only schemas describe it")
    )]
    pub(super) fn answers<T: Described>(mut self, status: u16) -> Route {
        #[cfg(feature = "schemas")]
        self.description.answers.push((
            status,
            Some(|generator| generator.subschema_for::<T>()),
            super::answer::JSON,
        ));
        self
    }

    /// Says that it answers with something else than JSON.
    #[cfg_attr(
        not(feature = "schemas"),
        expect(unused, reason = "only schemas describe it")
    )]
    pub(super) fn sends(mut self, status: u16, mime: &'static str) -> Route {
        #[cfg(feature = "schemas")]
        self.description.answers.push((status, None, mime));
        self
    }

    /// Says that it refuses under a status, where others of its kind do not.
    #[cfg_attr(
        not(feature = "schemas"),
        expect(unused, reason = "only schemas describe it")
    )]
    pub(super) fn refuses(mut self, status: u16) -> Route {
        #[cfg(feature = "schemas")]
        self.description.refusals.push(status);
        self
    }
}

static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    [
        agents::routes(),
        around::routes(),
        chat::routes(),
        conversations::routes(),
        events::routes(),
        executions::routes(),
        openapi::routes(),
        plans::routes(),
        query::routes(),
        routing::routes(),
        runs::routes(),
        session::routes(),
        tasks::routes(),
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
    route.map_or(Shape::Ours, |route| route.shape.of_refusals())
}
