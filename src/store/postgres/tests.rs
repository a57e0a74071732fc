//! Tests on the server that `CLEO_TEST_POSTGRES` names; without it they are skipped.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::store::conformance::RULES;

/// A database of its own, which goes when it is dropped.
pub(in crate::store) struct Scratch {
    server: Address,
    name: String,
    pub(in crate::store) address: Address,
}

impl Scratch {
    /// Makes a database; none where no server is named.
    #[allow(clippy::print_stderr, reason = "a test says that it is skipped")]
    pub(in crate::store) fn create() -> Option<Scratch> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Ok(url) = std::env::var("CLEO_TEST_POSTGRES") else {
            eprintln!("left out: PostgreSQL: CLEO_TEST_POSTGRES names no server");
            return None;
        };
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cleo_test_{}_{number}", std::process::id());
        let server = Address::parse(&url, None).unwrap();
        run(
            &server,
            &format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"),
        );
        let mut address = server.clone();
        address.config_mut().dbname(&name);
        Some(Scratch {
            server,
            name,
            address,
        })
    }

    pub(in crate::store) fn open(&self) -> PostgresStore {
        PostgresStore::create(&self.address).unwrap();
        PostgresStore::open_if_there(&self.address)
            .unwrap()
            .unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        run(
            &self.server,
            &format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
    }
}

fn run(address: &Address, sql: &str) {
    let store = PostgresStore::connect(address).unwrap();
    store.session.run_batch(sql).unwrap();
}

#[test]
fn postgres_conforms() {
    let Some(first) = Scratch::create() else {
        return;
    };
    let mut scratch = Some(first);
    for rule in RULES {
        let scratch = scratch.take().or_else(Scratch::create).unwrap();
        rule(&mut scratch.open());
    }
}

#[test]
fn newer_schema_is_refused_and_missing_one_is_none() {
    let Some(scratch) = Scratch::create() else {
        return;
    };
    assert!(
        PostgresStore::open_if_there(&scratch.address)
            .unwrap()
            .is_none()
    );
    let store = scratch.open();
    assert!(!PostgresStore::create(&scratch.address).unwrap());
    store
        .session
        .run_batch("INSERT INTO migrations (version) VALUES (99)")
        .unwrap();
    let refused = PostgresStore::open_if_there(&scratch.address)
        .err()
        .unwrap();
    assert_eq!(refused.code, Code::StoreSchema);
}

#[test]
fn lost_connection_is_made_anew_and_half_a_write_is_lost() {
    let Some(scratch) = Scratch::create() else {
        return;
    };
    let mut store = scratch.open();
    let end_others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let mut transaction = store.write_records().unwrap();
    transaction.use_agent("ada", "now").unwrap();
    run(&scratch.address, end_others);
    assert_eq!(
        transaction.commit().err().unwrap().code,
        Code::StoreUnavailable
    );
    assert_eq!(store.read().unwrap().agent_uses().unwrap(), []);
    run(&scratch.address, end_others);
    let mut transaction = store.write_records().unwrap();
    transaction.use_agent("ada", "now").unwrap();
    transaction.commit().unwrap();
    run(&scratch.address, end_others);
    assert_eq!(store.read().unwrap().agent_uses().unwrap().len(), 1);
}

#[test]
fn lost_answer_to_commit_is_asked_for() {
    let Some(scratch) = Scratch::create() else {
        return;
    };
    let store = scratch.open();
    for (end, is_committed) in [("COMMIT", true), ("ROLLBACK", false)] {
        let transaction = store.begin_write(None).unwrap();
        store.session.run_batch(end).unwrap();
        drop(transaction);
        let lost = crate::error::Error::new(Code::StoreUnavailable, "lost");
        assert_eq!(store.resolve_commit(lost).is_ok(), is_committed, "{end}");
    }
}

#[test]
fn version_changes_with_commits_of_others() {
    let Some(scratch) = Scratch::create() else {
        return;
    };
    let (store, mut other) = (scratch.open(), scratch.open());
    let (before, watched) = (store.version().unwrap(), store.watch().unwrap());
    assert_eq!(store.watch().unwrap(), watched);
    let mut transaction = other.write_records().unwrap();
    transaction.use_agent("ada", "now").unwrap();
    transaction.commit().unwrap();
    assert_ne!(store.version().unwrap(), before);
    // It is told of soon.
    while store.watch().unwrap() == watched {}
}

#[test]
fn nul_is_refused_in_texts_and_records() {
    let Some(scratch) = Scratch::create() else {
        return;
    };
    let mut store = scratch.open();
    let stamp = Stamp {
        command: "test",
        at: String::new(),
        by: String::new(),
    };
    let task = crate::store::conformance::task(1, "a\0b");
    let refused = store.write(&stamp).unwrap().insert(&task).err().unwrap();
    assert_eq!(refused.code, Code::TextControl);
    let refused = store
        .write_records()
        .unwrap()
        .use_agent("ada", "a\0b")
        .err()
        .unwrap();
    assert_eq!(refused.code, Code::TextControl);
}

#[test]
fn server_knows_whether_transaction_was_committed() {
    let Some(scratch) = Scratch::create() else {
        return;
    };
    let mut store = scratch.open();
    let lost = || Error::new(Code::StoreUnavailable, "");
    store.write_records().unwrap().commit().unwrap();
    assert!(store.resolve_commit(lost()).is_ok());
    drop(store.write_records().unwrap());
    assert!(store.resolve_commit(lost()).is_err());
}
