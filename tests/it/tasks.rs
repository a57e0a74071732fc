//! The life of a task, on the command line.

use crate::world::TestWorkspace;

#[test]
fn a_task_is_added_and_shown() {
    let workspace = TestWorkspace::new();
    insta::assert_snapshot!(workspace.cleo("add 'Research token refresh' --label research"));
    insta::assert_snapshot!(workspace.cleo("show T1"));
}
