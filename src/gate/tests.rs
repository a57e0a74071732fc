use super::*;

fn record(passed: bool) -> Record {
    Record {
        passed,
        at: "2026-01-26T09:00:00.000Z".into(),
        by: "tester".into(),
        agent: None,
        forced: false,
        evidence: vec![Evidence {
            proof: Proof::Claim,
            origin: Origin::default(),
        }],
        mark: None,
    }
}

#[test]
fn gates_are_passed_in_order() {
    let mut gates = Gates::default();
    let code = |gates: &Gates, gate| gates.check("T1", gate, true, false).err().map(|e| e.code);
    assert_eq!(code(&gates, Gate::TestsPassed), Some(Code::GateOrder));
    assert_eq!(
        gates
            .check("T1", Gate::TestsPassed, true, true)
            .err()
            .map(|e| e.code),
        None
    );
    for gate in [Gate::Implemented, Gate::TestsPassed, Gate::QaPassed] {
        assert_eq!(code(&gates, gate), None);
        gates.set(gate, record(true));
    }
    assert_eq!(code(&gates, Gate::SecurityPassed), None);
    gates.set(Gate::SecurityPassed, record(true));
    assert_eq!(gates.open(), [Gate::Documented]);
    gates.set(Gate::Documented, record(true));
    assert_eq!(gates.open(), []);
}

#[test]
fn failure_clears_later_gates_and_counts_as_round() {
    let mut gates = Gates::default();
    for gate in Gate::ALL.iter().copied() {
        gates.set(gate, record(true));
    }
    gates.set(Gate::TestsPassed, record(false));
    assert_eq!(
        gates.gates.keys().copied().collect::<Vec<_>>(),
        [Gate::Implemented, Gate::TestsPassed]
    );
    assert_eq!((gates.round, gates.failures.len()), (1, 1));
    for _ in 1..ROUNDS_MAX {
        gates.set(Gate::TestsPassed, record(false));
    }
    assert_eq!((gates.round, gates.failures.len()), (ROUNDS_MAX, 5));
    assert!(gates.check("T1", Gate::TestsPassed, true, false).is_ok());
}

#[test]
fn failure_after_last_round_keeps_round_number() {
    let mut gates = Gates::default();
    for _ in 0..ROUNDS_MAX {
        gates.set(Gate::Implemented, record(false));
    }
    gates.set(Gate::Implemented, record(true));
    assert!(gates.check("T1", Gate::Implemented, false, false).is_ok());
    gates.set(Gate::Implemented, record(false));
    assert!(!gates.has_passed(Gate::Implemented));
    let rounds: Vec<u32> = gates.failures.iter().map(|failure| failure.round).collect();
    assert_eq!((gates.round, rounds), (5, vec![1, 2, 3, 4, 5, 5]));
}

#[test]
fn task_needs_only_the_gates_it_names() {
    let mut gates = Gates {
        required: BTreeSet::from([Gate::TestsPassed, Gate::CleanupDone]),
        ..Gates::default()
    };
    assert!(gates.has_gates());
    assert_eq!(gates.open(), [Gate::TestsPassed, Gate::CleanupDone]);
    assert!(gates.check("T1", Gate::TestsPassed, true, false).is_ok());
    assert!(gates.check("T1", Gate::Documented, true, false).is_err());
    gates.set(Gate::TestsPassed, record(true));
    gates.set(Gate::CleanupDone, record(true));
    assert_eq!(gates.open(), []);
}

/// One step: a gate, what it is set to, and whether by force.
fn steps() -> impl proptest::strategy::Strategy<Value = Vec<(usize, bool, bool)>> {
    use proptest::prelude::*;
    proptest::collection::vec((0..Gate::ALL.len(), any::<bool>(), any::<bool>()), 0..30)
}

proptest::proptest! {
    #[test]
    fn gates_never_pass_out_of_order_unnoticed(
        needed in proptest::collection::btree_set(0..Gate::ALL.len(), 0..4),
        steps in steps(),
    ) {
        let mut gates = Gates {
            required: needed.into_iter().map(|at| Gate::ALL[at]).collect(),
            ..Gates::default()
        };
        let mut failures = 0;
        for (at, passed, force) in steps {
            let gate = Gate::ALL[at];
            if gates.check("T1", gate, passed, force).is_err() {
                proptest::prop_assert!(passed && !force && !gates.open_before(gate).is_empty());
                continue;
            }
            let forced = passed && !gates.open_before(gate).is_empty();
            failures += usize::from(!passed);
            gates.set(gate, Record { forced, ..record(passed) });
            let mut set = gates.gates.keys();
            proptest::prop_assert!(passed || set.all(|other| *other <= gate));
            for (gate, record) in &gates.gates {
                let is_in_turn = gates.open_before(*gate).is_empty();
                proptest::prop_assert!(!record.passed || record.forced || is_in_turn);
            }
            proptest::prop_assert_eq!(gates.failures.len(), failures);
            proptest::prop_assert_eq!(gates.round as usize, failures.min(ROUNDS_MAX as usize));
        }
    }
}

#[test]
fn unknown_gates_and_agents_have_codes_of_own() {
    assert_eq!("tests-passed".parse::<Gate>().ok(), Some(Gate::TestsPassed));
    assert_eq!(
        Gate::read("testPassed").unwrap_err().code,
        Code::GateUnknown
    );
    assert!(check_agent(Some("qa")).is_ok());
    assert_eq!(
        check_agent(Some("boss")).unwrap_err().code,
        Code::AgentUnknown
    );
}
