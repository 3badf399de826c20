/**
 * The workspace's SQLite: every table and every change to them. What each holds and for how long: docs/storage.md.
 *
 * Invariant: nothing is written before the first authenticated hello, so a stranger who guesses workspace names creates
 * none (DESIGN D5). Hence `hasTables` only reads, and only `createTables` makes the schema.
 */

/** One entry per version of the schema, applied in order. An entry that was released is never edited: add another. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE settings(key TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE oauth_kv(key TEXT PRIMARY KEY, value TEXT NOT NULL, metadata TEXT, expires_at INTEGER) WITHOUT ROWID;
   CREATE TABLE pending_authorizations(
     id TEXT PRIMARY KEY, state TEXT NOT NULL, raised INTEGER NOT NULL, source TEXT NOT NULL,
     created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, facts TEXT NOT NULL) WITHOUT ROWID;
   CREATE TABLE allowed_before(
     client_id TEXT NOT NULL, redirect_host TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(client_id, redirect_host)) WITHOUT ROWID;
   CREATE TABLE unused_clients(client_id TEXT PRIMARY KEY, source TEXT NOT NULL, registered_at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE refresh_answers(key TEXT PRIMARY KEY, grant_id TEXT NOT NULL, sealed BLOB NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE retired_refresh(
     hash TEXT PRIMARY KEY, grant_id TEXT NOT NULL, successor TEXT NOT NULL, retired_at INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE counters(key TEXT PRIMARY KEY, count INTEGER NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;`,
  "CREATE TABLE grant_uses(grant_id TEXT PRIMARY KEY, used_at INTEGER NOT NULL) WITHOUT ROWID;",
  `CREATE TABLE approved_redirects(
     client_id TEXT NOT NULL, redirect_uri TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(client_id, redirect_uri)) WITHOUT ROWID;`,
  // An index is a row more to write, which is billed: only what waits is in the second, and only answers in the third.
  `CREATE TABLE human_entries(
     n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, waits TEXT, client TEXT, question TEXT, json TEXT NOT NULL);
   CREATE INDEX human_waiting ON human_entries(waits) WHERE waits IS NOT NULL;
   CREATE INDEX human_answers ON human_entries(question) WHERE question IS NOT NULL;
   CREATE TABLE human_images(
     id TEXT NOT NULL, part INTEGER NOT NULL, parts INTEGER NOT NULL, at INTEGER NOT NULL, n INTEGER, data TEXT NOT NULL,
     PRIMARY KEY(id, part)) WITHOUT ROWID;`,
];

export interface Tables {
  readonly sql: SqlStorage;
  /** A stored JSON value; `undefined` when the key was never written. The caller checks its shape. */
  setting(key: string): unknown;
  putSetting(key: string, value: unknown): void;
}

/** Whether the schema is there. Writes nothing. */
export function hasTables(storage: DurableObjectStorage): boolean {
  return storage.sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'").toArray().length > 0;
}

/** Makes the schema or brings it up to date. Harmless when it is already there. Throws if a newer release wrote it. */
export function createTables(storage: DurableObjectStorage): Tables {
  storage.transactionSync(() => {
    if (!hasTables(storage)) storage.sql.exec("CREATE TABLE schema_version(version INTEGER NOT NULL); INSERT INTO schema_version VALUES(0)");
    migrate(storage.sql);
  });
  return tablesOf(storage.sql);
}

/** The existing schema, brought up to date. Throws if there is none: ask `hasTables` first. */
export function openTables(storage: DurableObjectStorage): Tables {
  if (!hasTables(storage)) throw new Error("this workspace has no tables yet: createTables comes first, at an authenticated hello");
  storage.transactionSync(() => migrate(storage.sql));
  return tablesOf(storage.sql);
}

function migrate(sql: SqlStorage): void {
  const { version } = sql.exec<{ version: number }>("SELECT version FROM schema_version").one();
  if (version > MIGRATIONS.length) {
    throw new Error(`the storage has schema version ${version}, this release knows ${MIGRATIONS.length}: deploy the newer release again`);
  }
  if (version === MIGRATIONS.length) return; // Reading only: this runs at every wake-up.
  for (const statements of MIGRATIONS.slice(version)) sql.exec(statements);
  sql.exec("UPDATE schema_version SET version = ?", MIGRATIONS.length);
}

function tablesOf(sql: SqlStorage): Tables {
  return {
    sql,
    setting(key) {
      const row = sql.exec<{ json: string }>("SELECT json FROM settings WHERE key = ?", key).toArray()[0];
      return row === undefined ? undefined : (JSON.parse(row.json) as unknown);
    },
    putSetting(key, value) {
      sql.exec("INSERT OR REPLACE INTO settings(key, json) VALUES(?, ?)", key, JSON.stringify(value));
    },
  };
}
