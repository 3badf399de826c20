import { useMemo } from "preact/hooks";
import type { JSX } from "preact";
import { revealCommand, type CommandPiece, type RevealedCommand } from "../shared/revealed-command.ts";

export function useRevealed(text: string): RevealedCommand {
  return useMemo(() => revealCommand(text), [text]);
}

/** What would be run, inserted as text; long lines wrap, so that nothing stands outside the window. */
export function CommandText({ pieces, label }: { readonly pieces: readonly CommandPiece[]; readonly label: string }): JSX.Element {
  return (
    <pre class="command-text" tabIndex={0} role="region" aria-label={label} dir="ltr">
      <code>{pieces.map(pieceShown)}</code>
    </pre>
  );
}

function pieceShown(piece: CommandPiece, index: number): JSX.Element | string {
  switch (piece.kind) {
    case "plain":
      return piece.shown;
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
