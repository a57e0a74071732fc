import { first, opened } from "./routes";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { ask } from "./api/resource";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";

if (window.location.pathname !== "/sign-in") first.forEach(ask);
const root = document.getElementById("root");
if (root)
  void opened.then(() =>
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    ),
  );
