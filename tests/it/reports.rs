//! Runs written down: a page for people, JUnit XML and words for GitHub Actions.

use serde_json::Value;

use crate::plan_runs;
use crate::running::{plan_epic, run};
use crate::world::{Reply, TestWorkspace, document, expect_exit, play_command};

fn id(result: &Value) -> String {
    result["run"]["id"].as_str().unwrap().to_string()
}

/// Runs an epic whose third task fails, in CI.
fn in_ci(workspace: &TestWorkspace, more: &[&str]) -> Reply {
    let mut words = play_command("T2 T3 T4", "works");
    words.extend(more.iter().map(|word| word.to_string()));
    let mut command = workspace.command(&words);
    command.env("GITHUB_STEP_SUMMARY", workspace.path("summary.md"));
    command.env("GITHUB_OUTPUT", workspace.path("outputs"));
    workspace.finish(command, "")
}

#[test]
fn run_is_written_as_one_page_that_needs_nothing_else() {
    let workspace = plan_epic();
    workspace.ok("update T2 --title '<script>alert(1)</script>'");
    let result = expect_exit(run(&workspace, "--epic T1", "works"), 0);
    let id = id(&result);
    let shown = workspace.json(&["runs", "show", &id, "--html", "report.html"]);
    assert_eq!(shown["result"]["run"]["id"], *id);
    let page = workspace.read("report.html");
    for part in [
        "<h2>Graph</h2>",
        "<h2>Tasks</h2>",
        "<h2>Evidence</h2>",
        "&lt;script&gt;",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<script"), "{page}");
    let own = ["runs", "show", &id, "--html", ".cleo/cleo.db"];
    let refused = workspace.json(&own);
    assert_eq!(refused["success"], false, "{refused}");
    assert_eq!(
        refused["error"]["alternatives"][0]["command"],
        "cleo runs show --help"
    );
    assert_eq!(workspace.ask("list")["success"], true);
    // Only an earlier page is replaced.
    workspace.write("code.html", "mine");
    let id = format!("runs show {id} --html");
    workspace.refuse(format!("{id} code.html"), "E_EXISTS");
    assert_eq!(workspace.read("code.html"), "mine");
    workspace.ok(&format!("{id} report.html"));
}

#[test]
fn page_graph_has_the_status_of_tasks() {
    let workspace = plan_epic();
    let (_, result) = run(&workspace, "T2 T3", "lies");
    workspace.ok(&format!("runs show {} --html report.html", id(&result)));
    let page = workspace.read("report.html");
    for task in result["tasks"].as_array().unwrap() {
        let [id, title, state] =
            ["taskId", "title", "state"].map(|name| task[name].as_str().unwrap());
        let shown = format!("<title>{id} {title}: {state}</title>");
        assert!(page.contains(&shown), "{shown}\n{page}");
    }
    for state in ["failed", "skipped"] {
        let key = format!("fill=\"#475569\">{state}</text>");
        assert!(page.contains(&key), "{page}");
    }
}

const PLAN: &str = "goal: Compare
steps:
  - {id: look, title: '<b>Look</b>', capability: planner, instruction: begin}
  - {id: judge, capability: summarizer, instruction: judge, dependsOn: [look]}
  - {id: tell, capability: planner, instruction: end, dependsOn: [judge]}
";

#[test]
fn plan_report_has_worker_results() {
    let workers: [(&str, &[&str]); 2] = [("planner", &["seen"]), ("summarizer", &["!boom"])];
    let workspace = plan_runs::world(&workers).with("plan.yaml", PLAN);
    let reply = workspace.fails("plan run plan.yaml", "E_STEPS_FAILED");
    let id = id(&reply["result"]);
    workspace.ok(&format!("runs show {id} --html plan.html"));
    let page = workspace.read("plan.html");
    for part in [
        "<p class=\"dim\">the-planner (look)</p>\n<pre>[planner] seen</pre>",
        "<code>agentComplete</code>",
        "boom",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<b>Look"), "{page}");
    assert!(!page.contains("<h2>Graph</h2>"), "{page}");
}

#[test]
fn routed_message_has_page_too() {
    let workspace = TestWorkspace::new();
    let reply = workspace.ask("agents execute 'Explain the Second War'");
    let id = id(&reply["result"]);
    workspace.ok(&format!("runs show {id} --html one.html"));
    let page = workspace.read("one.html");
    assert!(
        page.contains("<b>toby-technical</b>: Best match with score"),
        "{page}"
    );
    assert!(!page.contains("<h2>Graph</h2>"), "{page}");
}

#[test]
fn github_is_told_what_became_of_tasks() {
    let workspace = plan_epic();
    workspace.write("summary.md", "before\n");
    let reply = in_ci(&workspace, &["--ci", "github", "--junit", "junit.xml"]);
    assert_eq!(reply.exit, 0, "{reply}");
    let result = document(&reply)["result"].clone();
    assert_eq!(result["summary"]["done"], 3);
    assert!(
        reply.stderr.contains("::notice title=") && !reply.stderr.contains("::error"),
        "{reply}"
    );
    let summary = workspace.read("summary.md");
    assert!(summary.starts_with("before\n## ✅ cleo run"), "{summary}");
    let outputs = workspace.read("outputs");
    assert_eq!(
        outputs,
        format!("run_id={}\nok=true\nfailed=\n", id(&result))
    );
    let junit = workspace.read("junit.xml");
    assert!(junit.contains("tests=\"3\" failures=\"0\""), "{junit}");
    assert_eq!(junit.matches("<testsuite ").count(), 3, "{junit}");
}

#[test]
fn failures_are_annotated() {
    let workspace = plan_epic();
    let mut words = play_command("T2 T3", "lies");
    words.extend(["--ci", "github"].map(String::from));
    let mut command = workspace.command(&words);
    command.env("GITHUB_STEP_SUMMARY", "/nowhere/summary.md");
    let reply = workspace.finish(command, "");
    assert_eq!(reply.exit, 81, "{reply}");
    assert!(
        reply.stderr.contains("::error title=T2 E_NOT_VERIFIED%3A "),
        "{reply}"
    );
    assert!(
        reply
            .stderr
            .contains("::warning title=T3 was not begun%3A "),
        "{reply}"
    );
    let warnings = document(&reply)["warnings"].clone();
    assert_eq!(warnings.as_array().unwrap().len(), 1, "{warnings}");
    let command = workspace.command(&["run", "T99", "--command", "true", "--ci", "github"]);
    let reply = workspace.finish(command, "");
    assert!(
        reply.stderr.contains("::error title=E_TASK_NOT_FOUND::"),
        "{reply}"
    );
}

#[test]
fn unwritable_report_is_refused_before_run_starts() {
    let workspace = plan_epic();
    workspace.write("out/x", "mine");
    for (place, code) in [
        ("out/x", "E_EXISTS"),
        (".cleo/cleo.db", "E_INPUT_INVALID"),
        ("out", "E_FILE_UNWRITABLE"),
        ("gone/junit.xml", "E_FILE_UNWRITABLE"),
    ] {
        let words = ["run", "T2", "--command", "true", "--junit", place];
        workspace.expect_refusal(&words, code);
    }
    assert_eq!(workspace.ask("runs list")["result"]["total"], 0);
}

#[test]
fn summary_stays_within_what_github_takes() {
    let workspace = plan_epic();
    workspace.write("summary.md", "x".repeat((1 << 20) - 400));
    in_ci(&workspace, &["--ci", "github"]);
    assert!(workspace.read("summary.md").len() <= 1 << 20);
}
