/** Every bound of the human channel, with its reason. Sizes in bytes (UTF-8), times in milliseconds. */
export const HUMAN_LIMITS = {
  /** One message, in either direction. */
  textBytes: 64 * 1024,
  /** Messages of the person that no client has taken: the next one is refused where it is typed, an old one is never dropped. */
  queued: 10_000,
  /** One image, as bytes. */
  imageBytes: 5 * 1024 * 1024,
  imagesPerMessage: 4,
  /** Images that are kept in all, 2 GiB at most: the oldest of a message that was read gives way to a new one. */
  images: 400,
  /** How long an image waits for the message that names it. */
  imageLifeMs: 24 * 60 * 60_000,
  /** Base64 characters of one piece of an image: a row stays below the platform's 2 MB and a frame below its bound. */
  imagePartChars: 512 * 1024,
  /** JSON characters of messages that one call takes, and of one page of history: a frame stays below its bound. At least one goes. */
  batchChars: 384 * 1024,
  /** Bytes of images that one call takes, beside at least one message: they travel as base64 in one answer. */
  batchImageBytes: 8 * 1024 * 1024,
  /** Entries that are kept once nobody waits for them. */
  history: 1000,
  historyPage: 200,
  options: 12,
  optionBytes: 500,
  /** Open questions of one client, and of all: an old one is never dropped for a new one. */
  openPerClient: 20,
  open: 100,
  /** How long a question waits for its answer. */
  questionLifeMs: 24 * 60 * 60_000,
  /** How long taking words waits for an earlier answer to the same client, which may still fail, to be over. */
  settleMs: 1000,
} as const;
