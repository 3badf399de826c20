/** Takes a secret from the person without showing it, or from a pipe. */
import type { Readable } from "node:stream";
import { StartFailure } from "../daemon/start-failure.ts";

export interface SecretTerminal {
  readonly input: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly write: (text: string) => void;
}

const MAX_BYTES = 64 * 1024;
const ENTER = new Set(["\r", "\n", "\u0004"]);
const ERASE = new Set(["\u007f", "\b"]);
const INTERRUPT = "\u0003";

/** What is piped in, or typed at the prompt. Throws `StartFailure` when there is nothing, or the person ended it. */
export async function readSecret(prompt: string, { input, write }: SecretTerminal): Promise<string> {
  const secret = input.isTTY === true ? await typed(prompt, { input, write }) : (await piped(input)).trim();
  if (secret === "") throw new StartFailure("Nothing was given, so nothing was kept.");
  if (/\p{Cc}/u.test(secret)) throw new StartFailure("The token must be one line without control characters.");
  return secret;
}

async function piped(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new StartFailure(`The token must have at most ${MAX_BYTES} bytes.`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Nothing that is typed is echoed, not even its length. */
async function typed(prompt: string, { input, write }: SecretTerminal): Promise<string> {
  write(prompt);
  input.setRawMode?.(true);
  input.setEncoding("utf8");
  const text: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const take = (chunk: string): void => {
    for (const character of chunk) {
      if (character === INTERRUPT) return reject(new StartFailure("Ended; nothing was kept."));
      if (ENTER.has(character)) return resolve(text.join("").trim());
      if (ERASE.has(character)) text.pop();
      else if (text.length < MAX_BYTES) text.push(character);
    }
  };
  input.on("data", take);
  input.once("end", () => resolve(text.join("").trim()));
  try {
    return await promise;
  } finally {
    input.off("data", take);
    input.setRawMode?.(false);
    input.pause();
    write("\n");
  }
}
