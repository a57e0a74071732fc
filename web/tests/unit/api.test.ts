import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOf } from "../../src/api/request";

test("every shape of an error is read", () => {
  const ours = failureOf(404, { error: { code: "E_TASK_NOT_FOUND", message: "there is no task T9", fix: "cleo list" } }, "r1");
  assert.deepEqual([ours.message, ours.code, ours.fix, ours.status, ours.request], ["there is no task T9", "E_TASK_NOT_FOUND", "cleo list", 404, "r1"]);
  const theirs = failureOf(400, { success: false, error: "name is missing", code: "E_AGENT_INVALID", field: "name" }, null);
  assert.deepEqual([theirs.message, theirs.code, theirs.detail["field"]], ["name is missing", "E_AGENT_INVALID", "name"]);
  assert.equal(failureOf(400, { error: "Input is required" }, null).message, "Input is required");
  assert.equal(failureOf(400, { response: { status: "error", message: "empty" } }, null).message, "empty");
  assert.equal(failureOf(400, { detail: "Query cannot be empty" }, null).message, "Query cannot be empty");
  assert.equal(failureOf(502, null, null).message, "cleo answered with status 502.");
  assert.equal(failureOf(500, [1], null).message, "cleo answered with status 500.");
});
