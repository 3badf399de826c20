/** What strangers may not change: everything the object stores, except what its limits count. */
import { expect } from "vitest";
import type { Bench } from "./bench.workerd.ts";

type Row = Record<string, SqlStorageValue>;

/** Every table but the counters, row by row, in an order of its own. */
export function everythingStored(bench: Bench): Record<string, readonly string[]> {
  const { sql } = bench.storage;
  const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf*' ORDER BY name").toArray();
  const rowsOf = (name: string) =>
    sql
      .exec<Row>(`SELECT * FROM ${name}`)
      .toArray()
      .map((row) => JSON.stringify(row, readable))
      .toSorted();
  return Object.fromEntries(tables.filter(({ name }) => name !== "counters").map(({ name }) => [name, rowsOf(name)]));
}

function readable(_member: string, value: unknown): unknown {
  return value instanceof ArrayBuffer ? [...new Uint8Array(value)] : value;
}

/** Runs an attack and holds the store against what it was before; also that no card rose and no page was told anything. */
export async function leavesNoTrace<T>(bench: Bench, attack: () => Promise<T>): Promise<T> {
  const [before, changes, grants] = [everythingStored(bench), bench.changes, bench.grantChanges];
  const outcome = await attack();
  expect([everythingStored(bench), bench.changes, bench.grantChanges]).toEqual([before, changes, grants]);
  return outcome;
}

/** How many bytes lie in all rows of all tables. */
export function bytesStored(bench: Bench): number {
  const counters = bench.storage.sql.exec<Row>("SELECT * FROM counters").toArray();
  return JSON.stringify([everythingStored(bench), counters]).length;
}
