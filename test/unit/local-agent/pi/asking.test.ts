/** What a terminal asks, for questions that only a terminal is asked, and which model is sampled. */
import type { CreateMessageRequestParams } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { createDialogForms } from "../../../../local-agent/pi/dialog-forms.ts";
import { createDialogApprover } from "../../../../local-agent/pi/dialog-approver.ts";
import type { PiHost } from "../../../../local-agent/pi/pi-host.ts";
import { createPiSampler } from "../../../../local-agent/pi/pi-sampler.ts";

const signal = new AbortController().signal;
const caller = { kind: "pi" } as const;

interface Dialog {
  readonly title: string;
  readonly options: readonly string[];
}

function hostOf(session: Record<string, unknown>): PiHost {
  return { pi: {} as never, session: () => ({ hasUI: true, mode: "tui", ...session }) as never };
}

describe("an address a server asks to have opened", () => {
  function scene(picked: (dialog: Dialog) => string | undefined) {
    const opened: string[] = [];
    const dialogs: Dialog[] = [];
    const ui = {
      notify: () => {},
      select: (title: string, options: readonly string[]) =>
        Promise.resolve(picked(dialogs[dialogs.push({ title, options }) - 1] ?? { title, options })),
    };
    const forms = createDialogForms(hostOf({ ui }), (url) => Promise.resolve(void opened.push(url)));
    const ask = (url: string, message = "Sign in") =>
      forms.ask({ server: "bank", params: { mode: "url", message, url, elicitationId: "1" }, caller, signal });
    return { ask, opened, dialogs };
  }

  test("[PI31] is shown whole with its host, and opened only when the person says so", async () => {
    const yes = scene(({ options }) => options[1]);
    expect(await yes.ask("https://bank.example/in?to=%E2%80%AEx")).toEqual({ action: "accept" });
    expect(yes.opened).toEqual(["https://bank.example/in?to=%E2%80%AEx"]);
    expect(yes.dialogs[0]).toEqual({
      title: "bank asks you to open bank.example: Sign in\nhttps://bank.example/in?to=%E2%80%AEx",
      options: ["Refuse to answer", "Open bank.example"],
    });
    const no = scene(({ options }) => options[0]);
    expect(await no.ask("https://bank.example/")).toEqual({ action: "decline" });
    const dismissed = scene(() => undefined);
    expect(await dismissed.ask("https://bank.example/")).toEqual({ action: "cancel" });
    expect([...no.opened, ...dismissed.opened]).toEqual([]);
  });

  test("[PI31] is shown to its end, after no more of the server's words than somebody reads", async () => {
    const { ask, dialogs } = scene(({ options }) => options[1]);
    const url = `https://bank.example/in?a=${"x".repeat(5_000)}&to=elsewhere`;
    await ask(url, "y".repeat(1_000_000));
    expect(dialogs[0]?.title).toMatch(/y…\nhttps:.*&to=elsewhere$/);
    expect(dialogs[0]?.title.length).toBeLessThan(20_000);
  });

  test.each([
    "file:///etc/passwd",
    "javascript:alert(1)",
    "not an address",
    "https://bank.example@evil.example/",
    `https://a.example/${"x".repeat(8_192)}`,
  ])("[PI31] is declined unasked when it is none of the web, or none that can be judged: %s", async (url) => {
    const { ask, opened, dialogs } = scene(({ options }) => options[1]);
    expect(await ask(url)).toEqual({ action: "decline" });
    expect([opened, dialogs]).toEqual([[], []]);
  });

  test("[PI31] is offered to servers in a terminal only", () => {
    expect(createDialogForms(hostOf({ mode: "rpc" }), () => Promise.resolve()).modes).toEqual({ form: true, url: false });
    expect(createDialogForms(hostOf({ mode: "print", hasUI: false }), () => Promise.resolve()).modes).toEqual({ form: false, url: false });
  });
});

test("[PI21] [PI40] what a person allows says how much of it is not shown", async () => {
  const titles: string[] = [];
  const select = (title: string, options: readonly string[]) => Promise.resolve(options[titles.push(title) === 1 ? 1 : 0]);
  const complete = () => Promise.resolve({ stopReason: "stop", content: [{ type: "text", text: "Hi" }] });
  const modelRegistry = { getAvailable: () => [{ provider: "p", id: "m", name: "M" }], complete };
  const host = { ...hostOf({ ui: { select }, modelRegistry }), pi: { events: { emit: () => {} } } as never };
  const approver = createDialogApprover(host, { has: () => false, keep: () => {}, forgetBranch: () => {} });
  const call = { requestId: "1", callId: "1", server: "s", original: "run", displayed: "s_run", definitionHash: "", argsHash: "" };
  const args = { a: "x".repeat(600), b: "rm -rf ~" };
  await approver.ask({ ...call, args, origin: "proxy", caller, required: true, remembered: false, signal });
  const sampler = createPiSampler(host, () => ({ sampling: true, autoApprove: false }));
  const messages = [{ role: "user" as const, content: { type: "text" as const, text: "y".repeat(3_000) } }];
  await expect(sampler.sample({ server: "s", params: { messages, maxTokens: 1 }, caller, signal })).rejects.toThrow("declined");
  const hidden = JSON.stringify(args).length - 500;
  expect(titles[0]).toMatch(new RegExp(`x…\\n\\(${hidden} more characters of it are not shown\\)$`));
  expect(titles[1]).toMatch(/y…\n\(1007 more characters of it are not shown\)$/);
});

describe("a form a server asks to have filled in", () => {
  /** @param pick of the lines of each dialog, or typed into an input */
  function scene(pick: (dialog: Dialog) => string | undefined) {
    const dialogs: Dialog[] = [];
    const picked = (title: string, options: readonly string[]) =>
      Promise.resolve(pick(dialogs[dialogs.push({ title, options }) - 1] ?? { title, options }));
    const ui = { notify: () => {}, select: picked, input: (title: string) => picked(title, []) };
    const forms = createDialogForms(hostOf({ ui }), () => Promise.resolve());
    const ask = (properties: object) => {
      const requestedSchema = { type: "object", properties } as never;
      return forms.ask({ server: "bank", params: { mode: "form", message: "Which?", requestedSchema }, caller, signal });
    };
    return { ask, dialogs };
  }

  test("[PI30] has lines that can be told apart, and the one that was picked is sent", async () => {
    const long = "x".repeat(250);
    const titles = ["A", "A", "A (2)", `${long}1`, `${long}2`, "Done", "(leave it out)"];
    const oneOf = titles.map((title, index) => ({ const: `v${index}`, title }));
    for (const [index] of titles.entries()) {
      const { ask, dialogs } = scene(({ title, options }) => (title.startsWith("Choice") ? options[index] : options[0]));
      expect(await ask({ choice: { type: "string", title: "Choice", oneOf } })).toEqual({ action: "accept", content: { choice: `v${index}` } });
      expect(new Set(dialogs[1]?.options).size).toBe(titles.length + 1);
    }
  });

  test("[PI30] takes a field for one of its own, whatever every object has by that name", async () => {
    const { ask, dialogs } = scene(({ options }) => options[0] ?? "");
    expect(await ask({ constructor: { type: "string" }, toString: { type: "string", default: "x" } })).toEqual({
      action: "accept",
      content: { toString: "x" },
    });
    expect(dialogs.at(-1)?.title).toContain('constructor: —\ntoString: "x"');
  });
});

describe("the model a server asks", () => {
  const models = [
    { provider: "one", id: "small", name: "Small" },
    { provider: "two", id: "big-3", name: "The Big One" },
  ];
  const message = { messages: [{ role: "user", content: { type: "text", text: "Hello" } }], maxTokens: 10 } as CreateMessageRequestParams;

  async function asked(params: Partial<CreateMessageRequestParams>, current: (typeof models)[number] | undefined = models[0]): Promise<string> {
    const complete = () => Promise.resolve({ stopReason: "stop", content: [{ type: "text", text: "Hi" }] });
    const sampler = createPiSampler(hostOf({ model: current, modelRegistry: { getAvailable: () => models, complete } }), () => ({
      sampling: null,
      autoApprove: true,
    }));
    return (await sampler.sample({ server: "s", params: { ...message, ...params }, caller, signal })).model;
  }

  test("[PI41] is the first hint's that fits, else the session's, else any", async () => {
    expect(await asked({ modelPreferences: { hints: [{ name: "nothing" }, { name: "BIG" }] } })).toBe("big-3");
    expect(await asked({ modelPreferences: { hints: [{ name: "two/big" }] } })).toBe("big-3");
    expect(await asked({ modelPreferences: { hints: [{ name: "" }] } })).toBe("small");
    expect(await asked({}, models[1])).toBe("big-3");
  });

  test.each([
    ["tools", { tools: [] }],
    ["includeContext", { includeContext: "allServers" }],
    ["stopSequences", { stopSequences: ["x"] }],
    ["image content", { messages: [{ role: "user", content: { type: "image", data: "", mimeType: "image/png" } }] }],
  ])("[PI41] is not asked what cannot be honoured: %s", async (what, params) => {
    await expect(asked(params as never)).rejects.toThrow(what);
  });

  test("[PI40] is asked nothing where nobody can allow it", async () => {
    const rules = { sampling: null, autoApprove: false };
    const sampler = createPiSampler(hostOf({ hasUI: false }), () => rules);
    expect(sampler.available).toBe(false);
    await expect(sampler.sample({ server: "s", params: message, caller, signal })).rejects.toThrow("nobody can approve it");
    expect(createPiSampler(hostOf({}), () => ({ sampling: false, autoApprove: true })).available).toBe(false);
  });
});
