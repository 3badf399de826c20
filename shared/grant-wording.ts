/** When something was allowed, used and ends, in words for a person. Pure; local time. */
import type { Grant } from "./authorization.ts";

const HOUR_MS = 60 * 60_000;

/** A use is written at most once an hour, so the words claim no more. */
export function grantTimes({ createdAt, lastUsedAt, expiresAt }: Grant, now: number): readonly string[] {
  const used =
    lastUsedAt === null ? "never used" : now - lastUsedAt < HOUR_MS ? "used in the last hour" : `last used ${minuteOf(lastUsedAt)} (to the hour)`;
  return [`allowed ${minuteOf(createdAt)}`, used, `ends ${minuteOf(expiresAt)} unless the app renews it`];
}

/** "2026-11-30 16:21". */
export function minuteOf(at: number): string {
  const time = new Date(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
