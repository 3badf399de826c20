/** Deciding single calls from the page, and reading the whole of a long one. */
import type { Context, Hono } from "hono";
import * as v from "valibot";
import { ApprovalDecision } from "../../shared/approval.ts";
import { parseJson } from "../../shared/json.ts";
import { DecisionUnrecorded } from "../desk/approvals.ts";
import type { Desk } from "../desk/desk.ts";
import { failure, methodNotAllowed, smallJson } from "./route-answers.ts";

/** Behind the checks of every route of the page's API. */
export function mountApprovals(app: Hono, desk: Desk): void {
  app.post("/api/approve", ...smallJson, (c) => approve(c, desk));
  app.get("/api/approvals/:id", (c) => {
    const whole = desk.cards.whole(c.req.param("id"));
    return whole === null ? failure(c, 404, "This card waits no longer.") : c.json(whole);
  });
  app.post("/api/forget", ...smallJson, (c) => {
    desk.cards.approvals.sitting.forget();
    return c.json({});
  });
  app.all("/api/forget", (c) => methodNotAllowed(c, "POST"));
  app.all("/api/approve", (c) => methodNotAllowed(c, "POST"));
  app.all("/api/approvals/:id", (c) => methodNotAllowed(c, "GET"));
}

async function approve(c: Context, desk: Desk): Promise<Response> {
  const decision = v.safeParse(ApprovalDecision, parseJson(await c.req.text()));
  if (!decision.success) {
    return failure(c, 400, 'Expected {"id": string, "decision": "once" | "sitting" | "deny", "reason"?: string of at most 2000 characters}.');
  }
  try {
    return c.json(await desk.cards.decide(decision.output));
  } catch (error) {
    if (error instanceof DecisionUnrecorded) return failure(c, 503, error.message);
    throw error;
  }
}
