/**
 * The pages a browser sees at `/authorize`. They show and wait; nothing on them grants anything (DESIGN D6). Every value
 * may come from a stranger, so all of it is escaped, and the policy allows only our own inline script and style.
 */

export interface WaitingView {
  readonly id: string;
  readonly clientName: string;
  /** Id of the client that was configured by hand: it says no name. */
  readonly configuredId: string | null;
  /** Host, or the whole address where nobody knows it yet. */
  readonly redirect: string;
  readonly scopeAsked: readonly string[];
  readonly scopeGranted: readonly string[];
  readonly code: string | null;
  readonly secondsLeft: number;
  readonly away: boolean;
  /** Where the page asks for the outcome. */
  readonly waitPath: string;
}

const AWAY = "The workstation is not connected right now. Start pimcp there; the question appears as soon as it is back.";

/** `everySeconds` reloads the page for browsers without scripts. */
export function waitingPage(view: WaitingView, everySeconds: number): Response {
  const link = `${view.waitPath}?id=${encodeURIComponent(view.id)}&page=1`;
  const code =
    view.code === null
      ? ""
      : `<p>When the workstation asks for a code, type this one:</p><p class="code" id="code">${escape(`${view.code.slice(0, 3)} ${view.code.slice(3)}`)}</p>`;
  const who =
    view.configuredId === null
      ? `An app that calls itself <b>${escape(view.clientName)}</b>`
      : `The app you set up by hand, <b>${escape(view.configuredId)}</b>,`;
  return page(200, "Waiting for your approval", {
    head: `<noscript><meta http-equiv="refresh" content="${everySeconds};url=${escape(link)}"></noscript>`,
    body: `<p>${who} wants to use the tools of your workstation: to read and change files there and to run commands, as far as its owner offers them.</p>
<dl><dt>Access would go to</dt><dd><b>${escape(view.redirect)}</b></dd>
<dt>Request</dt><dd>${escape(view.id.replace(/^-+/, "").slice(0, 8))}</dd>
<dt>It asked for</dt><dd>${escape(view.scopeAsked.join(" ") || "nothing in particular")}</dd>
<dt>It would get</dt><dd>${escape(view.scopeGranted.join(" "))}</dd></dl>
${code}<p><b>Approve or deny on your workstation's own page.</b> To open it, run <code>pimcp open</code> there, or decide in a terminal with <code>pimcp pending</code> (in a checkout: <code>npm start -- pending</code>). This page only waits.</p>
<p id="away" class="away"${view.away ? "" : " hidden"}>${escape(AWAY)}</p>
<p id="state" role="status">Waiting, <span id="left">${escape(timeLeft(view.secondsLeft))}</span> left.</p>
<noscript><p><a href="${escape(link)}">Look again</a></p></noscript>
<p class="small">If you did not start this just now, close this page and deny it on your workstation.</p>`,
    script: SCRIPT,
    data: { id: view.id, at: view.waitPath, left: String(view.secondsLeft) },
  });
}

/** An error that must not be sent to the address the request named. */
export function errorPage(status: number, message: string, advice: string): Response {
  return page(status, "This sign-in cannot go on", { head: "", body: `<p>${escape(message)}</p><p class="small">${escape(advice)}</p>` });
}

function timeLeft(seconds: number): string {
  return seconds > 90 ? `${Math.ceil(seconds / 60)} min` : `${Math.max(0, seconds)} s`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** What a client calls itself, fit to be shown: one line, no control or direction-changing characters, at most 80 long. */
export function displayName(name: string): string {
  const plain = name
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return Array.from(plain).slice(0, 80).join("") || "(no name)";
}

interface Content {
  readonly head: string;
  readonly body: string;
  readonly script?: string;
  readonly data?: Readonly<Record<string, string>>;
}

function page(status: number, title: string, content: Content): Response {
  const nonce = crypto.randomUUID();
  const data = Object.entries(content.data ?? {})
    .map(([name, value]) => ` data-${name}="${escape(value)}"`)
    .join("");
  const script = content.script === undefined ? "" : `<script nonce="${nonce}">${content.script}</script>`;
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">
<title>${escape(title)}</title>${content.head}<style nonce="${nonce}">${STYLE}</style></head>
<body><main id="main"${data}><h1>${escape(title)}</h1>${content.body}</main>${script}</body></html>`;
  return new Response(html, { status, headers: { "content-type": "text/html; charset=utf-8", ...pageHeaders(nonce) } });
}

/** No `Cross-Origin-Opener-Policy`: clients open this page as a popup, and the address it returns to talks to its opener. */
function pageHeaders(nonce: string): Record<string, string> {
  return {
    "content-security-policy": `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  };
}

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:34rem;margin:8vh auto;padding:0 1rem;overflow-wrap:anywhere}h1{font-size:1.4rem}
dt{opacity:.7;font-size:.9rem}dd{margin:0 0 .5rem}.code{font:600 2.4rem ui-monospace,monospace;letter-spacing:.1em;margin:.5rem 0}.away{border-left:4px solid #c60;padding-left:.7rem}.small{opacity:.7;font-size:.9rem}`;

/** Asks again and again for the outcome; each question is answered within 20 s. Counts down by its own clock. */
const SCRIPT = `(async()=>{const m=document.getElementById("main"),s=document.getElementById("state"),l=document.getElementById("left"),a=document.getElementById("away");
const end=performance.now()+m.dataset.left*1e3,t=setInterval(()=>{const n=Math.max(0,Math.round((end-performance.now())/1e3));l.textContent=n>90?Math.ceil(n/60)+" min":n+" s"},1e3);
const stop=(h,x)=>{clearInterval(t);document.title=m.querySelector("h1").textContent=h;s.textContent=x;for(const n of[...m.children])if(n!==s&&n.tagName!=="H1")n.remove()};
for(let fails=0;;){try{const r=await fetch(m.dataset.at+"?id="+encodeURIComponent(m.dataset.id),{cache:"no-store"}),j=await r.json();fails=0;
if(j.message)stop(j.redirect?"Going back to the app":"This sign-in is over",j.message);if(j.redirect)location.replace(j.redirect);if(j.message)return;a.hidden=!j.away}catch{if(++fails>30){stop("This sign-in cannot go on","The relay cannot be reached. Start again in the app.");return}}
await new Promise(f=>setTimeout(f,fails?2e3:200))}})()`;
