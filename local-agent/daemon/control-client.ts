/** A command's end of the control channel (`control-protocol.ts`). */
import { connect } from "node:net";
import * as v from "valibot";
import { parseJson } from "../../shared/json.ts";
import { CONTROL_LIMITS, ControlAnswer, type ControlRequest } from "./control-protocol.ts";
import { EXIT, StartFailure, systemErrorCode } from "./start-failure.ts";

/** The agent's result. Throws `StartFailure` with what the agent said instead, or with why it could not be asked. */
export async function askAgent(path: string, request: ControlRequest): Promise<unknown> {
  const answer = v.safeParse(ControlAnswer, parseJson(await exchange(path, `${JSON.stringify(request)}\n`)));
  if (!answer.success) throw new StartFailure("The running agent ended before it answered: look whether it still runs, and try again.", EXIT.failed);
  if (!answer.output.ok) throw new StartFailure(answer.output.message, EXIT.failed);
  return answer.output.result;
}

/** The agent's own deadline comes first, and says more. */
const GIVE_UP_MS = CONTROL_LIMITS.deadlineMs + 2000;

function exchange(path: string, line: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(path);
  const fail = (why: string): void => {
    socket.destroy();
    reject(new StartFailure(`The running agent cannot be asked (${why}): it may be just starting or ending; try again.`, EXIT.failed));
  };
  const timer = setTimeout(() => fail("no answer in time"), GIVE_UP_MS);
  socket.once("connect", () => socket.write(line));
  socket.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    if (text.length > CONTROL_LIMITS.answerChars) fail("its answer is too long");
  });
  socket.once("end", () => resolve(text));
  socket.once("error", (error) => fail(systemErrorCode(error) ?? error.message));
  return promise.finally(() => clearTimeout(timer));
}
