import { render } from "preact";
import { Page } from "./page.tsx";

const root = document.querySelector("#page");
if (root !== null) {
  root.replaceChildren();
  render(<Page />, root);
}
