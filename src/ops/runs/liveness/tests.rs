use super::*;

#[test]
fn cancel_right_after_take_over_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut context = crate::tests::open(folder.path());
    let (clock, workspace) = (context.surroundings.clock, context.workspace.clone());
    let store = &mut context.store;
    let lock = RunLock::acquire(&workspace).unwrap();
    let run = Run::new("run_1".into(), RunKind::Tasks, "cleo", String::new());
    let mut transaction = store.write_records().unwrap();
    transaction.put_run(&run).unwrap();
    transaction.commit().unwrap();
    let ask = |store: &mut Database| {
        let mut transaction = store.write_records().unwrap();
        let (kind, detail) = RunEvent::CancelRequested { by: None }.to_parts();
        transaction.add_event("run_1", "", &kind, detail).unwrap();
        transaction.commit().unwrap();
    };
    ask(store);
    for is_asked in [false, true] {
        let taken = lock.take_over(store, &workspace, clock, "run_1", false, &|_| Ok(true));
        let mut taken = taken.unwrap().unwrap();
        lock.own(&mut taken.run);
        if is_asked {
            ask(store);
        }
        let mut journal = Journal::begin(&workspace, &taken.run, clock, store).unwrap();
        journal.set_cancel_cursor(taken.seen);
        let is_seen = journal.is_cancelled(store).unwrap();
        assert_eq!(is_seen, is_asked, "that of before was for the dead process");
    }
}
