//! Rules of what is kept beside tasks: spawns, links, gates.

use super::*;

pub(super) fn spawn() -> SpawnRecord {
    SpawnRecord {
        task: TaskId(1),
        manifest_id: "a-2026-01-26".into(),
        output_file: "claudedocs/agent-outputs/2026-01-26_a.md".into(),
        at: NOW.into(),
        receipt: serde_json::json!({"skill": "x"}),
        verified_at: None,
        output_digest: None,
        forced: None,
        mark: None,
    }
}

pub(super) fn link() -> Link {
    Link {
        task: TaskId(1),
        entry: "e".into(),
        at: NOW.into(),
    }
}

pub(super) fn gates() -> Gates {
    let json = r#"{"gates":{"testsPassed":{"passed":true,"at":"x","by":"y","agent":null,
        "forced":true,"evidence":[{"kind":"claim","at":"x","by":"y","directory":".","commit":null,"tree":null,
        "epoch":null}]}},"round":2,"failures":[]}"#;
    serde_json::from_str(json).unwrap()
}

pub(super) fn a_spawn_is_kept_once(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let mut spawn = spawn();
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put_spawn(&spawn).unwrap();
    spawn.verified_at = Some(NOW.into());
    transaction.put_spawn(&spawn).unwrap();
    let second = SpawnRecord {
        manifest_id: "a-2026-01-26-2".into(),
        ..spawn.clone()
    };
    transaction.put_spawn(&second).unwrap();
    transaction.commit().unwrap();
    let transaction = store.read().unwrap();
    assert_eq!(
        transaction.spawns(TaskId(1)).unwrap(),
        [spawn.clone(), second.clone()]
    );
    let latest = SpawnRecord {
        output_file: String::new(),
        at: String::new(),
        receipt: serde_json::Value::Null,
        ..second.clone()
    };
    assert_eq!(transaction.latest_spawn(TaskId(1)).unwrap(), Some(second));
    let verdicts = transaction.spawn_verdicts(&[TaskId(1), TaskId(9)]).unwrap();
    assert_eq!(verdicts, HashMap::from([(TaskId(1), latest)]));
    assert_eq!(
        transaction.owner_of_output(&spawn.output_file).unwrap(),
        Some(TaskId(1))
    );
    assert_eq!(transaction.owner_of_output("other").unwrap(), None);
    let others = |task: u32| transaction.entries_of_others(TaskId(task)).unwrap();
    assert_eq!((others(1).len(), others(2).len()), (0, 2));
    drop(transaction);
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put_spawn(&spawn).unwrap();
    assert_eq!(transaction.latest_spawn(TaskId(1)).unwrap(), Some(spawn));
}

pub(super) fn gates_are_kept_whole(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let gates = gates();
    let mut transaction = store.write(&stamp()).unwrap();
    assert_eq!(
        transaction.gates(TaskId(1)).unwrap(),
        crate::gate::Gates::default()
    );
    transaction.put_gates(TaskId(1), &gates).unwrap();
    transaction.put_gates(TaskId(1), &gates).unwrap();
    assert_eq!(transaction.gates(TaskId(1)).unwrap(), gates);
    let needs = r#"{"gates":{},"round":0,"failures":[],"required":["qaPassed"],
        "forced":{"at":"x","by":"y","reasons":["z"]}}"#;
    transaction
        .put_gates(TaskId(1), &serde_json::from_str(needs).unwrap())
        .unwrap();
    transaction.commit().unwrap();
    let mut transaction = store.write(&stamp()).unwrap();
    let told = transaction.changes(1, None, 10).unwrap();
    let told: Vec<&str> = told.iter().map(|each| each.change.kind.as_str()).collect();
    assert_eq!(
        told,
        ["gate", "requiredGates", "forced"],
        "what is the same is not told"
    );
    transaction.delete(TaskId(1)).unwrap();
    assert_eq!(
        transaction.gates(TaskId(1)).unwrap(),
        crate::gate::Gates::default()
    );
    for number in [2, 3, 4] {
        transaction.put(&task(number, "b")).unwrap();
    }
    for number in [2, 3] {
        transaction.put_gates(TaskId(number), &gates).unwrap();
    }
    let some = transaction.gates_of(&[2, 4, 99].map(TaskId)).unwrap();
    assert_eq!(some, HashMap::from([(TaskId(2), gates)]));
}

pub(super) fn a_link_is_new_once(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let link = link();
    let mut transaction = store.write(&stamp()).unwrap();
    assert!(transaction.link(&link).unwrap());
    assert!(!transaction.link(&link).unwrap());
    assert_eq!(transaction.links(TaskId(1)).unwrap()[0], link);
    assert_eq!(transaction.list_links_to("e").unwrap()[0], link);
    assert_eq!(transaction.list_links_to("other").unwrap(), []);
    assert!(transaction.unlink(&link).unwrap());
    assert!(!transaction.unlink(&link).unwrap());
    assert_eq!(transaction.links(TaskId(1)).unwrap(), []);
}
