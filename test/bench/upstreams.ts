/** What MCP servers behind one tool cost. A part of `npm run bench`; by itself, without a browser: `node test/bench/upstreams.ts`. */
import { measureAdapter } from "./adapter.ts";
import { measureExtension } from "./extension.ts";
import { goal, ratio, report } from "./report.ts";
import { measureSearch } from "./search.ts";

const valueOf = (values: ReadonlyMap<string, number> | undefined, name: string): number => values?.get(name) ?? Number.NaN;

export async function reportUpstreams(): Promise<void> {
  await reportSearch();
  const adapter = await measureAdapter();
  console.log("\nTokens of the tools a model is shown (o200k)");
  for (const [tool, tokens] of adapter.tokens) console.log(`  ${tool.padEnd(18)} ${tokens}`);
  goal("mcp with ten servers (tokens)", valueOf(adapter.tokens, "mcp, ten servers"), "≤", 400);
  report("A tool that does nothing, in one process (median ms)", adapter.callMs);
  goal("through mcp - SDK client (ms)", valueOf(adapter.callMs, "through mcp") - valueOf(adapter.callMs, "SDK client"), "≤", 0.3);
  report("A start with 20 known servers and 2,000 tools, everything loaded (median ms)", new Map([["first answer", adapter.startMs]]));
  await reportExtension();
}

async function reportSearch(): Promise<void> {
  const search = await measureSearch();
  for (const [ranker, shares] of search.recall) {
    console.log(`\nFinding tools, ${ranker}: share of questions answered as wanted (of those about nothing: not answered)`);
    for (const [kind, share] of shares) console.log(`  ${kind.padEnd(14)} ${share.toFixed(3)}`);
  }
  goal("right tool among the first five, all questions", valueOf(search.recall.get("ours"), "all"), "≥", 0.93);
  goal("questions about nothing that are answered", 1 - valueOf(search.recall.get("ours"), "nothing"), "≤", 0.1);
  for (const [size, p50] of search.p50) {
    report(`One search among ${size} tools (median ms)`, p50);
    goal(`among ${size} tools (ms)`, valueOf(p50, "ours"), "≤", size < 100 ? 0.2 : 3);
    if (p50.has("published")) console.log(`  ours / published ${ratio(p50, "ours", "published").toFixed(2)}`);
  }
  report("Preparing 2,000 tools, once (ms)", search.buildMs);
}

async function reportExtension(): Promise<void> {
  const { tokens, callMs, startMs, startCpuMs } = await measureExtension();
  for (const [extension, tools] of tokens) {
    const total = [...tools.values()].reduce((sum, count) => sum + count, 0);
    console.log(`\nTokens of the tools that the extension registers with ten servers, ${extension}: ${total}`);
    for (const [tool, count] of tools) console.log(`  ${tool.padEnd(22)} ${count}`);
  }
  report("A call over pipes (median ms)", callMs);
  for (const name of tokens.keys()) console.log(`  ${name} - its client ${(valueOf(callMs, name) - valueOf(callMs, "SDK client")).toFixed(2)}`);
  report("A process until the extension's first answer, 20 known servers (median ms)", startMs);
  goal("ours (ms)", valueOf(startMs, "ours"), "≤", 150);
  report("The same, time of the processor (median ms)", startCpuMs);
}

if (import.meta.main) await reportUpstreams();
