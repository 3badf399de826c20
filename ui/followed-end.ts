import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Near enough to the end to count as being there. */
const SLACK_PX = 48;

/** What is below what the person sees: nothing, what they have scrolled past, or something that came since. */
type Below = "nothing" | "seen" | "new";

export interface FollowedEnd {
  readonly element: { current: HTMLDivElement | null };
  readonly below: Below;
  readonly goToEnd: () => void;
  /** Before older things are put above: what is in view stays in view. */
  readonly holdPlace: () => void;
}

/**
 * Keeps the end of what grows in view for as long as the person stays there: in the element where that scrolls by itself
 * (a desk), of the whole page where it does not (a phone). `mayMovePage`: false while something above must keep its place.
 */
export function useFollowedEnd(grows: readonly unknown[], mayMovePage: boolean): FollowedEnd {
  const element = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef({ element: true, page: true });
  const held = useRef<Held | undefined>(undefined);
  const mayMove = useRef(mayMovePage);
  mayMove.current = mayMovePage;
  const [below, setBelow] = useState<Below>("nothing");
  const isThere = (): boolean => (scrollsItself(element.current) ? isAtEnd.current.element : isAtEnd.current.page);

  useLayoutEffect(() => {
    const log = element.current;
    if (log === null) return undefined;
    const look = (): void => setBelow((old) => (isThere() ? "nothing" : old === "new" ? "new" : "seen"));
    const inLog = endOf(log);
    const inPage = endOf(document.documentElement);
    const onScroll = (): void => {
      isAtEnd.current.element = inLog(isAtEnd.current.element);
      look();
    };
    const onPageScroll = (): void => {
      isAtEnd.current.page = inPage(isAtEnd.current.page);
      look();
    };
    // Text that is drawn later, images and windows that change: the end stays in view through them too.
    const resized = new ResizeObserver(() => {
      if (isAtEnd.current.element) goTo(log);
      if (mayMove.current && isAtEnd.current.page) goTo(document.documentElement);
    });
    resized.observe(log);
    if (log.firstElementChild !== null) resized.observe(log.firstElementChild);
    log.addEventListener("scroll", onScroll, { passive: true });
    window.addEventListener("scroll", onPageScroll, { passive: true });
    return () => {
      resized.disconnect();
      log.removeEventListener("scroll", onScroll);
      window.removeEventListener("scroll", onPageScroll);
    };
  }, []);

  useLayoutEffect(() => {
    if (held.current !== undefined) return restore(element.current, held);
    if (isAtEnd.current.element) goTo(element.current);
    // Measured anew, because what grows below raises no scroll event: later the page must not jump to an end nobody was at.
    if (!mayMovePage) isAtEnd.current.page = isNearEnd(document.documentElement);
    else if (isAtEnd.current.page) goTo(document.documentElement);
    if (!isThere()) setBelow("new");
  }, grows);

  const goToEnd = useCallback(() => {
    isAtEnd.current = { element: true, page: true };
    goTo(element.current);
    goTo(document.documentElement);
    setBelow("nothing");
  }, []);
  const holdPlace = useCallback(() => {
    held.current = { element: fromEnd(element.current), page: fromEnd(document.documentElement) };
  }, []);
  return { element, below, goToEnd, holdPlace };
}

interface Held {
  readonly element: number;
  readonly page: number;
}

function restore(log: HTMLElement | null, held: { current: Held | undefined }): void {
  const place = held.current;
  held.current = undefined;
  if (place === undefined || log === null) return;
  if (scrollsItself(log)) log.scrollTo({ top: log.scrollHeight - place.element, behavior: "instant" });
  else document.documentElement.scrollTo({ top: document.documentElement.scrollHeight - place.page, behavior: "instant" });
}

function fromEnd(scroller: HTMLElement | null): number {
  return scroller === null ? 0 : scroller.scrollHeight - scroller.scrollTop;
}

function scrollsItself(log: HTMLElement | null): boolean {
  return log !== null && log.scrollHeight > log.clientHeight + 1;
}

function isNearEnd(scroller: HTMLElement): boolean {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < SLACK_PX;
}

/**
 * Whether the person is at the end after a scroll event. The event comes after the scrolling, and what was drawn in between
 * has made the end go away from them: only who scrolled up has left it.
 */
function endOf(scroller: HTMLElement): (wasThere: boolean) => boolean {
  let last = scroller.scrollTop;
  return (wasThere) => {
    const isUp = scroller.scrollTop < last;
    last = scroller.scrollTop;
    return isNearEnd(scroller) || (wasThere && !isUp);
  };
}

function goTo(scroller: HTMLElement | null): void {
  scroller?.scrollTo({ top: scroller.scrollHeight, behavior: "instant" });
}
