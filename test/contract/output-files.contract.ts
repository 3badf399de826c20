/** What all `OutputFiles` hold, wherever they lie. */
import { expect, test } from "vitest";
import type { OutputFiles } from "../../local-agent/adapter/ports.ts";

export interface OutputFilesUnderTest {
  readonly files: OutputFiles;
  /** What lies there; null: nothing. */
  readonly read: (path: string) => Buffer | null;
}

export function describeOutputFiles(create: () => OutputFilesUnderTest): void {
  test.each([
    ["no text", ""],
    ["text of any language", "Grüße 🌉\r\n\0\u2028"],
    ["long text", "row of data\n".repeat(100_000)],
  ])("[CL25] keep %s whole", async (_what, text) => {
    const { files, read } = create();
    expect(read(await files.keepText(text, "output"))?.toString("utf8")).toBe(text);
    await files.close();
  });

  test("[CL25] keep the bytes of binary data, and count them", async () => {
    const { files, read } = create();
    const bytes = Buffer.from([0, 255, 13, 10]);
    const kept = await files.keepBinary(bytes.toString("base64"));
    expect([kept.bytes, read(kept.path)]).toEqual([4, bytes]);
    await files.close();
  });

  test("[CL25] give each a path of its own, many at once included", async () => {
    const { files, read } = create();
    const texts = Array.from({ length: 20 }, (_, n) => `text ${n}`);
    const paths = await Promise.all([...texts.map((text) => files.keepText(text, "mcp-result")), ...texts.map(binaryOf(files))]);
    expect(new Set(paths).size).toBe(40);
    expect(paths.map((path) => read(path)?.toString("utf8"))).toEqual([...texts, ...texts]);
    await files.close();
  });

  test("[CL26] refuse binary data beyond 10 MiB with a sentence, and go on", async () => {
    const { files, read } = create();
    const large = Buffer.alloc(10 * 1024 * 1024 + 1).toString("base64");
    await expect(files.keepBinary(large)).rejects.toThrow(/10485761 bytes/);
    expect(read(await files.keepText("after", "output"))?.toString("utf8")).toBe("after");
    await files.close();
  });

  test("[CL25] end, are gone then, take nothing more, and may be ended again", async () => {
    const { files, read } = create();
    const paths = [await files.keepText("a", "output"), await binaryOf(files)("b")];
    await files.close();
    expect(paths.map(read)).toEqual([null, null]);
    await expect(files.keepText("c", "output")).rejects.toThrow(/\w/);
    await expect(files.keepBinary("aGk=")).rejects.toThrow(/\w/);
    await files.close();
  });

  test("[CL25] that kept nothing end as well", async () => {
    await expect(create().files.close()).resolves.toBeUndefined();
  });
}

function binaryOf(files: OutputFiles): (text: string) => Promise<string> {
  return async (text) => (await files.keepBinary(Buffer.from(text).toString("base64"))).path;
}
