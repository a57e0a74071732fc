//! Which addresses anybody can reach, and which lie on this machine or in a network around it. The
//! check is made on the very addresses that a connection is then made to, so that a name that is
//! looked up again cannot lead elsewhere.

use std::fmt;

use cleo::exchange::is_public;
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

#[derive(Debug, Default)]
pub(crate) struct PublicOnly(DefaultResolver);

#[derive(Debug)]
pub(crate) struct NotPublic;

impl fmt::Display for NotPublic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the address is not a public one")
    }
}

impl std::error::Error for NotPublic {}

impl Resolver for PublicOnly {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.0.resolve(uri, config, timeout)?;
        match found.iter().all(|place| is_public(place.ip())) {
            true => Ok(found),
            false => Err(Error::Other(Box::new(NotPublic))),
        }
    }
}
