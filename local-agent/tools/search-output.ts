/** The second of two locks on a search: ripgrep is told what to leave out, and what it reports is checked all the same. */
import type { ChildProcess } from "node:child_process";
import { Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { isJsonObject, parseJson } from "../../shared/json.ts";

/** A longer line is left out: Pi shows 500 characters of one, and none may fill the memory. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;

/**
 * Replaces a running ripgrep's output by its `--json` lines without those of a file that `mayShow` refuses. Its `close`
 * event waits for the last line, as the reader expects of any child process.
 */
export function filterSearchOutput(child: ChildProcess, mayShow: (path: string) => boolean): void {
  if (child.stdout === null) return;
  const filtered = child.stdout.pipe(lineFilter(mayShow));
  Object.defineProperty(child, "stdout", { value: filtered });
  const emit = child.emit.bind(child);
  child.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event !== "close" || filtered.readableEnded) return emit(event, ...args);
    filtered.once("end", () => emit(event, ...args));
    return true;
  };
}

/** `rg` reports a file as `begin`, its lines, `end`, never interleaved with another's. */
function lineFilter(mayShow: (path: string) => boolean): Transform {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let tooLong = false;
  let hidden = false;
  const keep = (line: string): boolean => {
    if (line.startsWith('{"type":"begin"')) {
      const path = pathOf(line);
      hidden = path === undefined || !mayShow(path);
    }
    return !hidden;
  };
  const take = (text: string): string => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (tooLong && lines.length > 0) {
      lines.shift();
      tooLong = false;
    }
    if (rest.length > MAX_LINE_CHARS) {
      rest = "";
      tooLong = true;
    }
    return lines
      .filter(keep)
      .map((line) => `${line}\n`)
      .join("");
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, take(decoder.write(chunk)));
    },
    flush(done) {
      done(null, take(`${decoder.end()}\n`));
    },
  });
}

/** The path of a `begin` line; a name that is not UTF-8 comes as base64. */
function pathOf(line: string): string | undefined {
  const event = parseJson(line);
  const data = isJsonObject(event) ? event["data"] : undefined;
  const path = isJsonObject(data) ? data["path"] : undefined;
  if (!isJsonObject(path)) return undefined;
  if (typeof path["text"] === "string") return path["text"];
  return typeof path["bytes"] === "string" ? Buffer.from(path["bytes"], "base64").toString("utf8") : undefined;
}
