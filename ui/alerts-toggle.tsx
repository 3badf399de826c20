import type { JSX } from "preact";
import type { Alerts } from "./use-alerts.ts";

/** Off until the person turns it on; only that click asks the browser for permission. */
export function AlertsToggle({ alerts }: { readonly alerts: Alerts }): JSX.Element {
  return (
    <span class="alerts">
      {alerts.isBlocked ? (
        <span class="muted" role="status">
          Your browser blocks notifications; sound and title still work.
        </span>
      ) : null}
      <button type="button" class="quiet" aria-pressed={alerts.isOn} onClick={() => alerts.toggle()}>
        <svg viewBox="0 0 16 16" aria-hidden="true" class="bell">
          <path d="M8 1.5a4 4 0 0 0-4 4v2.6L2.6 11.2h10.8L12 8.1V5.5a4 4 0 0 0-4-4Zm-1.7 11a1.7 1.7 0 0 0 3.4 0Z" />
          {alerts.isOn ? null : <path class="slash" d="M2 1.5 14.5 14" />}
        </svg>
        Alerts
      </button>
    </span>
  );
}
