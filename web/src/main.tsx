import { opened } from "./routes";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { takeEarly } from "./api/resource";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";

const root = document.getElementById("root");
// One drawing with what the page begins with, unless that takes its time.
const first = Promise.all(Object.entries(window.early?.answers ?? {}).map(([path, answer]) => takeEarly(path, answer)));
const late = new Promise((resolve) => setTimeout(resolve, 150));
if (root)
  void Promise.all([opened, Promise.race([first, late])]).then(() =>
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    ),
  );
