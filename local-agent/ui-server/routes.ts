/** The page's HTTP surface. Order of checks: Host, Origin, (API:) site, secret, method, content type, size, schema. */
import * as v from "valibot";
import { Hono, type Context, type MiddlewareHandler } from "hono";
import { AuthorizationDecision, Revocation } from "../../shared/authorization.ts";
import { parseJson } from "../../shared/json.ts";
import { DecisionUnanswered } from "../desk/authorization-tray.ts";
import { GrantsUnanswered } from "../desk/granted-list.ts";
import type { Desk } from "../desk/desk.ts";
import { apiRefusalOf, holdsSecret, refusalOf, type RequestOrigin } from "./admission.ts";
import { mountApprovals } from "./approval-routes.ts";
import type { EventStreams } from "./event-streams.ts";
import { mountForms } from "./form-routes.ts";
import { mountHistory, mountWords } from "./human-routes.ts";
import { mountImages } from "./image-routes.ts";
import { readPageFile } from "./page-files.ts";
import { RESPONSE_HEADERS } from "./response-headers.ts";
import { failure, methodNotAllowed, notFound, smallJson } from "./route-answers.ts";

export interface RouteContext {
  readonly desk: Desk;
  readonly streams: EventStreams;
  readonly secret: string;
  readonly uiDir: string;
  /** The port actually bound; asked at each request because port 0 is known only after binding. */
  readonly port: () => number;
  /** The IP addresses under which the page is served besides 127.0.0.1; asked at each request, because a machine's addresses change. */
  readonly addresses: () => readonly string[];
}

export function createRoutes(context: RouteContext): Hono {
  const app = new Hono();
  app.use(setResponseHeaders);
  app.use(admit(context));
  app.use("/api/*", authenticate(context));
  app.get("/api/events", () => new Response(context.streams.open(), { headers: { "content-type": "application/x-ndjson" } }));
  app.post("/api/decide", ...smallJson, (c) => decide(c, context.desk));
  app.get("/api/grants", (c) => unlessUnanswered(c, async () => ({ grants: await context.desk.refreshGrants() })));
  app.post("/api/revoke", ...smallJson, (c) => revoke(c, context.desk));
  mountApprovals(app, context.desk);
  mountForms(app, context.desk);
  mountWords(app, context.desk.conversation);
  mountImages(app, context.desk.conversation);
  mountHistory(app, context.desk.conversation);
  app.all("/api/events", (c) => methodNotAllowed(c, "GET"));
  app.all("/api/decide", (c) => methodNotAllowed(c, "POST"));
  app.all("/api/grants", (c) => methodNotAllowed(c, "GET"));
  app.all("/api/revoke", (c) => methodNotAllowed(c, "POST"));
  app.get("*", async (c) => {
    const file = await readPageFile(context.uiDir, c.req.path);
    return file === undefined ? notFound(c) : c.body(file.bytes, 200, { "content-type": file.contentType });
  });
  app.notFound(notFound);
  app.onError((_error, c) => failure(c, 500, "This page's server failed. The agent goes on; reload the page."));
  return app;
}

/** For what cannot be read as a request (a backslash in the path, a Host that is no host) and so reaches no route. */
export function malformedRequest(): Response {
  return Response.json({ error: "The request cannot be read." }, { status: 400, headers: RESPONSE_HEADERS });
}

const setResponseHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(RESPONSE_HEADERS)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
};

const OTHER_ADDRESS = "This page answers only on its own address.";

function admit(context: RouteContext): MiddlewareHandler {
  return async (c, next) => {
    if (refusalOf(originOf(c), { port: context.port(), addresses: context.addresses() }) === undefined) return next();
    return failure(c, 403, OTHER_ADDRESS);
  };
}

function authenticate(context: RouteContext): MiddlewareHandler {
  return async (c, next) => {
    if (apiRefusalOf(originOf(c)) !== undefined) return failure(c, 403, OTHER_ADDRESS);
    if (holdsSecret(c.req.header("authorization"), context.secret)) return next();
    c.header("www-authenticate", "Bearer");
    return failure(
      c,
      401,
      'The session secret is missing or of an earlier start. Run "pimcp open" (in a checkout "npm start -- open"), or use the address printed in the terminal.',
    );
  };
}

async function decide(c: Context, desk: Desk): Promise<Response> {
  const decision = v.safeParse(AuthorizationDecision, parseJson(await c.req.text()));
  if (!decision.success) return failure(c, 400, 'Expected {"id": string, "allow": boolean, "code"?: string of at most 32 characters}.');
  return unlessUnanswered(c, () => desk.decide(decision.output));
}

async function revoke(c: Context, desk: Desk): Promise<Response> {
  const which = v.safeParse(Revocation, parseJson(await c.req.text()));
  if (!which.success) return failure(c, 400, 'Expected {"ids": "all"} or {"ids": [string, …]}.');
  return unlessUnanswered(c, () => desk.revoke(which.output));
}

async function unlessUnanswered(c: Context, ask: () => Promise<object>): Promise<Response> {
  try {
    return c.json(await ask());
  } catch (error) {
    if (error instanceof DecisionUnanswered || error instanceof GrantsUnanswered) return failure(c, 503, error.message);
    throw error;
  }
}

function originOf(c: Context): RequestOrigin {
  return { host: c.req.header("host"), origin: c.req.header("origin"), fetchSite: c.req.header("sec-fetch-site") };
}
