//! State shared by all calls: settings, open stores, agents, executors and the event feed.

use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::events::feed::Feed;
use super::executors::Executors;
use super::keys::Keys;
use super::pages::Pages;
use super::places::Places;
use super::probes::Answered;
use super::rate::Rates;
use crate::config::Settings;
use crate::error::Result;
use crate::ops::agents::{Roster, View};
use crate::ops::executions::Executor;
use crate::ops::tasks::ClaimGroups;
use crate::ops::tokens::Tokens;
use crate::ops::{Assignment, Cache, Context, Surroundings};
use crate::route::Match;
use crate::workspace::Workspace;

/// Maximum number of listeners to events, in all and of one caller.
const LISTENERS: (usize, usize) = (2_000, 256);

pub(super) type Say = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// How words match an agent.
    pub(crate) by: Match,
    /// Maximum size of a request body, in bytes.
    pub(crate) max_body: usize,
    /// Maximum number of calls at a time; more are refused.
    pub(crate) max_calls: usize,
    /// Maximum number of connections; more wait.
    pub(crate) max_connections: usize,
    /// Maximum number of model and worker calls at a time.
    pub(crate) jobs: usize,
    /// Maximum calls per second of a caller; `None` is unlimited.
    pub(crate) rate: Option<u32>,
    /// Maximum time for the head and for the body of a request.
    pub(crate) patience: Duration,
    /// Maximum time for requests in progress at shutdown.
    pub(crate) grace: Duration,
    /// Require tokens also from callers on this machine.
    pub(crate) ask_tokens: bool,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            by: Match::Token,
            max_body: 1 << 20,
            max_calls: 1_024,
            max_connections: 4_096,
            jobs: 32,
            rate: None,
            patience: Duration::from_secs(15),
            grace: Duration::from_secs(20),
            ask_tokens: false,
            hosts: Vec::new(),
            origins: Vec::new(),
        }
    }
}

impl Options {
    /// Returns whether callers need a token. A server with other host names is behind a proxy,
    /// which calls from this machine for anybody.
    fn asks_tokens(&self, address: SocketAddr) -> bool {
        !address.ip().is_loopback() || self.ask_tokens || !self.hosts.is_empty()
    }
}

pub(crate) struct Server {
    pub(super) surroundings: Surroundings,
    pub(super) settings: Settings,
    pub(super) workspace: Workspace,
    pub(super) options: Options,
    pub(super) address: SocketAddr,
    contexts: Mutex<Vec<Context>>,
    roster: Arc<Roster>,
    pub(super) cache: Arc<Cache>,
    pub(super) tokens: Mutex<Tokens>,
    pub(super) rates: Rates,
    pub(super) calls: Places<String>,
    pub(super) listeners: Places<String>,
    /// Places of calls that wait for models or workers.
    pub(super) answers: Places<String>,
    pub(super) answered: Answered,
    pub(super) keys: Keys,
    pub(super) feed: Arc<Feed>,
    pub(super) pages: Pages,
    pub(super) say: Say,
    pub(super) executors: Executors,
}

impl Server {
    pub(crate) fn open(
        surroundings: Surroundings,
        options: Options,
        address: SocketAddr,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Arc<Server>> {
        // Callers do not inherit the task that the starter of the server works on.
        let surroundings = Surroundings {
            assignment: Assignment {
                // A server of an agent has its rights.
                run: surroundings.assignment.run.clone(),
                ..Assignment::for_caller()
            },
            judges_workspace: true,
            ..surroundings
        };
        let workspace = surroundings.workspace()?;
        // A broken store is reported now and not to the first caller.
        let context = Context::open(surroundings.clone())?;
        if context.store.lacks_row_security()? {
            say(
                "the login has no right to the role cleo_server, so only cleo itself keeps rows of users apart",
            );
        }
        drop(context);
        let settings = surroundings.settings()?.clone();
        let feed = Feed::begin(&workspace)?;
        let executor = Executor::open(&surroundings, options.by)?;
        let roster = executor.roster();
        let say: Say = Arc::new(say);
        let jobs = options.jobs.max(1);
        // Where there are several users, one leaves a part to the others.
        let share = match options.asks_tokens(address) {
            true => jobs - jobs / 4,
            false => jobs,
        };
        let executors = Executors::new(executor, Places::new(jobs, share), &feed, &say);
        Ok(Arc::new(Server {
            tokens: Mutex::new(Tokens::new(&surroundings)?),
            rates: Rates::new(options.rate),
            calls: Places::new(options.max_calls, options.max_calls.div_ceil(2)),
            listeners: Places::new(LISTENERS.0, LISTENERS.1),
            answers: Places::new(jobs, share),
            answered: Answered::default(),
            keys: Keys::default(),
            contexts: Mutex::default(),
            cache: Arc::new(Cache {
                claims: Some(ClaimGroups::default()),
                ..Cache::default()
            }),
            pages: Pages::load(&workspace),
            say,
            executors,
            surroundings,
            settings,
            workspace,
            address,
            roster,
            feed,
            options,
        }))
    }

    /// Lends a context, as its last user left it, but with a store that sees all rows.
    pub(super) fn lend_context(&self) -> Result<Lent<'_>> {
        let idle = self.idle_contexts().pop();
        let open = || Context::open(self.surroundings.clone());
        let mut lent = Lent {
            server: self,
            context: Some(idle.map_or_else(open, Ok)?),
        };
        lent.act_for(None);
        Ok(lent)
    }

    fn idle_contexts(&self) -> MutexGuard<'_, Vec<Context>> {
        self.contexts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the agents of a user, or all, as the database shows them to `owner`, or to all.
    pub(super) fn agents(&self, owner: Option<&str>, user: Option<&str>) -> Result<Arc<View>> {
        let mut context = self.lend_context()?;
        context.act_for(owner);
        context.read(|transaction| self.roster.view(transaction, user))
    }

    pub(super) fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    pub(crate) fn asks_tokens(&self) -> bool {
        self.options.asks_tokens(self.address)
    }
}

/// Maximum number of idle contexts.
const IDLE_MAX: usize = 32;

/// A lent context, which returns to its server when it is dropped.
pub(super) struct Lent<'a> {
    server: &'a Server,
    context: Option<Context>,
}

impl Lent<'_> {
    /// Lets the database show only rows of a user, where it can.
    pub(super) fn act_for(&mut self, user: Option<&str>) {
        let user: Option<Arc<str>> = user.map(Arc::from);
        self.workspace.user.clone_from(&user);
        self.store.act_for(user);
    }
}

impl Deref for Lent<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.context
            .as_ref()
            .expect("it is there until it is dropped")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Context {
        self.context
            .as_mut()
            .expect("it is there until it is dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // A context in which a call panicked is not used again.
        if std::thread::panicking() {
            return;
        }
        let mut idle = self.server.idle_contexts();
        if idle.len() < IDLE_MAX {
            idle.extend(self.context.take());
        }
    }
}
