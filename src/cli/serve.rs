//! `cleo serve`, and the tokens of the server.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Face;
use super::agents::route;
use super::screen::{Screen, Tone, dim, plain, strong};
use crate::clock::duration;
use crate::error::Result;
use crate::http::{Options, Server, listen, read_host, read_origin};
use crate::ops::tokens::{self, Listed, Scope, Token};

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Loopback needs no token; every other address does: `cleo serve token create`. Ctrl-C or SIGTERM
stops the server after requests in progress; a second one stops it at once.

Examples:
  cleo serve                                      prints the address once it is ready
  cleo serve --port 0 --json                      any free port; the address as JSON
  cleo serve token create --user ann --scope write --expires 30d
  cleo serve --host 0.0.0.0 --allow-host cleo.example.org
  curl -s 127.0.0.1:4680/api/agents/execute -H 'content-type: application/json' -d '{\"input\":\"Solve 2x + 5 = 15\"}'"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    serve: ServeArguments,
}

#[derive(Subcommand)]
enum Command {
    /// Manage API tokens
    #[command(subcommand)]
    Token(TokenCommand),
}

pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Some(Command::Token(command)) => dispatch_token(face, command),
        None => face.run("serve", arguments.serve, run),
    }
}

#[derive(Subcommand)]
enum TokenCommand {
    /// Create a token; it is printed once and not stored
    #[command(after_help = "\
Examples:
  cleo serve token create                             for you, to read and write
  cleo serve token create --user ann --scope write --expires 30d")]
    Create {
        /// User of the token, who owns its executions and conversations [default: you]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,

        /// Scope: read, write, or admin, which includes data of other users
        #[arg(long, value_name = "SCOPE", default_value = "write")]
        scope: Scope,

        /// Lifetime, such as 12h or 30d [default: until revoked]
        #[arg(long, value_name = "TIME", value_parser = parse_lifetime)]
        expires: Option<u64>,
    },
    /// List tokens, without their secrets
    List,
    /// Revoke a token; requests with it are refused from now on
    Revoke {
        /// Id of the token, from `cleo serve token list`
        token: String,
    },
}

fn dispatch_token(face: &mut Face<'_>, command: TokenCommand) -> Result<ExitCode> {
    match command {
        TokenCommand::Create {
            user,
            scope,
            expires,
        } => face.anywhere(
            "serve.token.create",
            |around, _| {
                let user = user.as_deref().unwrap_or(&around.actor);
                tokens::create(around, user, scope, expires)
            },
            |screen, created| {
                let once = "It is not shown again. Callers send it as `Authorization: Bearer …`.";
                screen
                    .line(Tone::Strong, &created.secret)
                    .line(Tone::Dim, once);
                headline(screen, &created.token);
            },
        ),
        TokenCommand::List => {
            face.anywhere("serve.token.list", |around, _| tokens::list(around), show)
        }
        TokenCommand::Revoke { token } => face.anywhere(
            "serve.token.revoke",
            |around, _| tokens::revoke(around, &token),
            |screen, revoked| {
                screen.say(Tone::Good, "Revoked ");
                headline(screen, &revoked.token);
            },
        ),
    }
}

/// Reads a time such as `90s`, `12h`, `30d` or `4w`, in seconds.
fn parse_lifetime(text: &str) -> std::result::Result<u64, String> {
    duration(text)
        .filter(|seconds| (1..=100 * 366 * 86_400).contains(seconds))
        .ok_or_else(|| format!("invalid time `{text}`; examples: 12h, 30d"))
}

fn show(screen: &mut Screen, listed: &Listed) {
    let rows = listed.tokens.iter().map(|token| {
        [
            strong(&token.id),
            plain(&token.user),
            plain(token.scope),
            dim(&token.created_at),
            dim(token.expires_at.as_deref().unwrap_or_default()),
        ]
    });
    let head = ["TOKEN", "USER", "SCOPE", "MADE", "ENDS"];
    screen.list("no tokens", &head, rows);
}

fn headline(screen: &mut Screen, token: &Token) {
    let ends = token.expires_at.as_deref().unwrap_or("when it is revoked");
    screen.say(Tone::Strong, &token.id).line(
        Tone::Plain,
        format!("  {}  {}  ends {ends}", token.user, token.scope),
    );
}

#[derive(Args)]
pub(in crate::cli) struct ServeArguments {
    /// Port; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 4680)]
    port: u16,

    /// Address to listen on; any but loopback requires tokens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: std::net::IpAddr,

    /// Require tokens on loopback too, for machines with several users
    #[arg(long)]
    ask_token: bool,

    /// Accept this host name, such as that of a proxy, with its port if it differs; requires tokens
    /// (repeat for more)
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// Accept calls from web pages of this origin, such as `https://app.example.org` (repeat for
    /// more)
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// Maximum calls per second of each caller [default: unlimited on loopback, else 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,

    /// Maximum size of a request body in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..))]
    max_body: u32,

    /// Maximum number of model and worker calls at a time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,

    /// Seconds to wait for requests in progress when the server shuts down
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    grace: u16,
}

/// The reply once the server listens.
#[derive(Serialize, schemars::JsonSchema)]
pub(in crate::cli) struct Served {
    server: Place,
}

#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Place {
    url: String,
    /// Address and port.
    address: String,
    /// Whether callers need a token.
    token_needed: bool,
    pid: u32,
}

/// Default limit of calls per second for remote callers.
const RATE: u32 = 100;

fn run(face: &mut Face<'_>, arguments: ServeArguments) -> Result<ExitCode> {
    let arguments = read_allowed_names(arguments)?;
    let address = SocketAddr::new(arguments.host, arguments.port);
    let listening = listen(address, usize::from(arguments.jobs))?;
    let address = listening.address();
    let notes = Mutex::new(face.output.notes());
    let say = move |text: &str| {
        if let Ok(notes) = notes.lock() {
            notes.line(Tone::Warn, text);
        }
    };
    let options = options(face, arguments, address);
    let server = Server::open(face.surroundings()?, options, address, say)?;
    let place = Place {
        url: format!("http://{address}"),
        address: address.to_string(),
        token_needed: server.asks_tokens(),
        pid: std::process::id(),
    };
    let served = Served { server: place };
    let code = face.reply(&served, &[], |screen| {
        screen
            .say(Tone::Good, "Listening on ")
            .line(Tone::Accent, &served.server.url);
        if served.server.token_needed {
            let how = "callers need a token: cleo serve token create";
            screen.line(Tone::Dim, how);
        }
    })?;
    listening.serve(&server)?;
    Ok(code)
}

fn read_allowed_names(arguments: ServeArguments) -> Result<ServeArguments> {
    let hosts = arguments.allow_host.iter().map(|name| read_host(name));
    let origins = arguments.allow_origin.iter();
    let origins = origins.map(|origin| read_origin(origin));
    Ok(ServeArguments {
        allow_host: hosts.collect::<Result<_>>()?,
        allow_origin: origins.collect::<Result<_>>()?,
        ..arguments
    })
}

fn options(face: &Face<'_>, arguments: ServeArguments, address: SocketAddr) -> Options {
    let rate = (!address.ip().is_loopback()).then_some(RATE);
    Options {
        by: route::match_of(face.settings),
        max_body: arguments.max_body as usize,
        jobs: usize::from(arguments.jobs),
        rate: arguments.rate.or(rate),
        grace: Duration::from_secs(arguments.grace.into()),
        ask_tokens: arguments.ask_token,
        hosts: arguments.allow_host,
        origins: arguments.allow_origin,
        ..Options::default()
    }
}
