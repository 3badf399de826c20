/** Answering the questions of MCP servers from the page. */
import type { Context, Hono } from "hono";
import * as v from "valibot";
import { parseJson } from "../../shared/json.ts";
import { FormAnswer } from "../../shared/upstream-form.ts";
import type { Desk } from "../desk/desk.ts";
import { failure, methodNotAllowed, smallJson } from "./route-answers.ts";

/** Behind the checks of every route of the page's API. */
export function mountForms(app: Hono, desk: Desk): void {
  app.post("/api/form", ...smallJson, (c) => answer(c, desk));
  app.all("/api/form", (c) => methodNotAllowed(c, "POST"));
}

async function answer(c: Context, desk: Desk): Promise<Response> {
  const given = v.safeParse(FormAnswer, parseJson(await c.req.text()));
  if (!given.success) return failure(c, 400, 'Expected {"id": string, "action": "accept" | "decline", "values"?: object}.');
  return c.json(desk.cards.forms.answer(given.output));
}
