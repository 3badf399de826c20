import type { JSX } from "preact";

/** For whoever has the address and not the key. Says nothing about the agent. The words of index.html. */
export function GetIn({ why }: { readonly why: "no_secret" | "old_secret" }): JSX.Element {
  return (
    <main class="get-in">
      <h1>{why === "no_secret" ? "This page needs its key" : "This page’s key is of an earlier start"}</h1>
      <p>It is the approval page of the agent running on this computer. To open it, run</p>
      <p class="command">
        <code>pimcp open</code> <span class="muted">or, in a checkout,</span> <code>npm start -- open</code>
      </p>
      <p>
        or use the address printed in the terminal where the agent was started. The part after <code>#</code> is the key.
      </p>
    </main>
  );
}
