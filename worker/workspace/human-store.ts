/** The rows of the conversation in the workspace's SQLite (`tables.ts`). Every row written is billed, so none is written twice. */
import type { HumanEntry, Typed } from "../../shared/human/entry.ts";
import { clientOf, questionOf, waitsAs, type HumanRows, type ImageUse, type Unplaced, type WaitsAs } from "../../shared/human/queue-rows.ts";

type Row = { n: number; json: string };

/** Rows in memory at a time: each may be as large as a message. */
const PAGE = 20;

export function createHumanStore(storage: DurableObjectStorage): HumanRows {
  const { sql } = storage;
  const read = (where: string, ...values: (string | number | null)[]): HumanEntry[] =>
    sql
      .exec<Row>(`SELECT n, json FROM human_entries WHERE ${where}`, ...values)
      .toArray()
      .map(entryOf);
  return {
    transaction: (work) => storage.transactionSync(work),
    get: (id) => read("id = ?", id)[0],
    answerTo: (questionId) => read("question = ? LIMIT 1", questionId)[0] as Typed | undefined,
    waitingAnswers: (principalId) => read("waits IS NOT NULL AND question IS NOT NULL AND client = ?", principalId) as Typed[],
    insert(entry) {
      const values = [entry.id, waitsAs(entry), clientOf(entry), questionOf(entry), jsonOf(entry)];
      return sql
        .exec<{ n: number }>("INSERT INTO human_entries(id, waits, client, question, json) VALUES(?, ?, ?, ?, ?) RETURNING n", ...values)
        .one().n;
    },
    update(entry) {
      const values = [waitsAs(entry), clientOf(entry), questionOf(entry), jsonOf(entry), entry.n];
      sql.exec("UPDATE human_entries SET waits = ?, client = ?, question = ?, json = ? WHERE n = ?", ...values);
    },
    *waiting(as, forClient) {
      for (let after = 0; ;) {
        const page = read(`${waitsFor(forClient)} AND n > ? ORDER BY n LIMIT ${PAGE}`, ...valuesFor(as, forClient), after);
        yield* page;
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) return;
        after = last.n;
      }
    },
    count: (as, forClient) =>
      sql.exec<{ c: number }>(`SELECT count(*) AS c FROM human_entries WHERE ${waitsFor(forClient)}`, ...valuesFor(as, forClient)).one().c,
    waitingClients: () =>
      sql
        .exec<{ client: string }>("SELECT DISTINCT client FROM human_entries WHERE waits IS NOT NULL AND client IS NOT NULL")
        .toArray()
        .map(({ client }) => client),
    *latest(before) {
      for (let below = before; ;) {
        const page = read(`(?1 IS NULL OR n < ?1) ORDER BY n DESC LIMIT ${PAGE}`, below);
        yield* page;
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) return;
        below = last.n;
      }
    },
    dropSettled(n) {
      sql.exec("DELETE FROM human_entries WHERE n <= ? AND waits IS NULL", n);
    },
    ...images(sql),
  };
}

function images(sql: SqlStorage): Pick<HumanRows, "images" | "putPart" | "part" | "useImage" | "dropImage"> {
  return {
    images: () =>
      sql
        .exec<{ id: string; at: number; usedBy: ImageUse["usedBy"] }>(
          `SELECT i.id, i.at, CASE WHEN i.n IS NULL THEN 'none' WHEN e.n IS NULL THEN 'gone' WHEN e.waits IS NULL THEN 'settled' ELSE 'waiting' END
           AS usedBy FROM human_images i LEFT JOIN human_entries e ON e.n = i.n WHERE i.part = 0 ORDER BY i.at`,
        )
        .toArray(),
    putPart({ id, part, parts, at, data }) {
      sql.exec("INSERT OR IGNORE INTO human_images(id, part, parts, at, data) VALUES(?, ?, ?, ?, ?)", id, part, parts, at, data);
    },
    part: (id, part) =>
      sql
        .exec<{ id: string; part: number; parts: number; at: number; data: string }>(
          "SELECT id, part, parts, at, data FROM human_images WHERE id = ? AND part = ?",
          id,
          part,
        )
        .toArray()[0],
    useImage(id, n) {
      sql.exec("UPDATE human_images SET n = ? WHERE id = ? AND part = 0", n, id);
    },
    dropImage(id) {
      sql.exec("DELETE FROM human_images WHERE id = ?", id);
    },
  };
}

function waitsFor(forClient: string | undefined): string {
  return forClient === undefined ? "waits = ?" : "waits = ? AND (client = ? OR client IS NULL)";
}

function valuesFor(as: WaitsAs, forClient: string | undefined): string[] {
  return forClient === undefined ? [as] : [as, forClient];
}

function entryOf({ n, json }: Row): HumanEntry {
  return { ...(JSON.parse(json) as HumanEntry), n };
}

function jsonOf(entry: Unplaced): string {
  return JSON.stringify(entry);
}
