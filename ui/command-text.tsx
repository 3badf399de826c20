import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import { revealCommand, type CommandPiece, type RevealedCommand } from "../shared/revealed-command.ts";

export function useRevealed(text: string): RevealedCommand {
  return useMemo(() => revealCommand(text), [text]);
}

/**
 * What would be run, inserted as text; long lines wrap, so that nothing stands outside the window. Where scrollbars are drawn
 * only while one scrolls, nothing else would say that the block goes on.
 */
export function CommandText({ pieces, label }: { readonly pieces: readonly CommandPiece[]; readonly label: string }): JSX.Element {
  const block = useRef<HTMLPreElement>(null);
  const [goesOn, setGoesOn] = useState(false);
  useLayoutEffect(() => {
    const { current: element } = block;
    if (element === null) return;
    const look = (): void => setGoesOn(element.scrollHeight > element.clientHeight + 1);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [pieces]);
  return (
    <>
      <pre ref={block} class="command-text" tabIndex={0} role="region" aria-label={label} dir="ltr">
        <code>{pieces.map(pieceShown)}</code>
      </pre>
      {goesOn ? <p class="goes-on">It goes on below: scroll in it to read all of it.</p> : null}
    </>
  );
}

function pieceShown(piece: CommandPiece, index: number): JSX.Element | string {
  switch (piece.kind) {
    case "plain":
      return piece.shown;
    case "right_to_left":
      return <bdi key={index}>{piece.shown}</bdi>;
    case "look_alike":
      return (
        <mark key={index} class="look-alike">
          {piece.shown}
          <small>{piece.code}</small>
        </mark>
      );
    case "hidden":
    case "blanks":
      return (
        <mark key={index} class={piece.kind}>
          {piece.shown}
        </mark>
      );
  }
}
