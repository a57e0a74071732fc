// What the server answers, as its own description says (docs/openapi.json).
import type { paths } from "../../generated/api";

type Json<Operation> = Operation extends { responses: infer Responses } ? JsonOf<Responses[keyof Responses]> : never;
type JsonOf<Response> = Response extends { content: { "application/json": infer Body } } ? Body : never;

export type Got<Path extends keyof paths> = Json<paths[Path]["get"]>;
export type Posted<Path extends keyof paths> = Json<paths[Path]["post"]>;
