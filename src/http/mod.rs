//! cleo over HTTP: a face like the command line, on the same verbs. One file for each resource; a
//! handler takes apart what was asked, calls one verb, and renders what it returned. `routes` lists
//! what there is, for the router as for the description in `docs/openapi.json`.

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
mod rate;
mod respond;
mod route;
mod server;

mod agents;
mod chat;
mod executions;
mod executors;
mod plans;
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
