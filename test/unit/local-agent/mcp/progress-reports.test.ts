import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemTimers } from "../../../../local-agent/node/system-time.ts";
import { createProgressReports, type ProgressReport } from "../../../../local-agent/mcp/progress-reports.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function collect(writable = () => true): { sent: ProgressReport[]; reports: ReturnType<typeof createProgressReports> } {
  const sent: ProgressReport[] = [];
  const reports = createProgressReports(async (report) => void sent.push(report), { timers: systemTimers, writable });
  return { sent, reports };
}

test("[MC10] the first output leaves at once, later output at most every 250 ms", () => {
  const { sent, reports } = collect();
  for (let ms = 0; ms < 1000; ms += 10) {
    reports.add("x");
    vi.advanceTimersByTime(10);
  }
  expect(sent.length).toBeLessThanOrEqual(5);
  expect(sent.length).toBeGreaterThanOrEqual(4);
  reports.close();
});

test("[MC10] a silent call reports every 15 s until it is over", () => {
  const { sent, reports } = collect();
  vi.advanceTimersByTime(46_000);
  expect(sent.map((report) => report.progress)).toEqual([1, 2, 3]);
  reports.close();
  vi.advanceTimersByTime(60_000);
  expect(sent).toHaveLength(3);
});

test("[MC10] output that nobody reads is kept as its newest 1000 characters, never half a character", () => {
  let open = false;
  const { sent, reports } = collect(() => open);
  for (let i = 0; i < 300; i++) reports.add("😀ab".repeat(10));
  vi.advanceTimersByTime(1000);
  expect(sent).toEqual([]);
  open = true;
  vi.advanceTimersByTime(1000);
  expect(sent).toHaveLength(1);
  expect(sent[0]!.message.length).toBeLessThanOrEqual(1000);
  expect(sent[0]!.message.isWellFormed()).toBe(true);
  reports.close();
});
