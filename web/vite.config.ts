import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The output is committed: the same sources give the same bytes on every machine. Names carry the
// digest of their content, nothing carries a date or a path.
export default defineConfig({
  plugins: [react()],
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
