//! The address of a database and the password for it.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};

use super::{PAUSE, tls};
use crate::error::{Code, Error, Result};
use crate::store::sql::connection::Connection;
use crate::store::sql::session::explain;

/// Time limit for one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The schema of the tables, unless the options of the address name another one.
const SCHEMA_OPTION: &str = "-c search_path=cleo";

#[derive(Clone, Debug)]
pub(crate) struct Address {
    config: Config,
    /// The address as messages show it: without password and options.
    place: String,
}

impl Address {
    /// Reads an address. A password in it counts first, then that in the variable, in `PGPASSWORD`, and in the user's file
    /// of passwords.
    pub(crate) fn parse(url: &str, variable: Option<&str>) -> Result<Address> {
        let is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
        // The certificate is always checked, as libpq does with these.
        let known = url.replace("sslmode=verify-full", "sslmode=require");
        let known = known.replace("sslmode=verify-ca", "sslmode=require");
        let config = known.parse::<Config>().ok().filter(|_| is_postgres);
        let mut config = config.ok_or_else(|| {
            // The address is not shown, because it may hold a password.
            let message = "the address of the store is invalid; it has the form postgres://USER@HOST:PORT/DATABASE";
            Error::new(Code::ConfigInvalid, message)
        })?;
        let user = match config.get_user() {
            Some(user) => user.to_string(),
            None => {
                let user = env::var("PGUSER").or_else(|_| env::var("USER"));
                user.unwrap_or_else(|_| "postgres".to_string())
            }
        };
        let database = config.get_dbname().unwrap_or(&user).to_string();
        config.user(&user).dbname(&database);
        if config.get_hosts().is_empty() {
            config.host("localhost");
        }
        let options = config.get_options().unwrap_or_default().to_string();
        if !options.contains("search_path") {
            config.options(format!("{options} {SCHEMA_OPTION}").trim());
        }
        config
            .application_name("cleo")
            .connect_timeout(CONNECT_TIMEOUT);
        config.tcp_user_timeout(super::PATIENCE);
        let (host, port) = (find_host(&config), find_port(&config));
        let place = format!("postgres://{user}@{host}:{port}/{database}");
        let has_password = config.get_password().is_some();
        if !has_password
            && let Some(password) = find_password(variable, [&host, &port, &database, &user])?
        {
            config.password(password);
        }
        Ok(Address { config, place })
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn user(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// Connects; a server that refuses connections, or cannot be reached, is waited for.
    pub(super) fn connect(&self, patience: Duration) -> Result<Connection> {
        let since = Instant::now();
        loop {
            let tls = self.is_encrypted().then(tls::make_connector).transpose()?;
            let connected = match tls {
                Some(tls) => Connection::open(&self.config, tls),
                None => Connection::open(&self.config, NoTls),
            };
            let error = match connected {
                Ok(connection) => return Ok(connection),
                Err(fault) => explain(fault, &self.place),
            };
            match error.code {
                Code::StoreUnavailable if since.elapsed() < patience => thread::sleep(PAUSE),
                Code::StoreUnavailable => return Err(error),
                // Wrong user, password or database.
                _ => {
                    return Err(Error {
                        code: Code::ConfigInvalid,
                        ..error
                    });
                }
            }
        }
    }

    /// Returns whether the connection is encrypted: unless the address says otherwise, where it leaves the machine.
    fn is_encrypted(&self) -> bool {
        let is_local = |host: &Host| match host {
            Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
            Host::Unix(_) => true,
        };
        match self.config.get_ssl_mode() {
            SslMode::Disable => false,
            SslMode::Prefer => !self.config.get_hosts().iter().all(is_local),
            _ => true,
        }
    }
}

/// Returns true if an address has a password, also an empty one. The user ends at the first `@`, wherever that is.
pub(crate) fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let user = rest.split_once('@').map_or("", |(user, _)| user);
    let config = url.parse::<Config>();
    user.contains(':')
        || url.contains("password=")
        || config.is_ok_and(|config| config.get_password().is_some())
}

/// Returns an address as it is, or as messages show it if it has a password.
pub(crate) fn hide_password(url: String) -> String {
    if !has_password(&url) {
        return url;
    }
    let address = Address::parse(&url, None);
    address.map_or_else(|_| "an address with a password".into(), |it| it.place)
}

fn find_host(config: &Config) -> String {
    match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.to_string_lossy().into_owned(),
        None => "localhost".to_string(),
    }
}

fn find_port(config: &Config) -> String {
    config.get_ports().first().unwrap_or(&5432).to_string()
}

fn find_password(variable: Option<&str>, place: [&str; 4]) -> Result<Option<String>> {
    if let Some(variable) = variable {
        let message = format!("store.passwordEnv names {variable}, which is not set");
        let password = env::var(variable).map_err(|_| Error::new(Code::ConfigInvalid, message))?;
        return Ok(Some(password));
    }
    if let Ok(password) = env::var("PGPASSWORD") {
        return Ok(Some(password));
    }
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".pgpass"));
    let file = env::var_os("PGPASSFILE").map(PathBuf::from).or_else(home);
    Ok(file.and_then(|file| read_password(&file, place)))
}

/// Reads the password for host, port, database and user from a file that only its owner can read, as libpq does.
fn read_password(file: &Path, place: [&str; 4]) -> Option<String> {
    let is_private = fs::metadata(file).is_ok_and(|file| file.mode() & 0o077 == 0);
    let text = fs::read_to_string(file).ok().filter(|_| is_private)?;
    text.lines().find_map(|line| {
        let mut fields = split_fields(line).into_iter();
        let is_it = place.iter().all(|part| {
            let field = fields.next();
            field.is_some_and(|field| field == "*" || field == *part)
        });
        fields.next().filter(|_| is_it)
    })
}

/// Splits a line at its colons; one behind a backslash is part of a field.
fn split_fields(line: &str) -> Vec<String> {
    let (mut fields, mut letters) = (vec![String::new()], line.chars());
    while let Some(letter) = letters.next() {
        let letter = match letter {
            ':' => {
                fields.push(String::new());
                continue;
            }
            '\\' => letters.next().unwrap_or('\\'),
            letter => letter,
        };
        if let Some(field) = fields.last_mut() {
            field.push(letter);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn address_is_shown_without_password() {
        let address = Address::parse(
            "postgres://ada:secret@db.example:6432/work?sslmode=require",
            None,
        );
        let address = address.unwrap();
        assert_eq!(address.place(), "postgres://ada@db.example:6432/work");
        assert!(address.is_encrypted());
        for (url, is_encrypted) in [
            ("postgres://ada@db.example/work", true),
            ("postgres://ada@127.0.0.1/work", false),
            ("postgres://ada@db.example/work?sslmode=disable", false),
            ("postgres://ada@localhost/work?sslmode=verify-full", true),
        ] {
            let address = Address::parse(url, None).unwrap();
            assert_eq!(address.is_encrypted(), is_encrypted, "{url}");
        }
        for url in ["mysql://a/b", "postgres://a/b?colour=red", "host=a"] {
            let refused = Address::parse(url, None).err().unwrap();
            assert_eq!(refused.code, Code::ConfigInvalid, "{url}");
        }
    }

    #[test]
    fn password_in_address_is_found() {
        for (url, has) in [
            ("postgres://ada:secret@host/db", true),
            ("postgres://ada@host/db?password=secret", true),
            ("postgres://ada@host/db?pass%77ord=secret", true),
            ("postgres://ada:sec/ret@host/db", true),
            ("postgres://ada@host:5432/db", false),
            ("postgres://host:5432/db", false),
        ] {
            assert_eq!(has_password(url), has, "{url}");
        }
    }

    #[test]
    fn password_comes_from_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        fs::write(&file, "other:*:*:*:no\ndb:5432:*:a\\:b:p\\:q\\\\r\n").unwrap();
        let read = || read_password(&file, ["db", "5432", "work", "a:b"]);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(read(), None);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read().as_deref(), Some("p:q\\r"));
    }
}
