/** What signing in costs, with a person who answers at once (`agent-child.ts`), and what checking a token costs on every call. */
import { randomBytes } from "node:crypto";
import { authorizeUrl } from "../support/sign-in.ts";
import { median } from "./measure.ts";

/** Median milliseconds of each step. */
export interface SignInCosts {
  readonly authorize: number;
  readonly decided: number;
  readonly token: number;
  readonly firstCall: number;
  readonly total: number;
}

interface Step {
  readonly name: keyof SignInCosts;
  readonly ms: number;
}

const REDIRECT = "http://127.0.0.1:50998/callback";
const SIGN_INS = 20;

/** `call` does the first call with the token it is given. Returns the costs and the last access token. */
export async function measureSignIn(
  origin: string,
  call: (accessToken: string) => Promise<void>,
): Promise<{ readonly costs: SignInCosts; readonly accessToken: string }> {
  const clientId = await register(origin);
  const runs: Step[][] = [];
  let accessToken = "";
  for (let n = 0; n < SIGN_INS; n++) {
    const steps: Step[] = [];
    const timed = async <T>(name: keyof SignInCosts, run: () => Promise<T>): Promise<T> => {
      const start = performance.now();
      const result = await run();
      steps.push({ name, ms: performance.now() - start });
      return result;
    };
    await timed("total", async () => {
      const verifier = randomBytes(32).toString("base64url");
      const page = await timed("authorize", () => open(origin, clientId, verifier));
      const code = await timed("decided", () => collect(origin, page));
      accessToken = await timed("token", () => exchange(origin, { clientId, code, verifier }));
      await timed("firstCall", () => call(accessToken));
    });
    runs.push(steps);
  }
  const of = (name: keyof SignInCosts): number => median(runs.flat().flatMap((step) => (step.name === name ? [step.ms] : [])));
  return {
    costs: { authorize: of("authorize"), decided: of("decided"), token: of("token"), firstCall: of("firstCall"), total: of("total") },
    accessToken,
  };
}

async function register(origin: string): Promise<string> {
  const body = JSON.stringify({ client_name: "bench", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" });
  const answer = await fetch(`${origin}/register`, { method: "POST", headers: { "content-type": "application/json" }, body });
  return ((await answer.json()) as { client_id: string }).client_id;
}

interface Page {
  readonly id: string;
  readonly cookie: string;
}

async function open(origin: string, clientId: string, verifier: string): Promise<Page> {
  const answer = await fetch(authorizeUrl(origin, { clientId, redirect: REDIRECT, verifier }));
  const id = /data-id="([^"]+)"/.exec(await answer.text())?.[1];
  if (id === undefined) throw new Error(`/authorize answered ${answer.status} without a page that waits`);
  return { id, cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" };
}

async function collect(origin: string, { id, cookie }: Page): Promise<string> {
  const answer = await fetch(`${origin}/authorize/wait?id=${id}`, { headers: { cookie } });
  const { redirect } = (await answer.json()) as { redirect?: string };
  const code = redirect === undefined ? null : new URL(redirect).searchParams.get("code");
  if (code === null) throw new Error(`the page that waits got no code: ${redirect ?? answer.status}`);
  return code;
}

async function exchange(origin: string, of: { clientId: string; code: string; verifier: string }): Promise<string> {
  const form = { grant_type: "authorization_code", client_id: of.clientId, code: of.code, code_verifier: of.verifier, redirect_uri: REDIRECT };
  const answer = await fetch(`${origin}/token`, { method: "POST", body: new URLSearchParams(form) });
  if (answer.status !== 200) throw new Error(`/token answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { access_token: string }).access_token;
}
