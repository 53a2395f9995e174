/**
 * Signs checkpoints of the history at intervals: the newest line of every chain that grew, and every deletion, become
 * leaves of a Merkle tree whose signed root is stored and logged.
 *
 * Chains that grew are tracked in memory, so that steps have no extra cost; after a start that follows a crash every
 * actor is compared with its newest leaf instead. Deletions are rows of the step that deletes.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { describeFailure } from '../model/failures.ts';
import { jsonType } from '../model/json.ts';
import type { ActorStore, Clock, Log, Millis, Row, Step, StoredActor } from '../model/ports.ts';
import {
  CHECKPOINT,
  CHECKPOINTS_VIEW,
  type Checkpoint,
  type CheckpointSigner,
  checkpointHash,
  DELETIONS_VIEW,
  HEADS_VIEW,
  type HistoryLeaf,
  LEAF,
  LEAVES_VIEW,
  leafText,
  UNSEALED_VIEW,
  UNSENT_VIEW,
} from './checkpoint.ts';
import { leafHash, merkleRoot } from './merkle.ts';

export interface HistorySealerOptions {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly signer: CheckpointSigner;
  /** Milliseconds between checkpoints. */
  readonly every: Millis;
  /** Kinds of actors, for the comparison after a crash. */
  readonly kinds: readonly string[];
  /** True: checkpoints are queued for `HistoryPublisher`. */
  readonly publishes: boolean;
  /** True: other nodes commit steps while this one does not observe them, so every start compares. @default false */
  readonly alwaysCompares?: boolean;
  /** Called after each interval, also if nothing has changed. */
  readonly onRound?: () => void;
}

/** Kind of the actor whose steps store checkpoints; one for each node. No machine belongs to it. */
export const HISTORY_KIND = 'history';

/** Node, sequence number and index of the newest leaf of an actor. */
const HEAD = jsonType<readonly [string, number, number]>();

/** Leaves of one checkpoint; more changes make several checkpoints in a row. */
const MAX_LEAVES = 2048;
/** Chains tracked before the interval is shortened. */
const MAX_REMEMBERED = 50_000;
/** Actors compared at once after a crash. */
const PAGE_SIZE = 256;

type Rows = { readonly put: readonly Row[]; readonly remove: readonly Omit<Row, 'value'>[] };

export class HistorySealer {
  readonly #options: HistorySealerOptions;
  readonly #heads = new Map<string, HistoryLeaf>();
  #own: StoredActor | undefined;
  #last: Checkpoint | undefined;
  #cancel = (): void => {};
  #stopped = false;
  /** Changes of the rows, one after the other. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: HistorySealerOptions) {
    this.#options = options;
  }

  /** Records a committed step; call it for each. */
  observe({ actor, journal, ends }: Step): void {
    const { kind, id } = actor.address;
    const name = `${kind}/${id}`;
    const last = journal.at(-1);
    if (ends) this.#heads.delete(name);
    else if (last?.hash !== undefined)
      this.#heads.set(name, { type: 'head', kind, id, line: last.id, hash: last.hash });
    if (this.#heads.size === MAX_REMEMBERED) void this.#round();
  }

  /** Reads the newest checkpoint and starts the interval. Compares all actors in the background after a crash. */
  async start(): Promise<void> {
    const { store, signer, log } = this.#options;
    this.#own = await store.load({ kind: HISTORY_KIND, id: signer.node });
    const [newest] = await store.rows({
      view: CHECKPOINTS_VIEW,
      prefix: [signer.node],
      reverse: true,
      limit: 1,
    });
    this.#last = newest && CHECKPOINT.read(newest.value);
    const wasClean = this.#own?.state === 'Stopped' && !this.#options.alwaysCompares;
    await this.#enqueue(() => this.#commit({ put: [], remove: [] }, 'Running'));
    if (!wasClean)
      this.#enqueue(() => this.#compareAll()).catch((error: unknown) =>
        log.warn('Chains of the history could not be compared with their checkpoints.', {
          ...describeFailure(error),
        }),
      );
    this.#arm();
  }

  /**
   * Covers the remaining changes, so that the next start need not compare. Call it when no more steps are committed.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#enqueue(async () => {
      await this.#sealAll();
      await this.#commit({ put: [], remove: [] }, 'Stopped');
    });
  }

  /** Makes checkpoints of all changes. @returns the newest checkpoint; undefined while there is none */
  async seal(): Promise<Checkpoint | undefined> {
    await this.#enqueue(() => this.#sealAll());
    return this.#last;
  }

  /** Changes rows of the history; changes are serialized. */
  changeRows(rows: Rows): Promise<void> {
    return this.#enqueue(() => this.#commit(rows, 'Running'));
  }

  #arm(): void {
    const { clock, every } = this.#options;
    this.#cancel = clock.after(every, () => {
      void this.#round().then(() => {
        if (!this.#stopped) this.#arm();
      });
    });
  }

  /** Never rejects: changes that fail are covered by the next checkpoint. */
  async #round(): Promise<void> {
    try {
      await this.seal();
    } catch (error) {
      this.#options.log.warn('A checkpoint of the history could not be stored; the next one covers it.', {
        ...describeFailure(error),
      });
    }
    this.#options.onRound?.();
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work, work);
    this.#tail = result.catch(() => {});
    return result;
  }

  async #sealAll(): Promise<void> {
    for (;;) {
      const { leaves, unsealed, names } = await this.#collect();
      if (leaves.length === 0) break;
      await this.#sealLeaves(leaves, unsealed);
      for (const [name, leaf] of names) if (this.#heads.get(name) === leaf) this.#heads.delete(name);
    }
  }

  async #collect() {
    const unsealed = await this.#options.store.rows({ view: UNSEALED_VIEW, limit: MAX_LEAVES });
    const deletions = unsealed.map(({ key: [kind, id], value }): HistoryLeaf => {
      const { line, hash } = value as { readonly line: number; readonly hash: string };
      return { type: 'deleted', kind: String(kind), id: String(id), line, hash };
    });
    const names = [...this.#heads].slice(0, MAX_LEAVES - deletions.length);
    return { leaves: [...deletions, ...names.map(([, leaf]) => leaf)], unsealed, names };
  }

  async #sealLeaves(leaves: readonly HistoryLeaf[], unsealed: readonly Row[]): Promise<void> {
    const { clock, signer, log, publishes } = this.#options;
    const checkpoint = signer.sign({
      sequence: (this.#last?.sequence ?? 0) + 1,
      at: clock.now(),
      leaves: leaves.length,
      root: merkleRoot(leaves.map((leaf) => leafHash(leafText(leaf)))),
      previous: this.#last === undefined ? '' : checkpointHash(this.#last),
    });
    const { node, sequence, at } = checkpoint;
    const put: Row[] = [
      { view: CHECKPOINTS_VIEW, key: [node, sequence], value: CHECKPOINT.write(checkpoint) },
    ];
    if (publishes) put.push({ view: UNSENT_VIEW, key: [node, sequence], value: null });
    // An actor that was made anew has several leaves, but one row of each of these; PostgreSQL refuses a row put twice.
    const rowsOfActors = new Map<string, Row>();
    for (const [index, leaf] of leaves.entries()) {
      const { kind, id } = leaf;
      put.push({ view: LEAVES_VIEW, key: [node, sequence, index], value: LEAF.write(leaf) });
      const row = { view: HEADS_VIEW, key: [kind, id], value: [node, sequence, index] };
      rowsOfActors.set(`head ${kind}/${id}`, row);
      if (leaf.type === 'deleted')
        rowsOfActors.set(`deletion ${kind}/${id}`, { view: DELETIONS_VIEW, key: [kind, id], value: at });
    }
    put.push(...rowsOfActors.values());
    await this.#commit({ put, remove: unsealed.map(({ view, key }) => ({ view, key })) }, 'Running');
    this.#last = checkpoint;
    const { root } = checkpoint;
    log.info('The history was sealed.', {
      Sequence: sequence,
      Root: root,
      Checkpoint: JSON.stringify(checkpoint),
    });
  }

  async #commit(rows: Rows, state: 'Running' | 'Stopped'): Promise<void> {
    const { store, signer } = this.#options;
    const basedOn = this.#own?.revision ?? 0;
    const actor: StoredActor = {
      address: { kind: HISTORY_KIND, id: signer.node },
      revision: basedOn + 1,
      version: 1,
      state,
      context: {},
      timers: {},
      consumed: [],
      journalLength: 0,
      stopped: null,
    };
    const committed = await store.commit({
      actor,
      basedOn,
      journal: [],
      effects: [],
      settles: null,
      dropsEffects: false,
      timers: { arm: [], disarm: [] },
      rows,
      names: { take: [], release: [] },
      counters: {},
      moved: null,
    });
    if (!committed.ok) {
      this.#own = await store.load(actor.address);
      throw new Error(`The checkpoint was refused: ${committed.reason}.`);
    }
    await committed.durable;
    this.#own = actor;
  }

  /** Finds the chains whose newest line no checkpoint covers. */
  async #compareAll(): Promise<void> {
    const { store, kinds } = this.#options;
    for (const kind of kinds) {
      let after: string | undefined;
      do {
        const actors = await store.actors({ kind, limit: PAGE_SIZE, ...(after !== undefined && { after }) });
        for (const actor of actors) await this.#compare(actor);
        after = actors.length < PAGE_SIZE ? undefined : actors.at(-1)?.address.id;
      } while (after !== undefined && !this.#stopped);
    }
  }

  async #compare({
    address: { kind, id },
    journalHash: hash,
    journalLength: line,
  }: StoredActor): Promise<void> {
    if (hash === undefined) return;
    const leaf = await newestLeaf(this.#options.store, { kind, id });
    const name = `${kind}/${id}`;
    // The line observed meanwhile is newer.
    if (leaf?.leaf.hash !== hash && !this.#heads.has(name))
      this.#heads.set(name, { type: 'head', kind, id, line, hash });
  }
}

/** Returns the newest leaf of an actor with its position; undefined while there is none. */
export async function newestLeaf(
  store: Pick<ActorStore, 'rows'>,
  { kind, id }: { readonly kind: string; readonly id: string },
): Promise<
  | {
      readonly leaf: HistoryLeaf;
      readonly node: string;
      readonly sequence: number;
      readonly index: number;
    }
  | undefined
> {
  const [head] = await store.rows({ view: HEADS_VIEW, prefix: [kind, id], limit: 1 });
  if (head === undefined) return undefined;
  const [node, sequence, index] = HEAD.read(head.value);
  const [row] = await store.rows({ view: LEAVES_VIEW, prefix: [node, sequence, index], limit: 1 });
  return row && { leaf: LEAF.read(row.value), node, sequence, index };
}
