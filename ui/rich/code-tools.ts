/** What stands above a block of code: its language and a button that copies it; and what makes tables scroll by themselves. */

const FEEDBACK_MS = 2_500;

export function addCodeTools(fragment: DocumentFragment): void {
  for (const pre of fragment.querySelectorAll("pre")) {
    const frame = document.createElement("div");
    frame.className = "code-block";
    pre.replaceWith(frame);
    // Scrolled with the keyboard too.
    pre.tabIndex = 0;
    frame.append(bar(pre), pre);
  }
  for (const table of fragment.querySelectorAll("table")) {
    const frame = document.createElement("div");
    frame.className = "table-frame";
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "Table");
    table.replaceWith(frame);
    frame.append(table);
  }
}

function bar(pre: HTMLElement): HTMLElement {
  const element = document.createElement("div");
  element.className = "code-bar";
  const language = document.createElement("span");
  language.textContent = pre.dataset["language"] ?? "";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy this code");
  button.addEventListener("click", () => {
    const say = (words: string): void => {
      button.textContent = words;
      setTimeout(() => (button.textContent = "Copy"), FEEDBACK_MS);
    };
    navigator.clipboard.writeText(pre.textContent).then(
      () => say("Copied"),
      () => say("Select and copy it by hand"),
    );
  });
  element.append(language, button);
  return element;
}
