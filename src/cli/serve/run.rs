//! `cleo serve`

use clap::Args;
#[cfg(any(test, feature = "server"))]
use serde::Serialize;

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

#[cfg(any(test, feature = "server"))]
/// What is answered when the server is there.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[cfg_attr(
    not(feature = "server"),
    expect(dead_code, reason = "cleo-server answers it")
)]
pub(in crate::cli) struct Served {
    server: Place,
}

#[cfg(any(test, feature = "server"))]
/// Where the server is.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    /// What to open.
    url: String,
    /// Address and port.
    address: String,
    /// Whether callers need a token.
    token_needed: bool,
    /// Number of the process.
    pid: u32,
}

#[cfg(feature = "server")]
pub(in crate::cli) use serving::run;

/// Without the server there is only the program beside.
#[cfg(not(feature = "server"))]
pub(in crate::cli) fn run(
    face: &mut crate::cli::Face<'_>,
    _: ServeArguments,
) -> crate::error::Result<std::process::ExitCode> {
    let server = crate::cli::beside::SERVER;
    Err(crate::cli::beside::hand_over(server, face.arguments))
}

#[cfg(feature = "server")]
mod serving {
    use std::net::SocketAddr;
    use std::process::ExitCode;
    use std::sync::Mutex;
    use std::time::Duration;

    use super::{Place, ServeArguments, Served};
    use crate::cli::screen::Tone;
    use crate::cli::{Face, route};
    use crate::error::Result;
    use crate::http::{Options, Server, allowed_host, allowed_origin, listen};

    /// Calls a second that one caller from elsewhere may make for long, unless told.
    const RATE: u32 = 100;

    /// Starts the server, says where it is, and answers until it is asked to end.
    pub(in crate::cli) fn run(face: &mut Face<'_>, arguments: ServeArguments) -> Result<ExitCode> {
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
        let settings = face.settings.clone();
        let server = Server::open(face.surroundings()?, settings, options, address, say)?;
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

    /// Reads the names and origins that are let in.
    fn let_in(arguments: ServeArguments) -> Result<ServeArguments> {
        let hosts = arguments.allow_host.iter().map(|name| allowed_host(name));
        let origins = arguments.allow_origin.iter();
        let origins = origins.map(|origin| allowed_origin(origin));
        Ok(ServeArguments {
            allow_host: hosts.collect::<Result<_>>()?,
            allow_origin: origins.collect::<Result<_>>()?,
            ..arguments
        })
    }

    fn options(face: &Face<'_>, arguments: ServeArguments, address: SocketAddr) -> Options {
        let (by, min_margin) = route::set(face.settings);
        let rate = (!address.ip().is_loopback()).then_some(RATE);
        Options {
            by,
            min_margin,
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
}
