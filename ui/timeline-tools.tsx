import { useEffect, useRef } from "preact/hooks";
import type { JSX } from "preact";
import type { CallFilter } from "./shown-calls.ts";
import type { TimelineFilter } from "./timeline-items.ts";

export interface TimelineToolsProps {
  readonly filter: TimelineFilter;
  readonly hasConversation: boolean;
  readonly found: { readonly count: number; readonly of: number } | undefined;
  readonly onFilter: (filter: TimelineFilter) => void;
}

/** What of the timeline is shown. */
export function TimelineTools({ filter, hasConversation, found, onFilter }: TimelineToolsProps): JSX.Element {
  const toggle = (calls: CallFilter) => (event: { currentTarget: HTMLInputElement }) =>
    onFilter({ ...filter, calls: event.currentTarget.checked ? calls : "all" });
  return (
    <div class="timeline-tools">
      <Search search={filter.search} found={found} onSearch={(search) => onFilter({ ...filter, search })} />
      {hasConversation ? (
        <label class="toggle">
          <input type="checkbox" checked={filter.calls === "none"} onChange={toggle("none")} />
          Hide tools
        </label>
      ) : null}
      <label class="toggle">
        <input type="checkbox" checked={filter.calls === "failed"} onChange={toggle("failed")} />
        Failed only
      </label>
    </div>
  );
}

interface SearchProps {
  readonly search: string;
  readonly found: { readonly count: number; readonly of: number } | undefined;
  readonly onSearch: (search: string) => void;
}

function Search({ search, found, onSearch }: SearchProps): JSX.Element {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      event.preventDefault();
      box.current?.focus();
      box.current?.select();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="search">
      <span class="muted" role="status">
        {found === undefined ? null : `${found.count} of ${found.of}`}
      </span>
      <input
        ref={box}
        type="search"
        aria-label="Search the timeline"
        aria-keyshortcuts="/"
        placeholder="Search  /"
        value={search}
        onInput={(event) => onSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          if (search === "") event.currentTarget.blur();
          else onSearch("");
        }}
      />
    </div>
  );
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
}
