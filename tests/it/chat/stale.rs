//! A yes goes to what was shown: where that has changed meanwhile, it is asked for anew.

use serde_json::{Value, json};

use super::{component, design, has, say, say_in, seed, talk, tools};

#[test]
fn yes_writes_over_nothing_that_it_did_not_show() {
    let workspace = seed();
    let ask = "update component 101 title to A for client 6";
    say_in(&workspace, "a", ask);
    let other = "update component 101 title to B for client 6";
    talk(&workspace, "b", &[other, "yes"]);
    let turn = say_in(&workspace, "a", "yes");
    has(
        &turn,
        &[
            "nothing was written",
            "title is \"B\" now",
            "title to \"A\"",
            "should I proceed?",
        ],
    );
    assert_eq!(tools(&turn), [] as [&str; 0]);
    assert_eq!(turn["settled"], Value::Null);
    let change = json!({"label": "title", "before": "B", "after": "A"});
    assert_eq!(turn["pending"]["changes"], json!([change]));
    assert_eq!(component(&workspace, "6", "101")["props"]["title"], "B");
    say_in(&workspace, "a", "yes");
    assert_eq!(component(&workspace, "6", "101")["props"]["title"], "A");
}

#[test]
fn what_changed_beside_what_was_shown_is_left_alone() {
    let workspace = seed();
    let ask = "update component 101 title to A for client 6";
    say_in(&workspace, "a", ask);
    let other = "update component 101 caption to B for client 6";
    talk(&workspace, "b", &[other, "yes"]);
    say_in(&workspace, "a", "yes");
    let props = &component(&workspace, "6", "101")["props"];
    assert_eq!(
        (&props["title"], &props["caption"]),
        (&json!("A"), &json!("B"))
    );
}

#[test]
fn changed_design_is_asked_about_again() {
    let workspace = seed();
    say_in(&workspace, "a", "change button radius to full for client 6");
    let other = "change button radius to medium for client 6";
    talk(&workspace, "b", &[other, "yes"]);
    let turn = say_in(&workspace, "a", "yes");
    has(
        &turn,
        &[
            "button radius is \"medium\" now",
            "the Button Radius to full. Should I proceed?",
        ],
    );
    assert_eq!(design(&workspace, "6")["button_design"]["radius"], "medium");
    say_in(&workspace, "a", "yes");
    assert_eq!(design(&workspace, "6")["button_design"]["radius"], "full");
    let ask = "change button radius to small for client 6";
    say_in(&workspace, "a", ask);
    talk(&workspace, "b", &[ask, "yes"]);
    let turn = say_in(&workspace, "a", "yes");
    has(&turn, &["nothing was written", "That is so already"]);
    assert_eq!(
        (&turn["pending"], &turn["settled"]),
        (&Value::Null, &json!("dropped"))
    );
}

#[test]
fn deletion_reaches_no_other_component_under_same_id() {
    let workspace = seed();
    let ask = "delete component 103 for client 6";
    say_in(&workspace, "a", ask);
    let other = "add a card component 103 with title Mine for client 6";
    talk(&workspace, "b", &[ask, "yes", other, "yes"]);
    assert_eq!(component(&workspace, "6", "103")["props"]["title"], "Mine");
    let turn = say_in(&workspace, "a", "yes");
    has(
        &turn,
        &[
            "nothing was written.\nComponent 103 (cards)",
            "\"Mine\"",
            "should I proceed?",
        ],
    );
    assert_eq!(turn["pending"]["tool"], "deleteComponent");
    assert_eq!(component(&workspace, "6", "103")["props"]["title"], "Mine");
    say_in(&workspace, "a", "yes");
    assert_eq!(component(&workspace, "6", "103"), Value::Null);
    say(&workspace, "delete component 102 for client 6");
    has(&say(&workspace, "yes"), &["deleted successfully"]);
}
