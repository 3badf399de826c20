import { useLayoutEffect, useRef } from "preact/hooks";

/** Near enough to the end to count as being there. */
const SLACK_PX = 48;

/**
 * Keeps the end of what grows in view for as long as the person stays there: in the element where that scrolls by itself
 * (a desk), of the whole page where it does not (a phone). `mayMovePage`: false while something above must keep its place.
 */
export function useFollowedEnd(grows: readonly unknown[], mayMovePage: boolean): { current: HTMLDivElement | null } {
  const element = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef({ element: true, page: true });
  useLayoutEffect(() => {
    const log = element.current;
    if (log === null) return undefined;
    const onScroll = (): void => void (isAtEnd.current.element = isNearEnd(log));
    const onPageScroll = (): void => void (isAtEnd.current.page = isNearEnd(document.documentElement));
    log.addEventListener("scroll", onScroll, { passive: true });
    window.addEventListener("scroll", onPageScroll, { passive: true });
    return () => {
      log.removeEventListener("scroll", onScroll);
      window.removeEventListener("scroll", onPageScroll);
    };
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current.element) goToEnd(element.current);
    // Measured anew, because what grows below raises no scroll event: later the page must not jump to an end nobody was at.
    if (!mayMovePage) isAtEnd.current.page = isNearEnd(document.documentElement);
    else if (isAtEnd.current.page) goToEnd(document.documentElement);
  }, grows);
  return element;
}

function isNearEnd(scroller: HTMLElement): boolean {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < SLACK_PX;
}

function goToEnd(scroller: HTMLElement | null): void {
  scroller?.scrollTo({ top: scroller.scrollHeight, behavior: "instant" });
}
