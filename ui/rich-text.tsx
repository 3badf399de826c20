import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { visibleBlock } from "../shared/visible-text.ts";

type RichContent = (text: string) => DocumentFragment | undefined;

let loaded: RichContent | undefined;
let loading: Promise<void> | undefined;

/** Fetches the part of the page that draws markdown and formulas, once. Never rejects: without it text stays plain. */
export function loadRichText(): Promise<void> {
  loading ??= import("./rich/rich-content.ts").then(
    (module) => void (loaded = module.richContent),
    () => void (loading = undefined),
  );
  return loading;
}

/** Text of a client: as written until it can be drawn, then as markdown with formulas. */
export function RichText({ text }: { readonly text: string }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [isReady, setReady] = useState(loaded !== undefined);
  useLayoutEffect(() => {
    if (!isReady) void loadRichText().then(() => setReady(loaded !== undefined));
    const content = loaded?.(text);
    host.current?.replaceChildren(content ?? visibleBlock(text));
    host.current?.classList.toggle("as-written", content === undefined);
  }, [text, isReady]);
  return <div ref={host} class="rich" dir="auto" />;
}
