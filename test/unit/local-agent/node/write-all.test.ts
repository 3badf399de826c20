import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "../../../../local-agent/node/write-all.ts");

test.skipIf(process.platform === "win32")("[PI61] an answer that is longer than a pipe takes at once arrives whole", async () => {
  const program = `import { writeAll } from ${JSON.stringify(source)};
    // Node's own stream has the pipe not wait for a reader.
    process.stdout;
    await writeAll(1, "ä".repeat(500_000));`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", program], { stdio: ["ignore", "pipe", "inherit"] });
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => void (bytes += chunk.byteLength));
  const [code] = (await once(child, "close")) as [number];
  expect({ code, bytes }).toEqual({ code: 0, bytes: 1_000_000 });
});
