// Writes the types of what the server answers, from its own description of them.
//
//   node types.mjs generated/api.d.ts
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";

const api = JSON.parse(readFileSync(join(import.meta.dirname, "..", "docs", "openapi.json"), "utf8"));
// What is sent is put together where it is sent, and errors are read in every shape.
for (const operation of Object.values(api.paths).flatMap((path) => Object.values(path))) {
  delete operation.parameters;
  delete operation.requestBody;
  operation.responses = Object.fromEntries(Object.entries(operation.responses).filter(([status]) => status.startsWith("2")));
}
writeFileSync(process.argv[2], COMMENT_HEADER + astToString(await openapiTS(api)));
