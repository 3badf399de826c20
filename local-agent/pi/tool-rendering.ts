/**
 * How calls and results of MCP tools look in Pi's terminal: a few lines, and everything when the person expands them. What is drawn
 * while collapsed costs the same for every length of the text, because Pi draws often.
 */
import type { ToolDefinition } from "@earendil-works/pi-coding-agent";
import type { AdapterSettings } from "../adapter/config/server-definition.ts";
import { isJsonObject } from "../../shared/json.ts";
import { visibleBlock, visibleLine } from "../../shared/visible-text.ts";
import { wrapLines } from "./terminal-lines.ts";

type Rendering = Pick<AdapterSettings, "toolResultRendering" | "collapsedResultLines">;
type Renderers = Required<Pick<ToolDefinition, "renderCall" | "renderResult">> & Pick<ToolDefinition, "renderShell">;
type Component = ReturnType<Renderers["renderCall"]>;
type Result = Parameters<Renderers["renderResult"]>[0];

/** Of a text that is longer, a collapsed result looks at no more than that. */
const COLLAPSED_CHARS = 8000;
const CALL_CHARS = { compact: 240, boxed: 1500 } as const;

/** [PI50] [PI51] */
export function toolRenderers(name: string, { toolResultRendering: kind, collapsedResultLines }: Rendering): Renderers {
  return {
    ...(kind === "compact" && { renderShell: "self" }),
    renderCall(args, theme, context) {
      const { title, given } = callOf(name, args);
      const shown = given === "" ? "" : ` ${visibleLine(given, CALL_CHARS[kind])}`;
      return lines(kind === "compact" ? context.outputPad : 0, (width) =>
        wrapLines(`${title}${shown}`, width).map((line, index) =>
          index === 0 && line.startsWith(title)
            ? `${theme.fg("toolTitle", theme.bold(title))}${theme.fg("muted", line.slice(title.length))}`
            : theme.fg("muted", line),
        ),
      );
    },
    renderResult(result, { expanded }, theme, context) {
      const color = context.isError ? "error" : "toolOutput";
      const hint = `${context.keyText("app.tools.expand")} to expand`;
      const draw = expanded
        ? (width: number) => wrapLines(visibleBlock(textOf(result, Infinity)), width)
        : collapsed(visibleBlock(textOf(result, COLLAPSED_CHARS)), collapsedResultLines, hint);
      return lines(kind === "compact" ? context.outputPad : 0, (width) => draw(width).map((line) => theme.fg(color, line)));
    },
  };
}

/** What is called, and with what; through the proxy that is the tool it names. */
function callOf(name: string, args: unknown): { readonly title: string; readonly given: string } {
  if (!isJsonObject(args)) return { title: name, given: "" };
  const tool = name === PROXY ? args["tool"] : undefined;
  if (typeof tool !== "string" || tool === "") return { title: name, given: JSON.stringify(args) };
  const given = args["args"];
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return { title: `${name} ${visibleLine(tool, 100)}`, given: given === undefined ? "" : text };
}

const PROXY = "mcp";

function collapsed(text: string, limit: number, hint: string): (width: number) => string[] {
  return (width) => {
    const all = wrapLines(text, width, limit + 1);
    return all.length <= limit ? all : [...all.slice(0, limit), ...wrapLines(`… ${hint}`, width, 1)];
  };
}

/** The text of a result, no more of it than asked for, without joining what is not shown. */
function textOf({ content }: Result, maxChars: number): string {
  let text = "";
  for (const part of content) {
    if (part.type !== "text") continue;
    if (text !== "") text += "\n";
    text += part.text.slice(0, maxChars - text.length);
    if (text.length >= maxChars) break;
  }
  return text;
}

/** A component whose lines are made once for each width. */
function lines(pad: number, draw: (width: number) => string[]): Component {
  let drawn: { readonly width: number; readonly lines: readonly string[] } | undefined;
  return {
    render(width) {
      if (drawn?.width !== width) {
        const margin = " ".repeat(Math.min(pad, Math.max(0, width - 1)));
        drawn = { width, lines: draw(Math.max(1, width - 2 * margin.length)).map((line) => `${margin}${line}`) };
      }
      return drawn.lines;
    },
    invalidate: () => void (drawn = undefined),
  };
}
