import { expect, test } from "vitest";
import {
  canSend,
  lengthNote,
  nextComposer,
  restoredComposer,
  storedComposer,
  type ComposerAction,
  type ComposerState,
} from "../../../ui/composer-state.ts";
import { entryId } from "../../support/scripted-conversation.ts";

let ids = 0;
type Change = ComposerAction extends infer A ? (A extends ComposerAction ? Omit<A, "freshId"> : never) : never;

function after(state: ComposerState, ...changes: Change[]): ComposerState {
  return changes.reduce<ComposerState>((state, change) => nextComposer(state, { ...change, freshId: entryId(++ids) }), state);
}

const SENT = { t: "sent", to: null } as const;
const empty = (): ComposerState => restoredComposer(null, entryId(++ids));

test("[PG67] what was sent leaves the box, and comes back with its id when it was refused", () => {
  const sent = after(empty(), { t: "typed", text: "hello" }, SENT);
  expect([sent.draft.text, sent.onTheWay.map(({ text }) => text)]).toEqual(["", ["hello"]]);
  const [{ id } = { id: "" }] = sent.onTheWay;
  const refused = after(sent, { t: "refused", id, why: "No." });
  expect(refused).toMatchObject({ draft: { id, text: "hello" }, onTheWay: [], problem: "No." });
  const changed = after(refused, { t: "typed", text: "hello!" });
  expect(changed.draft.id).not.toBe(id);
  expect(changed.problem).toBeUndefined();
});

test("[PG69] words go to whom the box named when they were sent, and the next ones by the choice again", () => {
  const sent = after(empty(), { t: "typed", text: "hello" }, { t: "sent", to: "grant:1" });
  expect([sent.onTheWay.map(({ to }) => to), sent.draft.to]).toEqual([["grant:1"], null]);
  // Sent again it must not reach another client under the same id.
  expect(after(sent, { t: "refused", id: sent.onTheWay[0]?.id ?? "", why: "No." }).draft.to).toBe("grant:1");
});

test("[PG67] what was sent or written after a refused message comes back behind it", () => {
  let state = after(empty(), { t: "typed", text: "one" }, SENT, { t: "typed", text: "two" }, SENT, { t: "typed", text: "three" });
  state = after(state, { t: "refused", id: state.onTheWay[0]?.id ?? "", why: "No." });
  expect([state.draft.text, state.onTheWay]).toEqual(["one\ntwo\nthree", []]);
});

test("[PG67] a page that was loaded again has in its box what was on its way", () => {
  const sent = after(empty(), { t: "typed", text: "hello" }, SENT);
  const restored = restoredComposer(JSON.parse(storedComposer(sent)), entryId(++ids));
  expect(restored.draft).toEqual(sent.onTheWay[0]);
  // It had arrived after all.
  expect(after(restored, { t: "kept", id: restored.draft.id }).draft.text).toBe("");
  for (const nonsense of [undefined, 7, { draft: { id: "x" } }, { draft: null, onTheWay: [] }]) {
    expect(restoredComposer(nonsense, entryId(++ids)).draft.text).toBe("");
  }
});

test("[PG68] a message holds four images, and one can be taken out again", () => {
  const image = (n: number) => ({ id: entryId(n), mimeType: "image/png" as const, bytes: 1 });
  const full = after(empty(), ...[1, 2, 3, 4, 5].map((n): Change => ({ t: "attached", image: image(n) })));
  expect(full.draft.images.map(({ id }) => id)).toEqual([1, 2, 3, 4].map(entryId));
  expect(after(full, { t: "removed", imageId: entryId(2) }).draft.images).toHaveLength(3);
  expect(canSend(full.draft)).toBe(true);
});

test("[PG66] room is counted in bytes, and said when little is left", () => {
  expect(lengthNote("a".repeat(50_000))).toBeUndefined();
  expect(lengthNote("ä".repeat(32_000))).toEqual({ words: "1,536 bytes left", isTooLong: false });
  expect(lengthNote("a".repeat(65_537))?.isTooLong).toBe(true);
  const draft = { id: entryId(1), text: "a".repeat(65_537), images: [], to: null };
  expect([canSend(draft), canSend({ ...draft, text: "a".repeat(65_536) }), canSend({ ...draft, text: " \n" })]).toEqual([false, true, false]);
});
