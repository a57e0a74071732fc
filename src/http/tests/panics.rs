//! A panic in a request ends that request and no more.

use std::sync::Arc;

use axum::body::Body;
use tokio::runtime::Builder;

use super::*;

const CALLS: usize = 20;

/// Sends requests at the same time, of which the first panics in `place`, and returns the answers.
fn send_all(world: &World, path: &'static str, place: &str) -> Vec<(StatusCode, Value)> {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    let start = Arc::new(tokio::sync::Barrier::new(CALLS));
    let calls = (0..CALLS).map(|number| {
        let request = world.request("GET", path);
        let request = match number {
            0 => request.header("cleo-fault", place),
            _ => request,
        };
        let request = request.body(Body::empty()).unwrap();
        let (router, start) = (world.router.clone(), start.clone());
        runtime.spawn(async move {
            start.wait().await;
            let response = respond(&router, request).await;
            let (parts, body) = response.into_parts();
            let bytes = to_bytes(body, usize::MAX).await.unwrap();
            (parts.status, serde_json::from_slice(&bytes).unwrap())
        })
    });
    let calls: Vec<_> = calls.collect();
    let answers = async {
        let mut answers = Vec::new();
        for call in calls {
            answers.push(call.await.unwrap());
        }
        answers
    };
    runtime.block_on(answers)
}

#[test]
fn panic_in_one_of_many_requests_fails_this_one_only() {
    let world = World::new();
    for (path, place) in [("/openapi.json", "task"), ("/api/work/tasks", "thread")] {
        let answers = send_all(&world, path, place);
        let (status, body) = &answers[0];
        assert_eq!(*status, StatusCode::INTERNAL_SERVER_ERROR, "{path}");
        assert_eq!(body["error"]["code"], "E_INTERNAL", "{path}");
        for (status, body) in &answers[1..] {
            assert_eq!(*status, StatusCode::OK, "{path}: {body}");
        }
        world.get(path).with(200);
    }
}
