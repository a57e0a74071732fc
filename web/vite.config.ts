import react from "@vitejs/plugin-react";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

/** What pages ask for first where their addresses have no filter. */
const ANSWERS: Record<string, string[]> = {
  "/work": ["/api/work/graph"],
  "/runs": ["/api/runs?limit=100"],
  "/agents/tasks": ["todo", "doing", "review", "done"].map((status) => `/api/tasks?status=${status}&limit=50`),
};

/** Writes into index.html what each page begins with: the files of its code, and its first answers. */
function early(): Plugin {
  return {
    name: "early",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).flatMap((one) => (one.type === "chunk" ? [one] : []));
        const filesOf = (name: string): string[] => chunks.filter((one) => one.fileName === name).flatMap((one) => [name, ...(one.viteMetadata?.importedCss ?? []), ...one.imports.flatMap(filesOf)]);
        const routes = readFileSync(new URL("src/routes.ts", import.meta.url), "utf8").replaceAll(", chat]", ', import("./pages/agents-chat/Chat")');
        const pages = [...routes.matchAll(/"(\/[^"]*)",.*import\("\.(\/pages\/[^"]+)"/g)].map(([, pattern = "", source = ""]) => {
          const files = chunks.filter((chunk) => chunk.facadeModuleId?.includes(`/src${source}.tsx`)).flatMap((chunk) => filesOf(chunk.fileName));
          const paths = new Set(files.filter((file) => !html.includes(file)).map((file) => `/${file}`));
          return [`^${pattern.replace(/:\w+/g, "[^/]+")}/?$`, { files: [...paths], answers: ["/api/status", ...(ANSWERS[pattern] ?? [])] }];
        });
        return html.replace("pages = {}", `pages = ${JSON.stringify(Object.fromEntries(pages))}`);
      },
    },
  };
}

// The output is committed: the same sources give the same bytes on every machine. Names carry the
// digest of their content, nothing carries a date or a path.
export default defineConfig({
  plugins: [react(), early()],
  build: {
    target: ["chrome125", "firefox125", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
    reportCompressedSize: false,
    emptyOutDir: true,
    rolldownOptions: {
      checks: { pluginTimings: false },
      // What every page stands on comes in one file: many small ones cost more than what they save.
      output: {
        codeSplitting: {
          groups: [
            { name: "parts", test: /\/src\/(api|parts|format|router)/, minShareCount: 8 },
            { name: "tasks", test: /\/src\/(agents\/agents|parts\/Filters|pages\/agents-tasks\/useTasks|pages\/work\/(RunButtons|rows|selection))/, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: {
    // While writing pages: `npm run dev` beside `cleo serve`.
    proxy: Object.fromEntries(["/api", "/query", "/health", "/openapi.json"].map((path) => [path, { target: process.env["CLEO_ADDRESS"] ?? "http://127.0.0.1:4680" }])),
  },
});
