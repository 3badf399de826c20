import { expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { exampleQuestion } from "../support/page-states.ts";
import { pageHarness } from "../support/page-under-test.ts";
import { waitUntil } from "../support/wait-until.ts";

const harness = pageHarness();
const button = (page: Page | Locator, name: string): Locator => page.getByRole("button", { name, exact: true });
const never = new AbortController().signal;

test("[PG107] a project's MCP server waits on a card with what runs, its files and the whole entry, and Allow is one click", async () => {
  const { page, desk, complaints } = await harness.open();
  const text = '{"entry":{"args":["--dir","my notes"],"command":"./notes-server\u202e"},"project":"/srv/project"}';
  const asked = desk.cards.trust.ask({ server: "notes", text, files: ["/srv/project/.mcp.json"] }, never);
  const card = page.getByRole("article", { name: "notes" });
  await card.waitFor();
  expect(await page.getByRole("region", { name: "What would run" }).innerText()).toBe('"./notes-server‹U+202E›" --dir "my notes"');
  expect(await page.getByRole("region", { name: "The whole entry" }).innerText()).toContain('"command": "./notes-server‹U+202E›"');
  const shown = await card.innerText();
  for (const part of ["configured by /srv/project/.mcp.json", "an app may have written it"]) expect(shown).toContain(part);
  expect(await card.getByRole("button").allInnerTexts()).toEqual(["Deny", "Allow"]);
  await button(card, "Allow").click();
  expect(await asked).toBe(true);
  await page.getByText("Allowed, as it stands here, also after a restart.").waitFor();
  expect(complaints).toEqual([]);
});

test("[PG107] Deny refuses it until the agent is started again", async () => {
  const { page, desk } = await harness.open();
  const asked = desk.cards.trust.ask(
    { server: "notes", text: '{"entry":{"url":"https://notes.example/mcp"},"project":"/srv/project"}', files: ["/srv/project/.mcp.json"] },
    never,
  );
  await button(page, "Deny").click();
  expect(await asked).toBe(false);
  await page.getByText("Denied until the agent is started again.").waitFor();
});

test("[PG108] an MCP server's form is filled in on a card; what does not fit is said at its field", async () => {
  const { page, desk, complaints } = await harness.open();
  const asked = desk.cards.forms.ask(exampleQuestion());
  const card = page.getByRole("article", { name: "deployer" });
  await card.getByText("Where shall version 2.4 go?").waitFor();
  await card.getByLabel("Replicas").fill("12");
  await button(card, "Send").click();
  await card.getByText("a number of at most 9 is expected").waitFor();
  await card.getByText("it has to be filled in").waitFor();
  await card.getByLabel("Environment").selectOption("staging");
  await card.getByLabel("Replicas").fill("3");
  await card.getByLabel("us", { exact: true }).check();
  await button(card, "Send").click();
  expect(await asked).toEqual({ action: "accept", content: { environment: "staging", replicas: 3, drain: true, regions: ["eu", "us"] } });
  await waitUntil("the card is gone", async () => (await card.count()) === 0);
  expect(complaints).toEqual([]);
});

test("[PG108] what a server calls a choice hides nothing, and a field may be called like what every object has", async () => {
  const { page, desk } = await harness.open();
  const requestedSchema = {
    type: "object" as const,
    properties: {
      toString: { type: "string" as const, default: "as given" },
      where: { type: "string" as const, oneOf: [{ const: "prod", title: "staging\u202e\u200b" }] },
    },
  };
  const asked = desk.cards.forms.ask(exampleQuestion({ params: { message: "", requestedSchema } }));
  const card = page.getByRole("article", { name: "deployer" });
  await card.waitFor();
  expect(await card.getByRole("option").allInnerTexts()).toEqual(["—", "staging‹U+202E›‹U+200B›"]);
  await button(card, "Send").click();
  expect(await asked).toEqual({ action: "accept", content: { toString: "as given" } });
});

test("[PG108] a question can be declined, and leaves with its call", async () => {
  const { page, desk } = await harness.open();
  const end = new AbortController();
  const first = desk.cards.forms.ask(exampleQuestion({ server: "first" }));
  const second = desk.cards.forms.ask(exampleQuestion({ server: "second", signal: end.signal }));
  await button(page.getByRole("article", { name: "first" }), "Decline").click();
  expect(await first).toEqual({ action: "decline" });
  end.abort();
  expect(await second).toEqual({ action: "cancel" });
  await waitUntil("no card is left", async () => (await page.getByRole("article").count()) === 0);
});

test("[PG109] an address is opened only by a click on its card, which shows it whole", async () => {
  const { page, context, desk } = await harness.open();
  await context.route("https://login.example/**", (route) => route.fulfill({ body: "signed in" }));
  const params = { mode: "url" as const, message: "Sign in first.", url: "https://login.example/start?id=1", elicitationId: "1" };
  const asked = desk.cards.forms.ask(exampleQuestion({ params }));
  const card = page.getByRole("article", { name: "deployer" });
  await card.getByText("https://login.example/start?id=1").waitFor();
  const opened = context.waitForEvent("page");
  await button(card, "Open login.example").click();
  expect((await opened).url()).toBe("https://login.example/start?id=1");
  expect(await asked).toEqual({ action: "accept" });
});
