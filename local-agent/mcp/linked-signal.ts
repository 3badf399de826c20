/**
 * One signal out of several. Not `AbortSignal.any`: Node keeps such a signal for ever once it has a listener and its
 * sources never abort, which is what becomes of every call that simply succeeds.
 */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Aborts this signal alone; the first reason stays. */
  abort(reason: unknown): void;
  /** Forgets the sources; happens by itself when the signal aborts. */
  unlink(): void;
}

export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const own = new AbortController();
  const links: (() => void)[] = [];
  const unlink = (): void => {
    for (const remove of links.splice(0)) remove();
  };
  const abort = (reason: unknown): void => {
    unlink();
    own.abort(reason);
  };
  for (const source of sources) {
    // The listeners of one source may abort another one before ours is called: the order of the sources decides, not theirs.
    const follow = (): void => abort(sources.find((other) => other.aborted)?.reason);
    if (source.aborted) {
      follow();
      break;
    }
    source.addEventListener("abort", follow, { once: true });
    links.push(() => source.removeEventListener("abort", follow));
  }
  return { signal: own.signal, abort, unlink };
}
