use super::World;

#[test]
fn unknown_paths_and_methods_are_refused() {
    let world = World::new();
    world.walk(
        r#"
        GET /api/nope -> 404 E_PATH_NOT_FOUND
        GET /api/ -> 404 E_PATH_NOT_FOUND
        POST /nope -> 404 E_PATH_NOT_FOUND
        PATCH /api/agents/sync -> 405 E_METHOD_REFUSED
        DELETE /health -> 405 E_METHOD_REFUSED
        TRACE /api/tasks -> 405 E_METHOD_REFUSED
        "#,
    );
    for path in [
        "/../../etc/passwd",
        "/assets/../../Cargo.toml",
        "/%2e%2e/Cargo.toml",
        "/work/T1/x",
        "/index.html",
    ] {
        let told = world.get(path);
        assert_eq!(told.status, 404, "{path}");
        assert!(told.text().contains("does not exist here"), "{path}");
        assert!(!told.text().contains("[package]"));
    }
    let told = world.get("/work/?view=list");
    assert_eq!(
        (told.status.as_u16(), told.header("location")),
        (303, "/work?view=list")
    );
}

/// A0-20 and D-14.
#[test]
fn pages_have_their_titles_without_scripts() {
    let world = World::new();
    for (path, title) in [
        ("/", "Home"),
        ("/work", "Work"),
        ("/runs", "Runs"),
        ("/agents", "Agents"),
        ("/agents/architecture", "Architecture"),
        ("/agents/manage", "Manage agents"),
        ("/agents/chat", "Chat"),
        ("/agents/tasks", "Agent tasks"),
        ("/more", "More"),
        ("/sign-in", "Sign in"),
    ] {
        let told = world.get(path);
        assert_eq!(
            (told.status.as_u16(), told.header("content-type")),
            (200, "text/html; charset=utf-8")
        );
        let text = told.text();
        assert!(
            text.contains(&format!("<title>{title} · cleo</title>")),
            "{path}: {text}"
        );
        assert!(text.contains(&format!("<h1>{title}</h1>")), "{path}");
        assert!(
            told.header("content-security-policy")
                .contains("frame-ancestors 'none'")
        );
        assert_eq!(told.header("x-content-type-options"), "nosniff");
        // Of a page without referrer, a browser sends forms as if they came from nowhere.
        assert_eq!(told.header("referrer-policy"), "same-origin");
    }
    let form = world.get("/").text();
    assert_eq!(form.matches("<h1>").count(), 1, "{form}");
    for part in ["<form", "<textarea", "type=\"checkbox\"", "type=\"submit\""] {
        assert!(form.contains(part), "{part}");
    }
}

#[test]
fn application_files_are_cached_while_unchanged() {
    let world = World::new();
    let Some(name) = crate::embedded::names("web/dist/assets/").next() else {
        return;
    };
    let path = format!("/assets/{name}");
    let told = world.get(&path);
    assert_eq!(told.status, 200);
    assert!(told.header("cache-control").contains("immutable"));
    let tag = told.header("etag").to_string();
    let same = world.ask("GET", &path, &[("if-none-match", &tag)], "");
    assert_eq!(same.status, 304);
}

#[test]
fn files_are_compressed_for_clients_that_accept_it() {
    let world = World::new();
    let plain = world.get("/openapi.json");
    assert!(!plain.headers.contains_key("content-encoding"));
    for (accepted, is_compressed) in [("br, gzip;q=0.5", true), ("gzip;q=0", false), ("br", false)]
    {
        let told = world.ask("GET", "/openapi.json", &[("accept-encoding", accepted)], "");
        assert_eq!(told.header("vary"), "accept-encoding");
        let content = match is_compressed {
            true => crate::embedded::decompress(&told.bytes),
            false => told.bytes.clone(),
        };
        assert_eq!(
            told.headers.contains_key("content-encoding"),
            is_compressed,
            "{accepted}"
        );
        assert_eq!(content, plain.bytes, "{accepted}");
    }
}
