import { useMemo, useRef } from "preact/hooks";
import type { ApprovalCardsProps } from "./approval-cards.tsx";
import { loadWholeCommand, sendApproval } from "./desk-connection.ts";
import type { PageAction } from "./page-state.ts";

/** What the person can do with the calls that wait: each becomes a request to the agent and its news for the page. */
export function useApprovalHandlers(
  secret: string,
  dispatch: (action: PageAction) => void,
): Pick<ApprovalCardsProps, "onDecide" | "onShowAll" | "onDismiss"> {
  /** Until its answer: the second click of a double click can come before the button is drawn as dead. */
  const sending = useRef(new Set<string>());
  return useMemo(
    () => ({
      onDecide(id, decision, reason) {
        if (sending.current.has(id)) return;
        sending.current.add(id);
        dispatch({ t: "approval_sending", id, decision });
        void sendApproval(secret, reason === undefined ? { id, decision } : { id, decision, reason }).then((answer) => {
          sending.current.delete(id);
          dispatch({ t: "approval_answered", id, answer, now: Date.now() });
        });
      },
      onShowAll(id) {
        dispatch({ t: "approval_whole", id, whole: { at: "loading" }, now: Date.now() });
        void loadWholeCommand(secret, id).then((whole) => {
          const now = Date.now();
          if (typeof whole === "string") dispatch({ t: "approval_whole", id, whole: { at: "failed", why: whole }, now });
          else dispatch({ t: "approval_whole", id, whole: { at: "shown" }, text: whole, now });
        });
      },
      onDismiss: (id) => dispatch({ t: "approval_dismiss", id, now: Date.now() }),
    }),
    [secret, dispatch],
  );
}
