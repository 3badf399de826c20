/** What the tab says. Pure. */

export interface TitleFacts {
  /** Requests for access and calls that wait for the person. */
  readonly access: number;
  readonly approvals: number;
  /** What came with a sound since the tab was last looked at. */
  readonly unseen: number;
}

export function pageTitle({ access, approvals, unseen }: TitleFacts): string {
  const waiting = access + approvals;
  if (waiting === 0) return unseen === 0 ? "pi-relay" : `(${unseen}) New · pi-relay`;
  const asked = access === 0 ? "Approval asked" : approvals === 0 ? "Access asked" : "You are asked";
  return `(${Math.max(waiting, unseen)}) ${asked} · pi-relay`;
}
