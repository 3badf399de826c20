/** Reading a stranger's body: bounded, whatever `Content-Length` claims and however well it was compressed. */

/** The body as text, or `undefined` when it is longer than `maxBytes`. */
export async function readBody(message: Request | Response, maxBytes: number): Promise<string | undefined> {
  if (Number(message.headers.get("content-length") ?? 0) > maxBytes) return undefined;
  const reader = message.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
    if (done || value === undefined) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
