/** What the object knows of its workspace and keeps across hibernation: learnt from the agent, never from a caller. */
import type { Deposits } from "../../shared/wire/frames.ts";

/** Key → JSON value in SQLite (`tables.ts`). Reading before the tables exist gives undefined; writing then is a defect. */
export interface FactStore {
  read(key: string): unknown;
  write(key: string, value: unknown): void;
}

/** Replaced instances that are remembered: a suspended machine that wakes up must not win its place back (WP20). */
const REMEMBERED_INSTANCES = 32;

export class WorkspaceFacts {
  readonly #store: FactStore;
  #deposits: Deposits | undefined;

  constructor(store: FactStore) {
    this.#store = store;
  }

  /** Undefined before the first hello ever: then the workspace does not exist for anybody. Read on every request, so kept. */
  deposits(): Deposits | undefined {
    this.#deposits ??= this.#store.read("deposits") as Deposits | undefined;
    return this.#deposits;
  }

  setDeposits(deposits: Deposits): void {
    // Rows written are what the platform bills; a restart of the agent usually changes nothing.
    if (JSON.stringify(this.deposits()) !== JSON.stringify(deposits)) this.#store.write("deposits", deposits);
    this.#deposits = deposits;
  }

  /** From the next request on. Without deposits there is nobody to ask for it. */
  setStaticTokens(staticTokens: Deposits["staticTokens"]): void {
    const deposits = this.deposits();
    if (deposits !== undefined) this.setDeposits({ ...deposits, staticTokens });
  }

  /** Public address the agent's socket came from. */
  workstationAddress(): string | undefined {
    return this.#store.read("workstation_address") as string | undefined;
  }

  setWorkstationAddress(address: string): void {
    if (this.workstationAddress() !== address) this.#store.write("workstation_address", address);
  }

  awaySince(): number | undefined {
    return (this.#store.read("away_since") as number | null | undefined) ?? undefined;
  }

  setAwaySince(at: number | undefined): void {
    if (this.awaySince() !== at) this.#store.write("away_since", at ?? null);
  }

  isRetired(instance: string): boolean {
    return this.#retired().includes(instance);
  }

  retire(instance: string): void {
    this.#store.write("retired_instances", [...this.#retired(), instance].slice(-REMEMBERED_INSTANCES));
  }

  #retired(): readonly string[] {
    return (this.#store.read("retired_instances") as readonly string[] | undefined) ?? [];
  }
}
