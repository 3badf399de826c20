import { useEffect } from "preact/hooks";
import { pageTitle, type TitleFacts } from "./page-title.ts";

const FLASH_MS = 1_000;

/** The tab says that somebody waits, also when it is not the one in front; it flashes while there is something unseen. */
export function useTitle({ access, approvals, unseen }: TitleFacts): void {
  useEffect(() => {
    const title = pageTitle({ access, approvals, unseen });
    document.title = title;
    if (unseen === 0) return undefined;
    const timer = setInterval(() => (document.title = document.title === title ? "pi-relay" : title), FLASH_MS);
    return () => clearInterval(timer);
  }, [access, approvals, unseen]);
}
