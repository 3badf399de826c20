/** Every bound of the link, with its reason. Sizes in bytes, times in milliseconds (DESIGN D3 and D4). */
export const LIMITS = {
  /** A data frame's payload: far below the platform's 32 MiB message, small enough to interleave exchanges. */
  chunkBytes: 256 * 1024,
  /** A text frame. The largest is a `hello` with its deposits. */
  controlBytes: 1024 * 1024,
  /** A request body. */
  requestBytes: 4 * 1024 * 1024,
  /** Request bodies the relay holds in all: each until its answer's head, for the caller's id. */
  heldBytes: 32 * 1024 * 1024,
  /** A request's body or a whole answer up to this size travels inside its first frame: each message costs both sides a wake-up. */
  inlineBytes: 16 * 1024,
  /** Sent and unacknowledged answer bytes of one exchange: credit and retention are the same number. */
  windowBytes: 1024 * 1024,
  /** Open exchanges of one workspace. */
  exchanges: 64,
  /** Of those, one client's: it must not be able to keep every other out. */
  perPrincipal: 32,
  /** The last words of an answer. They also travel in a response header, as base64, from the object to the Worker. */
  headBytes: 8 * 1024,

  /** An exchange ends when for this long no frame of it came and its client read nothing; a lost link restarts the count (the grace). */
  silenceMs: 90_000,
  /** No exchange lives longer. */
  lifeMs: 60 * 60_000,
  /** How long a request that no agent has seen waits for the link after an unannounced loss. */
  holdMs: 10_000,
  /** Without a pong for this long the relay counts the link as lost. */
  pongAgeMs: 60_000,
  /** The relay writes a comment to a waiting stream at this interval while the agent cannot. */
  commentMs: 15_000,
  /** A `call` without its `reply` fails after this long. */
  callMs: 20_000,
  /** A socket that has not said `hello` is closed after this long. */
  helloMs: 10_000,
} as const;
