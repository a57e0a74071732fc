//! The HTTP API, on the same functions as the command line. One file per resource; a handler parses
//! the request, calls one function, and renders its reply. `routes` lists all endpoints, for the
//! router and for `docs/openapi.json`.

mod allowed;
mod answer;
mod assigned;
mod body;
mod call;
mod events;
mod fault;
mod guard;
mod keys;
mod listen;
mod openapi;
mod operations;
mod pages;
mod places;
mod rate;
mod respond;
mod route;
mod server;

mod agents;
mod chat;
mod executions;
mod executors;
mod plans;
mod probes;
mod query;
mod routing;
mod runs;
mod session;
mod work;

pub(crate) use allowed::{read_host, read_origin};
pub(crate) use listen::listen;
pub(crate) use server::{Options, Server};

#[cfg(test)]
mod tests;
