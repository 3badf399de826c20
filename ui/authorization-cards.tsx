import type { JSX } from "preact";
import type { DeskInfo } from "../shared/desk.ts";
import { visibleLine } from "../shared/visible-text.ts";
import { AuthorizationCard } from "./authorization-card.tsx";
import type { Card } from "./page-state.ts";
import { useSteady } from "./steady.ts";

export interface AuthorizationCardsProps {
  readonly cards: readonly Card[];
  readonly movedAt: number;
  readonly info: DeskInfo;
  /** Without the agent nothing can be decided. */
  readonly isLive: boolean;
  readonly onDecide: (id: string, allow: boolean, code?: string) => void;
  readonly onDismiss: (id: string) => void;
  /** The person opened or closed something: what lies below has moved. */
  readonly onResize: () => void;
}

export function AuthorizationCards({ cards, movedAt, info, isLive, onDecide, onDismiss, onResize }: AuthorizationCardsProps): JSX.Element {
  const isSteady = useSteady(movedAt);
  return (
    <section id="requests" class="requests" aria-label="Requests for access" tabIndex={-1}>
      <p class="unseen" aria-live="polite">
        {announcement(cards)}
      </p>
      {cards.map((card) => (
        <AuthorizationCard
          key={card.authorization.id}
          card={card}
          info={info}
          canDecide={isLive && isSteady}
          onDecide={(allow, code) => onDecide(card.authorization.id, allow, code)}
          onDismiss={() => onDismiss(card.authorization.id)}
          onResize={onResize}
        />
      ))}
    </section>
  );
}

/** For screen readers: names who asks, so that several requests do not sound the same. */
function announcement(cards: readonly Card[]): string {
  const waiting = cards.filter((card) => card.state.at === "waiting");
  if (waiting.length === 0) return "";
  return `Access asked: ${waiting.map((card) => visibleLine(card.authorization.redirectHost, 100)).join(", ")}`;
}
