import { describe, expect, test } from "vitest";
import { toolRenderers } from "../../../../local-agent/pi/tool-rendering.ts";

const theme = { fg: (_color: string, text: string) => text, bold: (text: string) => text } as never;
const context = { isError: false, outputPad: 2, keyText: () => "ctrl+o" } as never;
const boxed = toolRenderers("mcp", { toolResultRendering: "boxed", collapsedResultLines: 3 });

function result(text: string, how: { readonly expanded: boolean }, renderers = boxed): readonly string[] {
  const options = { ...how, isPartial: false };
  return renderers.renderResult({ content: [{ type: "text", text }], details: {} }, options, theme, context).render(40);
}

describe("a result", () => {
  test("[PI50] takes so many lines and a hint, and all of them once it is expanded", () => {
    const text = Array.from({ length: 10 }, (_, index) => `line ${index}`).join("\n");
    expect(result(text, { expanded: false })).toEqual(["line 0", "line 1", "line 2", "… ctrl+o to expand"]);
    expect(result(text, { expanded: true })).toHaveLength(10);
    expect(result("short", { expanded: false })).toEqual(["short"]);
    const compact = toolRenderers("mcp", { toolResultRendering: "compact", collapsedResultLines: 1 });
    expect(compact.renderShell).toBe("self");
    expect(result(text, { expanded: false }, compact)).toEqual(["  line 0", "  … ctrl+o to expand"]);
  });

  test("[PI51] costs the same while it is collapsed, however long it is", () => {
    let read = 0;
    const huge = { length: 1_000_000_000, slice: (_from: number, to: number) => "x".repeat((read = to)) };
    const lines = boxed.renderResult(
      { content: [{ type: "text", text: huge as unknown as string }], details: {} },
      { expanded: false, isPartial: false },
      theme,
      context,
    );
    expect(lines.render(40)).toHaveLength(4);
    expect(read).toBeLessThanOrEqual(10_000);
  });

  test("[PI50] shows what could steer a terminal instead of sending it there", () => {
    expect(result("\u001b[2Jgone", { expanded: false })).toEqual(["␛[2Jgone"]);
  });
});

test.each([
  ["mcp", { tool: "good_echo", args: { text: "hi" } }, 'mcp good_echo {"text":"hi"}'],
  ["mcp", { tool: "good_echo", args: '{"text":"hi"}' }, 'mcp good_echo {"text":"hi"}'],
  ["mcp", { search: "echo" }, 'mcp {"search":"echo"}'],
  ["good_echo", { text: "hi" }, 'good_echo {"text":"hi"}'],
  ["good_echo", undefined, "good_echo"],
])("[PI50] a call of %s is one that names the tool and its arguments", (name, args, shown) => {
  const renderers = toolRenderers(name, { toolResultRendering: "boxed", collapsedResultLines: 3 });
  expect(renderers.renderCall(args as never, theme, context).render(80)).toEqual([shown]);
});
