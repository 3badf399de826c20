import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { HUMAN_LIMITS } from "../../../../shared/human/limits.ts";
import { StoreUnreachable } from "../../../../shared/human/store.ts";
import type { PageConversation } from "../../../../local-agent/desk/page-conversation.ts";
import { startUiServer, type UiServer } from "../../../../local-agent/ui-server/server.ts";
import { deskUnderTest } from "../../../support/desk-under-test.ts";
import { rawRequest, type RawAnswer } from "../../../support/raw-http.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const BEARER = { authorization: `Bearer ${SECRET}` };
const JSON_TYPE = { "content-type": "application/json" };
const PNG = Buffer.from("89504e470d0a1a0a0000", "hex");

/** Keeps what it is given; an image is one when it begins like a PNG. */
function recordingConversation(changes: Partial<PageConversation> = {}) {
  const heard: unknown[] = [];
  const conversation: PageConversation = {
    say(order) {
      heard.push(order);
      return Promise.resolve({ outcome: "kept" });
    },
    answer(order) {
      heard.push(order);
      return Promise.resolve({ outcome: "over" });
    },
    putImage(bytes) {
      if (!Buffer.from(bytes).subarray(0, 4).equals(PNG.subarray(0, 4))) return Promise.resolve({ outcome: "not_an_image" });
      heard.push(bytes.byteLength);
      return Promise.resolve({ outcome: "kept", image: { id: randomUUID(), mimeType: "image/png", bytes: bytes.byteLength } });
    },
    image: (id) => Promise.resolve(id.startsWith("0") ? null : { mimeType: "image/png", bytes: PNG }),
    history: (before) => Promise.resolve({ entries: [], more: before > 1 }),
    view: () => ({ entries: [], unsent: [], isLoaded: true, waiting: null, clients: [] }),
    sawClient: () => undefined,
    pageOpened: () => () => undefined,
    isPageOpen: () => false,
    subscribe: () => () => undefined,
    ...changes,
  };
  return { conversation, heard };
}

async function serve(conversation: PageConversation | undefined, host = "127.0.0.1"): Promise<UiServer> {
  const uiDir = tempDir("page");
  mkdirSync(join(uiDir, "assets"));
  writeFileSync(join(uiDir, "index.html"), "<!doctype html><title>page</title>");
  const server = await startUiServer({ desk: deskUnderTest({ conversation }).desk, host, port: 0, secret: SECRET, uiDir });
  onTestFinished(() => server.close());
  return server;
}

async function served(changes: Partial<PageConversation> = {}): Promise<{ readonly server: UiServer; readonly heard: unknown[] }> {
  const { conversation, heard } = recordingConversation(changes);
  return { server: await serve(conversation), heard };
}

function post(server: UiServer, path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<RawAnswer> {
  return rawRequest({ port: server.port, method: "POST", path, headers: { ...BEARER, ...JSON_TYPE, ...headers }, body });
}

const say = (changes: object = {}): string => JSON.stringify({ id: randomUUID(), text: "hello", images: [], to: null, ...changes });
const answer = (changes: object = {}): string => JSON.stringify({ id: randomUUID(), questionId: randomUUID(), text: "yes", ...changes });

const WAYS_TO_WRITE: readonly (readonly [path: string, body: string | Buffer, type: string])[] = [
  ["/api/say", say(), "application/json"],
  ["/api/answer", answer(), "application/json"],
  ["/api/images", PNG, "image/png"],
];

test("[PG101] what the person writes reaches the conversation, and its outcome the page", async () => {
  const { server, heard } = await served();
  const [said, answered] = [say({ to: "client:1" }), answer()];
  expect(await post(server, "/api/say", said)).toMatchObject({ status: 200, body: '{"outcome":"kept"}' });
  expect(await post(server, "/api/answer", answered)).toMatchObject({ status: 200, body: '{"outcome":"over"}' });
  const stored = await post(server, "/api/images", PNG, { "content-type": "image/png" });
  expect(JSON.parse(stored.body)).toEqual({ image: { id: expect.any(String) as string, mimeType: "image/png", bytes: PNG.byteLength } });
  expect(heard).toEqual([JSON.parse(said), JSON.parse(answered), PNG.byteLength]);
  expect(await rawRequest({ port: server.port, path: "/api/history?before=9", headers: BEARER })).toMatchObject({
    status: 200,
    body: '{"entries":[],"more":true}',
  });
});

test.for<[string, Record<string, string>, number]>([
  ["a foreign Host", { host: "evil.example" }, 403],
  ["0.0.0.0 as Host", { host: "0.0.0.0" }, 403],
  ["a foreign Origin", { origin: "http://evil.example" }, 403],
  ["Origin null", { origin: "null" }, 403],
  ["another site", { "sec-fetch-site": "cross-site" }, 403],
  ["no secret", { authorization: "" }, 401],
  ["a secret of an earlier start", { authorization: `Bearer ${SECRET}0` }, 401],
  ["text/plain", { "content-type": "text/plain" }, 415],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415],
  ["a form with files", { "content-type": "multipart/form-data; boundary=x" }, 415],
  ["no type", { "content-type": "" }, 415],
])("[PG101] [PG103] nothing is written by a request with %s", async ([, headers, status]) => {
  const { server, heard } = await served();
  for (const [path, body, type] of WAYS_TO_WRITE) {
    const refused = await post(server, path, body, { "content-type": type, ...headers });
    expect([path, refused.status, refused.headers["x-content-type-options"]]).toEqual([path, status, "nosniff"]);
  }
  expect(heard).toEqual([]);
});

test("[PG101] nothing is written by GET, HEAD or another method, and nothing is read by POST", async () => {
  const { server, heard } = await served();
  for (const [path] of WAYS_TO_WRITE) {
    for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
      const refused = await rawRequest({ port: server.port, method, path: `${path}?id=${randomUUID()}&text=x`, headers: BEARER });
      expect([path, method, refused.status, refused.headers.allow]).toEqual([path, method, 405, "POST"]);
    }
  }
  for (const path of ["/api/history?before=1", `/api/images/${randomUUID()}`]) expect((await post(server, path, "{}")).status).toBe(405);
  expect(heard).toEqual([]);
});

test.for(["", "{", "null", "[]", say({ id: "1" }), say({ text: "" }), say({ to: "" }), say({ images: [{}] }), say({ text: 1 })])(
  "[PG102] %s is no message",
  async (body) => {
    const { server, heard } = await served();
    expect((await post(server, "/api/say", body)).status).toBe(400);
    expect(heard).toEqual([]);
  },
);

test("[PG102] a message is measured in bytes of UTF-8, however it is escaped", async () => {
  const { server, heard } = await served();
  const [most, escaped] = [say({ text: "é".repeat(HUMAN_LIMITS.textBytes / 2) }), say({ text: "\u0001".repeat(HUMAN_LIMITS.textBytes) })];
  for (const body of [most, escaped]) expect((await post(server, "/api/say", body)).status).toBe(200);
  expect(heard).toHaveLength(2);
  const tooLong = { status: 413, body: expect.stringContaining("A message has at most 64 KiB: shorten it") as string };
  const over = "é".repeat(HUMAN_LIMITS.textBytes / 2 + 1);
  expect(await post(server, "/api/say", say({ text: over }))).toMatchObject(tooLong);
  expect(await post(server, "/api/answer", answer({ text: over }))).toMatchObject(tooLong);
  expect(await post(server, "/api/say", say({ text: "x".repeat(1024 * 1024) }))).toMatchObject(tooLong);
  expect(heard).toHaveLength(2);
});

test("[PG102] an answer needs words and its question", async () => {
  const { server, heard } = await served();
  for (const body of [answer({ text: "" }), answer({ questionId: "1" }), answer({ questionId: undefined })]) {
    expect((await post(server, "/api/answer", body)).status).toBe(400);
  }
  expect(heard).toEqual([]);
});

test.for(["", "0", "-1", "1.5", "x", "9".repeat(16)])("[PG101] history before %j is refused", async (before) => {
  const { server } = await served();
  expect((await rawRequest({ port: server.port, path: `/api/history?before=${before}`, headers: BEARER })).status).toBe(400);
});

test("[PG103] what is no image, whatever it is called, and what is too large is refused", async () => {
  const { server, heard } = await served();
  const svg = await post(server, "/api/images", "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", {
    "content-type": "image/svg+xml",
  });
  expect(svg).toMatchObject({ status: 415, body: expect.stringContaining("Expected a PNG, JPEG, GIF or WebP image") as string });
  expect((await post(server, "/api/images", "<html>", { "content-type": "image/png" })).status).toBe(415);
  const large = Buffer.concat([PNG, Buffer.alloc(HUMAN_LIMITS.imageBytes)]);
  expect(await post(server, "/api/images", large, { "content-type": "image/png" })).toMatchObject({
    status: 413,
    body: expect.stringContaining("An image has at most 5 MiB") as string,
  });
  expect((await post(server, "/api/images", large, { "content-type": "image/png", "transfer-encoding": "chunked" })).status).toBe(413);
  expect(heard).toEqual([]);
});

test("[PG104] an image's bytes come as themselves and can do nothing as a document", async () => {
  const { server } = await served();
  const shown = await fetch(`${server.bareUrl}api/images/${randomUUID().replace(/^./, "1")}`, { headers: BEARER });
  expect(Buffer.from(await shown.arrayBuffer()).equals(PNG)).toBe(true);
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    "content-type": "image/png",
    "content-security-policy": "default-src 'none'; sandbox",
    "content-disposition": "attachment",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
  });
  for (const id of [randomUUID().replace(/^./, "0"), "..%2f..%2fetc", "1"]) {
    expect((await rawRequest({ port: server.port, path: `/api/images/${id}`, headers: BEARER })).status).toBe(404);
  }
});

test("[PG105] when nothing can be kept the page is told why", async () => {
  const away = (): never => {
    throw new StoreUnreachable("The relay is away and the disk is full.");
  };
  const { server } = await served({ say: away, answer: away, putImage: away, image: away, history: away });
  const answers = [
    ...(await Promise.all(WAYS_TO_WRITE.map(([path, body, type]) => post(server, path, body, { "content-type": type })))),
    await rawRequest({ port: server.port, path: "/api/history?before=1", headers: BEARER }),
    await rawRequest({ port: server.port, path: `/api/images/${randomUUID()}`, headers: BEARER }),
  ];
  expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [503, '{"error":"The relay is away and the disk is full."}']));
});

test("[PG105] a defect is 500 and says nothing of itself", async () => {
  const { server } = await served({
    say: () => {
      throw new Error("secret detail");
    },
  });
  const failed = await post(server, "/api/say", say());
  expect(failed.status).toBe(500);
  expect(failed.body).not.toContain("secret detail");
});

test("[PG105] without the person there is nothing to write to", async () => {
  const server = await serve(undefined);
  for (const [path, body, type] of WAYS_TO_WRITE) expect((await post(server, path, body, { "content-type": type })).status).toBe(404);
});

test("[PG100] bound to every address, the page answers under IP addresses of this machine and under no name", async () => {
  const server = await serve(recordingConversation().conversation, "0.0.0.0");
  expect(server.bareUrl).toBe(`http://127.0.0.1:${server.port}/`);
  const own = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter(({ family }) => family === "IPv4").map(({ address }) => address),
  );
  for (const address of own) expect([address, (await fetch(`http://${address}:${server.port}/`)).status]).toEqual([address, 200]);
  for (const host of ["evil.example", "workstation.lan", "0.0.0.0", "203.0.113.9"]) {
    const refused = await rawRequest({ port: server.port, path: "/", headers: { host: `${host}:${server.port}`, ...BEARER } });
    expect([host, refused.status]).toEqual([host, 403]);
  }
});
