/** Splits a byte stream into lines. A line longer than `maxChars` is a defect of the server and throws. */
export function createLineReader(maxChars: number): (bytes: Uint8Array) => string[] {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let chars = 0;
  return (bytes) => {
    const pieces = decoder.decode(bytes, { stream: true }).split("\n");
    const lines: string[] = [];
    pieces.forEach((piece, index) => {
      parts.push(piece);
      chars += piece.length;
      if (chars > maxChars) throw new Error(`a line of more than ${maxChars} characters`);
      if (index === pieces.length - 1) return;
      lines.push(parts.join(""));
      parts = [];
      chars = 0;
    });
    return lines;
  };
}
