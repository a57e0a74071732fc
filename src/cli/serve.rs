//! `cleo serve`, and the tokens of the server.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::screen::{Screen, Tone, dim, plain, strong};
use super::{Face, route};
use crate::clock::duration;
use crate::error::Result;
use crate::http::{Options, Server, listen, read_host, read_origin};
use crate::ops::tokens::{self, Listed, Scope, Token};

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
On this machine nobody needs a token. Under any other address everybody does: `cleo serve token create`.
The server ends at Ctrl-C or SIGTERM, after what is under way; a second one ends it at once.

Examples:
  cleo serve                                      the address is printed when it answers
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
    /// Manage the tokens with which others may call the server
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
    /// Make a token; it is printed once and kept nowhere
    #[command(after_help = "\
Examples:
  cleo serve token create                             for you, for everything
  cleo serve token create --user ann --scope write --expires 30d")]
    Create {
        /// Who calls with it: executions and conversations are this user's; you by default
        #[arg(long, value_name = "NAME")]
        user: Option<String>,

        /// What it allows: read, write, or admin, which also sees what is others'
        #[arg(long, value_name = "SCOPE", default_value = "write")]
        scope: Scope,

        /// How long it holds, such as 12h or 30d; by default until it is revoked
        #[arg(long, value_name = "TIME", value_parser = lasts)]
        expires: Option<u64>,
    },
    /// List the tokens, without what makes them such
    List,
    /// Take a token away; whoever calls with it is refused from now on
    Revoke {
        /// The token, by the id that `cleo serve token list` shows
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
                let once = "It is shown this once. Callers send it as `Authorization: Bearer …`.";
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
fn lasts(text: &str) -> std::result::Result<u64, String> {
    duration(text)
        .filter(|seconds| (1..=100 * 366 * 86_400).contains(seconds))
        .ok_or_else(|| format!("`{text}` is no time such as 12h or 30d"))
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
    screen.list(
        "no tokens",
        &["TOKEN", "USER", "SCOPE", "MADE", "ENDS"],
        rows,
    );
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
    /// The port; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 4680)]
    port: u16,

    /// The address; any but this machine's own asks for tokens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: std::net::IpAddr,

    /// Ask for tokens on this machine too, where others have accounts on it
    #[arg(long)]
    ask_token: bool,

    /// A name under which the server is called, such as that of a proxy before it, with its port
    /// where that is another; may be repeated, and asks for tokens
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// Pages of another origin that may call, such as `https://app.example.org`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// Calls a second that one caller may make for long; without it none are counted on this
    /// machine, and 100 elsewhere
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,

    /// Largest body of a request, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..))]
    max_body: u32,

    /// How many answers of models and workers are waited for at a time
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,

    /// How many seconds what is under way may take when the server is asked to end
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    grace: u16,
}

/// What is answered when the server is there.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(in crate::cli) struct Served {
    server: Place,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    url: String,
    /// Address and port.
    address: String,
    /// Whether callers need a token.
    token_needed: bool,
    pid: u32,
}

/// Calls a second that one caller from elsewhere may make for long, by default.
const RATE: u32 = 100;

fn run(face: &mut Face<'_>, arguments: ServeArguments) -> Result<ExitCode> {
    let arguments = let_in(arguments)?;
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
            .say(Tone::Good, "cleo is served at ")
            .line(Tone::Accent, &served.server.url);
        if served.server.token_needed {
            let how = "callers need a token: cleo serve token create";
            screen.line(Tone::Dim, how);
        }
    })?;
    listening.serve(&server)?;
    Ok(code)
}

fn let_in(arguments: ServeArguments) -> Result<ServeArguments> {
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
