import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createOutputFiles } from "../../../local-agent/node/output-files.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { tempDir } from "../../support/temp-dir.ts";

function open() {
  const directory = join(tempDir(), "kept");
  const files = createOutputFiles({ directory, timers: new ManualClock(), log: { event: () => {} } });
  return { directory, files };
}

const megabytes = (n: number): string => Buffer.alloc(n * 1024 * 1024).toString("base64");

describe("files of large answers", () => {
  test("[CL25] are made when they are needed, private, and hold everything", async () => {
    const { directory, files } = open();
    expect(existsSync(directory)).toBe(false);
    const path = await files.keepText("Grüße 🌉", "output");
    const binary = await files.keepBinary(Buffer.from([0, 255]).toString("base64"));
    expect(path).toMatch(/pi-mcp-output-\w+\/output-[0-9a-f]+\.txt$/);
    expect(readFileSync(path, "utf8")).toBe("Grüße 🌉");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(binary).toEqual({ path: expect.stringMatching(/resource-1\.bin$/) as unknown, bytes: 2 });
    expect([...readFileSync(binary.path)]).toEqual([0, 255]);
    await files.close();
  });

  test("[CL25] end with the adapter, and none is made after", async () => {
    const { directory, files } = open();
    await files.keepText("a", "output");
    await files.keepBinary("aGk=");
    await files.close();
    expect(readdirSync(directory)).toEqual([]);
    await expect(files.keepText("b", "output")).rejects.toThrow("ending");
  });

  test("[CL26] are bounded: a binary one, and all together", async () => {
    const { directory, files } = open();
    await expect(files.keepBinary(megabytes(11))).rejects.toThrow("files of up to 10485760");
    const text = await files.keepText("a", "output");
    const ten = megabytes(10);
    await Promise.all(Array.from({ length: 10 }, () => files.keepBinary(ten)));
    expect(existsSync(text)).toBe(false);
    await expect(files.keepBinary(ten)).rejects.toThrow("kept already");
    await expect(files.keepText("b", "output")).rejects.toThrow("kept already");
    expect(readdirSync(directory)).toHaveLength(2);
    await files.close();
  });

  test("[CL26] one that could not be made, because another one would not go, takes no room", async () => {
    const { files } = open();
    const text = await files.keepText("a", "output");
    rmSync(text);
    mkdirSync(text);
    const ten = megabytes(10);
    const kept = await Promise.allSettled(Array.from({ length: 10 }, () => files.keepBinary(ten)));
    expect(kept.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 9 }, () => "fulfilled"), "rejected"]);
    expect((await files.keepBinary(ten)).bytes).toBe(10 * 1024 * 1024);
    await files.close();
  });

  test("[CL25] that cannot be written are an error that names the directory", async () => {
    if (process.getuid?.() === 0) return;
    const dir = tempDir();
    chmodSync(dir, 0o500);
    const files = createOutputFiles({ directory: dir, timers: new ManualClock(), log: { event: () => {} } });
    await expect(files.keepText("a", "output")).rejects.toThrow(`${dir} cannot be written (EACCES)`);
  });
});
