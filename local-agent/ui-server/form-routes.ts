/** Answering the questions of MCP servers from the page. */
import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as v from "valibot";
import { parseJson } from "../../shared/json.ts";
import { FormAnswer } from "../../shared/upstream-form.ts";
import type { Desk } from "../desk/desk.ts";
import { failure, methodNotAllowed, requireJson } from "./route-answers.ts";

/** A form's defaults come back with it (256 KiB), and one text field alone takes 64 Ki characters (`shared/form-fields.ts`). */
const MAX_FORM_BYTES = 1024 * 1024;

/** Behind the checks of every route of the page's API. */
export function mountForms(app: Hono, desk: Desk): void {
  const limit = bodyLimit({ maxSize: MAX_FORM_BYTES, onError: (c) => failure(c, 413, `A filled form has at most ${MAX_FORM_BYTES} bytes.`) });
  app.post("/api/form", requireJson, limit, (c) => answer(c, desk));
  app.all("/api/form", (c) => methodNotAllowed(c, "POST"));
}

async function answer(c: Context, desk: Desk): Promise<Response> {
  const given = v.safeParse(FormAnswer, parseJson(await c.req.text()));
  if (!given.success) return failure(c, 400, 'Expected {"id": string, "action": "accept" | "decline", "values"?: object}.');
  return c.json(desk.cards.forms.answer(given.output));
}
