import { render } from "preact";
import { config } from "zod/mini";
import { Page } from "./page.tsx";

// zod's compiled parsers need eval, which the page's CSP forbids: even its probe would be reported as a violation.
config({ jitless: true });

const root = document.querySelector("#page");
if (root !== null) {
  root.replaceChildren();
  render(<Page />, root);
}
