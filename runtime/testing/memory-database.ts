/**
 * A database in memory that several nodes share, for simulations: the statements of `statements.ts` as PostgreSQL has
 * them, each at once. Leases run on its own clock.
 */
import type { Clock } from '../model/ports.ts';
import { MemoryStore, MemoryTables } from '../store/memory/memory-store.ts';
import type {
  ChangePageQuery,
  ChangeRow,
  ChangeStatements,
  CommitStatements,
  SessionStatements,
} from '../store/postgres/statements.ts';
import { actorKey, type CommitRow, changeText, type EncodedStep } from '../store/postgres/steps-as-arrays.ts';

export interface MemorySession {
  readonly node: string;
  readonly slot: number;
  readonly leaseMs: number;
  /** Description of the node, JSON. */
  readonly info: string;
  /** Time of the last heartbeat; minus infinity: it has ended. */
  seenAt: number;
}

/** Error of a statement, with a SQLSTATE. */
function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

export class MemoryDatabase implements SessionStatements, CommitStatements, ChangeStatements {
  readonly tables = new MemoryTables();
  readonly sessions = new Map<number, MemorySession>();
  /** Sessions that hold leases, by the names of these. */
  readonly leases = new Map<string, number>();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #changes: { readonly session: number; readonly steps: readonly string[] }[] = [];
  #token = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  async begin({ node, leaseSeconds, info, maxNodes }: Parameters<SessionStatements['begin']>[0]) {
    const living = [...this.sessions.values()];
    const slot = Array.from({ length: maxNodes }, (_, at) => at).find((at) =>
      living.every((session) => session.slot !== at),
    );
    if (slot === undefined || living.some((session) => session.node === node)) return undefined;
    this.#token += 1;
    const token = this.#token;
    this.sessions.set(token, { node, slot, leaseMs: leaseSeconds * 1000, info, seenAt: this.#clock.now() });
    return { token, slot, nodes: this.#nodes, now: this.#clock.now() };
  }

  get #nodes(): number {
    return [...this.sessions.values()].filter(({ seenAt }) => Number.isFinite(seenAt)).length;
  }

  async heartbeat(token: number, _report: string, _position: string | null) {
    const session = this.sessions.get(token);
    if (session === undefined) return undefined;
    session.seenAt = this.#clock.now();
    return { is_draining: false, now: this.#clock.now(), nodes: this.#nodes };
  }

  async takeOver(token: number, silentUntil: number, node: string) {
    const now = this.#clock.now();
    const silent = now < silentUntil;
    let over = 0;
    for (const [other, session] of this.sessions) {
      const isOver = other !== token && session.seenAt + session.leaseMs < now;
      if (!isOver || !(silent || session.node === node || !Number.isFinite(session.seenAt))) continue;
      this.sessions.delete(other);
      over += 1;
    }
    for (const [name, holder] of this.leases) if (!this.sessions.has(holder)) this.leases.delete(name);
    return { sessions_over: over, effects_taken: this.sessions.has(token) ? this.#takeWork(token) : 0 };
  }

  #takeWork(token: number): number {
    const { effects, leased, owners } = this.tables;
    let taken = 0;
    for (const [key, owner] of owners) {
      const lease = leased.get(key);
      if (this.sessions.has(lease ?? owner)) continue;
      owners.set(key, token);
      leased.delete(key);
      const effect = effects.get(key);
      if (effect === undefined) continue;
      effects.set(key, { ...effect, isTakenOver: true });
      taken += 1;
    }
    return taken;
  }

  async end(token: number): Promise<void> {
    const session = this.sessions.get(token);
    if (session !== undefined) session.seenAt = Number.NEGATIVE_INFINITY;
  }

  /** The fencing check: false when the work of the session may belong to another one. */
  protected mayCommit(token: number): boolean {
    return this.sessions.has(token);
  }

  async commit(token: number, steps: readonly EncodedStep[], isReported: boolean): Promise<CommitRow> {
    if (!this.mayCommit(token)) throw failure('LS001', 'The session of this node is over.');
    const hasOthers = [...this.sessions.keys()].some((other) => other !== token);
    if (hasOthers && !isReported) throw failure('LS002', 'Another session exists.');
    const store = new MemoryStore(this.tables, token);
    const committed = await Promise.all(steps.map(({ step }) => store.commit(step)));
    const stored = steps.filter((_, at) => committed[at]?.ok).map(changeText);
    if (hasOthers && stored.length > 0) this.#changes.push({ session: token, steps: stored });
    return {
      outcomes: committed.map((one) => (one.ok ? 'ok' : one.reason)),
      taken_names: committed.map((one) => (!one.ok && one.reason === 'taken' ? Buffer.from(one.name) : null)),
      holders: committed.map((one) => (!one.ok && one.reason === 'taken' ? actorKey(one.holder) : null)),
      change: hasOthers && stored.length > 0 ? this.#changes.length : null,
    };
  }

  async stored(_token: number, steps: readonly EncodedStep[]) {
    const store = new MemoryStore(this.tables);
    const found = await Promise.all(steps.map(({ step }) => store.load(step.actor.address)));
    return steps.flatMap((encoded, at) => {
      const { step } = encoded;
      const isStored = JSON.stringify(found[at] ?? null) === JSON.stringify(step.ends ? null : step.actor);
      const isReported = this.#changes.some((change) => change.steps.includes(changeText(encoded)));
      return isStored && !isReported ? [step] : [];
    });
  }

  get #position(): { readonly snapshot: string; readonly xmin: string } {
    return { snapshot: String(this.#changes.length), xmin: String(this.#changes.length) };
  }

  async open(_session: number) {
    return this.#position;
  }

  async page({ snapshot, session, own, after, target, limit }: ChangePageQuery) {
    const rows: ChangeRow[] = [];
    const end = Number(target ?? this.#changes.length);
    for (let seq = Math.max(Number(snapshot), after) + 1; seq <= end && rows.length < limit; seq += 1) {
      const change = this.#changes[seq - 1];
      if (change === undefined) break;
      const isKnown = change.session === session && own.includes(seq);
      rows.push({ ...this.#position, seq, session: change.session, steps: isKnown ? null : change.steps });
    }
    return rows.length > 0 ? rows : [{ ...this.#position, seq: null, session: null, steps: null }];
  }

  async consistently(read: Parameters<ChangeStatements['consistently']>[0]): Promise<void> {
    await read({
      page: (query) => this.page(query),
      counters: (prefix) => new MemoryStore(this.tables).counters(prefix),
    });
  }

  /** Gives back the leases of all other effects of a session. Returns their number. */
  async releaseAllBut(token: number, held: readonly string[]): Promise<number> {
    let released = 0;
    for (const [key, lease] of this.tables.leased) {
      if (lease !== token || held.includes(key)) continue;
      this.tables.leased.delete(key);
      released += 1;
    }
    return released;
  }

  /** True if the session has the lease of this name now. */
  async acquire(token: number, name: string): Promise<boolean> {
    if (!this.sessions.has(token)) return false;
    const holder = this.leases.get(name);
    if (holder !== undefined && holder !== token && this.sessions.has(holder)) return false;
    this.leases.set(name, token);
    return true;
  }

  async release(token: number, name: string): Promise<void> {
    if (this.leases.get(name) === token) this.leases.delete(name);
  }
}
