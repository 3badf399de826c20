/** Sounds, notifications and the count in the tab's title, for as long as the person wants them. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { DeskEvent } from "../shared/desk.ts";
import { visibleLine } from "../shared/visible-text.ts";
import { alertSentence, hear, mostUrgent, NOTHING_HEARD, type Alert, type AlertMemory } from "./alerts.ts";
import { createChime, type Chime } from "./chime.ts";

const KEY = "pi-relay.alerts";

export interface Alerts {
  readonly isOn: boolean;
  /** The browser lets no notification through; sound and title still work. */
  readonly isBlocked: boolean;
  /** What came since the tab was last looked at. */
  readonly unseen: number;
  readonly toggle: () => void;
  /** Every event of the desk, in order, whether alerts are on or not. */
  readonly onEvent: (event: DeskEvent) => void;
}

export function useAlerts(): Alerts {
  const [isOn, setOn] = useState(wasOn);
  const [isBlocked, setBlocked] = useState(() => isOn && permission() === "denied");
  const [unseen, setUnseen] = useState(0);
  const memory = useRef<AlertMemory>(NOTHING_HEARD);
  const chime = useRef<Chime | undefined>(undefined);
  chime.current ??= createChime();
  const on = useRef(isOn);
  on.current = isOn;

  const onEvent = useCallback((event: DeskEvent) => {
    const heard = hear(memory.current, event, Date.now());
    memory.current = heard.memory;
    const urgent = mostUrgent(heard.alerts);
    if (urgent === undefined || !on.current) return;
    if (!isLookedAt()) setUnseen((count) => count + heard.alerts.length);
    chime.current?.play(urgent.kind);
    if (document.hidden) notify(urgent);
  }, []);

  useEffect(() => onLookedAt(() => setUnseen(0)), []);
  useEffect(() => (isOn ? onFirstTouch(() => chime.current?.unlock()) : undefined), [isOn]);

  return {
    isOn,
    isBlocked,
    unseen: isOn ? unseen : 0,
    onEvent,
    toggle() {
      setOn(!isOn);
      setUnseen(0);
      remember(!isOn);
      setBlocked(false);
      if (isOn) return;
      chime.current?.unlock();
      void askPermission().then((answer) => setBlocked(answer === "denied"));
    },
  };
}

function isLookedAt(): boolean {
  return !document.hidden && document.hasFocus();
}

function onLookedAt(act: () => void): () => void {
  const look = (): void => {
    if (isLookedAt()) act();
  };
  window.addEventListener("focus", look);
  document.addEventListener("visibilitychange", look);
  return () => {
    window.removeEventListener("focus", look);
    document.removeEventListener("visibilitychange", look);
  };
}

/** After a reload the browser is silent until the person touches the page. */
function onFirstTouch(act: () => void): () => void {
  const end = new AbortController();
  const touched = (): void => {
    end.abort();
    act();
  };
  window.addEventListener("pointerdown", touched, { signal: end.signal });
  window.addEventListener("keydown", touched, { signal: end.signal });
  return () => end.abort();
}

function permission(): NotificationPermission {
  return "Notification" in window ? Notification.permission : "denied";
}

async function askPermission(): Promise<NotificationPermission> {
  return permission() === "default" ? Notification.requestPermission() : permission();
}

function notify(alert: Alert): void {
  if (permission() !== "granted") return;
  try {
    const shown = new Notification("pi-relay", { body: visibleLine(alertSentence(alert), 200), tag: alert.id });
    shown.addEventListener("click", () => {
      window.focus();
      shown.close();
    });
  } catch {
    // Phones allow notifications to service workers only; sound and title remain.
  }
}

function wasOn(): boolean {
  try {
    return localStorage.getItem(KEY) === "on";
  } catch {
    return false; // Storage that is switched off remembers nothing.
  }
}

function remember(isOn: boolean): void {
  try {
    if (isOn) localStorage.setItem(KEY, "on");
    else localStorage.removeItem(KEY);
  } catch {
    // As above: then it is for this page only.
  }
}
