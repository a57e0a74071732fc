//! Many executions in one transaction: for a server, where they come faster than a disk can be asked
//! for each to be safe.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::{Begun, Executor, Request};
use crate::error::Result;
use crate::ops::agents::{Roster, View};
use crate::store::agency::Agency;

/// A message of a user, who sees some of the agents.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Whose execution it is to be.
    pub(crate) user: String,
    /// Whose agents may be chosen besides those of everybody; none: all.
    pub(crate) only: Option<String>,
    /// The message.
    pub(crate) request: Request<'static>,
}

impl Executor {
    /// Ends executions that have begun and that nobody has to be asked for, and begins others, all in
    /// one transaction: what is returned is kept. An order that is refused does not hinder the others.
    ///
    /// Returns those that have ended, and for each order what has begun.
    pub(crate) fn advance(
        &mut self,
        roster: &Roster,
        ending: &[Begun],
        orders: &[Order],
    ) -> Result<(Vec<Begun>, Vec<Result<Begun>>)> {
        let Executor { ground, agency, .. } = self;
        let mut transaction = agency.write()?;
        let mut ended = ending.to_vec();
        for begun in &mut ended {
            if let Some(ending) = ground.ending_alone(begun) {
                ground.close(&mut *transaction, begun, ending)?;
            }
        }
        if !orders.is_empty() {
            ground.sweep(&mut *transaction)?;
        }
        let mut views: HashMap<Option<&str>, Arc<View>> = HashMap::new();
        let mut begun = Vec::with_capacity(orders.len());
        for order in orders {
            let view = match views.entry(order.only.as_deref()) {
                Entry::Occupied(view) => view.into_mut(),
                Entry::Vacant(place) => {
                    let view = roster.view(&*transaction, *place.key())?;
                    place.insert(view)
                }
            };
            begun.push(ground.begin(&mut *transaction, view, &order.user, &order.request));
        }
        transaction.commit()?;
        Ok((ended, begun))
    }

    /// Says whether an execution ends without anybody being asked.
    pub(crate) fn ends_alone(&self, begun: &Begun) -> bool {
        self.ground.ends_alone(begun)
    }
}
