/**
 * Signs checkpoints of the history at intervals: the newest line and the state of every actor that changed, and every
 * deletion, become leaves of a Merkle tree whose signed root is stored, logged and anchored outside of the store.
 *
 * Actors that changed are tracked in memory, so that steps have no extra cost; after a start that follows a crash every
 * actor is compared with its newest leaves instead. Deletions are rows of the step that deletes.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */

import { setImmediate } from 'node:timers/promises';
import { describeFailure } from '../model/failures.ts';
import type { ActorStore, Clock, Log, Millis, Row, Step, StoredActor } from '../model/ports.ts';
import { type AnchoredCheckpoint, type HistoryAnchor, parseAnchor } from './anchor.ts';
import {
  CHECKPOINT,
  CHECKPOINTS_VIEW,
  type Checkpoint,
  type CheckpointSigner,
  checkpointHash,
  DELETIONS_VIEW,
  HEADS_VIEW,
  type HistoryLeaf,
  LEAVES_VIEW,
  type LeafPosition,
  leafText,
  parseCheckpoint,
  parseLeaf,
  parsePosition,
  stateHash,
  storedLeaf,
  UNSEALED_VIEW,
  UNSENT_VIEW,
} from './checkpoint.ts';
import { leafHash, merkleRoot } from './merkle.ts';
import { digestWork, type WorkDigests } from './work-digests.ts';

export interface HistorySealerOptions {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly signer: CheckpointSigner;
  /** Milliseconds between checkpoints. */
  readonly every: Millis;
  /** Kinds of actors, for the comparison after a crash. */
  readonly kinds: readonly string[];
  /** Keeps the newest checkpoint outside of the store. */
  readonly anchor?: HistoryAnchor;
  /** True: checkpoints are queued for `HistoryPublisher`. */
  readonly publishes: boolean;
  /** True: other nodes commit steps while this one does not observe them, so every start compares. @default false */
  readonly alwaysCompares?: boolean;
  /** Called after each interval, also if nothing has changed. */
  readonly onRound?: () => void;
}

/** Kind of the actor whose steps store checkpoints; one for each node. No machine belongs to it. */
export const HISTORY_KIND = 'history';

/** Leaves of one checkpoint; more changes make several checkpoints in a row. */
const MAX_LEAVES = 2048;
/** Actors tracked before the interval is shortened. */
const MAX_REMEMBERED = 50_000;
/** Actors read at once to be compared after a crash, and those compared before other work has its turn. */
const PAGE_SIZE = 64;
const COMPARED_AT_ONCE = 16;
/** Time for the digests of a stop. */
const DIGEST_TIME_MS: Millis = 3000;
/** Time for the checkpoints of a stop; the next start finds what is left of very many changes. */
const LAST_SEALS_MS: Millis = 10_000;
/** Actors read for a checkpoint before other work has its turn. */
const READ_AT_ONCE = 64;

/** An actor that changed since its newest leaves. */
interface Changed {
  readonly kind: string;
  readonly id: string;
}

type Rows = { readonly put: readonly Row[]; readonly remove: readonly Omit<Row, 'value'>[] };

export class HistorySealer {
  readonly #options: HistorySealerOptions;
  /** By kind and id; a new object for each step. */
  readonly #changed = new Map<string, Changed>();
  #own: StoredActor | undefined;
  #last: Checkpoint | undefined;
  #cancel = (): void => {};
  #stopped = false;
  /** Time of the clock at which no further checkpoint is begun. */
  #sealsUntil: Millis = Number.POSITIVE_INFINITY;
  /** Number of the newest comparison, and of the newest one that has seen every actor. */
  #comparison = 0;
  #compared = 0;
  /** Changes of the rows, one after the other. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: HistorySealerOptions) {
    this.#options = options;
  }

  /** Records a committed step; call it for each. */
  observe({ actor, ends }: Step): void {
    const { kind, id } = actor.address;
    const name = `${kind}/${id}`;
    if (ends) this.#changed.delete(name);
    else if (actor.journalHash !== undefined) this.#changed.set(name, { kind, id });
    if (this.#changed.size === MAX_REMEMBERED) void this.#round();
  }

  /** Reads the newest checkpoint and starts the interval. Compares all actors in the background after a crash. */
  async start(): Promise<void> {
    const { store, signer } = this.#options;
    this.#own = await store.load({ kind: HISTORY_KIND, id: signer.node });
    this.#last = await this.#newestCheckpoint();
    await this.#compareWithAnchor();
    this.#withdrawStop();
    const wasClean = this.#own?.state === 'Stopped' && !this.#options.alwaysCompares;
    await this.#enqueue(() => this.#commit({ put: [], remove: [] }, 'Running'));
    this.#anchor(false);
    if (!wasClean) this.compare();
    this.#arm();
  }

  async #newestCheckpoint(): Promise<Checkpoint | undefined> {
    const { store, signer } = this.#options;
    const prefix = [signer.node];
    const [newest] = await store.rows({ view: CHECKPOINTS_VIEW, prefix, reverse: true, limit: 1 });
    return newest && CHECKPOINT.read(newest.value);
  }

  /** Finds in the background what no checkpoint covers; call it when steps were committed that were not observed. */
  compare(): void {
    this.#comparison += 1;
    const comparison = this.#comparison;
    this.#enqueue(() => this.#compareAll(comparison)).catch((error: unknown) =>
      this.#options.log.warn('The history could not be compared with its checkpoints.', {
        ...describeFailure(error),
      }),
    );
  }

  /** Ends a comparison that is under way; checkpoints are begun for so long. */
  beginStop(within = LAST_SEALS_MS): void {
    this.#stopped = true;
    this.#cancel();
    this.#sealsUntil = Math.min(this.#sealsUntil, this.#options.clock.elapsed() + within);
  }

  /**
   * Covers the remaining changes, so that the next start need not compare. Call it when this node commits no more steps.
   * The stop is recorded only where checkpoints cover everything and no other node may change it: whoever verifies the
   * history takes each later change for an edit.
   */
  async stop(): Promise<void> {
    this.beginStop();
    await this.#enqueue(async () => {
      // Nodes that have ended committed steps that were not observed yet.
      await this.#options.store.nodes?.sync();
      await this.#sealAll();
      if (this.#compared < this.#comparison || this.#changed.size > 0 || (await this.#hasOtherNodes()))
        return;
      // Where the time was up before all deletions were sealed.
      if ((await this.#options.store.rows({ view: UNSEALED_VIEW, limit: 1 })).length > 0) return;
      await this.#commit({ put: [], remove: [] }, 'Stopped');
      // A node that starts waits until it reads a record of this one that says otherwise (`isRecordedAsStopped`).
      if (await this.#hasOtherNodes()) await this.#commit({ put: [], remove: [] }, 'Running');
      else this.#anchor(true, await this.#digestWork());
    });
  }

  /** True: a step would look like an edit until `start` resolves, here or on another node. */
  async isRecordedAsStopped(): Promise<boolean> {
    const { store, signer } = this.#options;
    return (await store.load({ kind: HISTORY_KIND, id: signer.node }))?.state === 'Stopped';
  }

  async #hasOtherNodes(): Promise<boolean> {
    const nodes = await this.#options.store.nodes?.list();
    return nodes?.some(({ isThis }) => !isThis) === true;
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
    const before = this.#last;
    // Actors that change meanwhile are covered by the next checkpoint: else a busy service would never end this.
    let left = this.#changed.size;
    for (;;) {
      const { leaves, unsealed, taken } = await this.#collect(left);
      if (leaves.length > 0) await this.#sealLeaves(leaves, unsealed);
      left -= taken.length;
      for (const [name, actor] of taken) {
        const newest = this.#changed.get(name);
        this.#changed.delete(name);
        if (newest !== undefined && newest !== actor) this.#changed.set(name, newest);
      }
      const isLate = this.#options.clock.elapsed() >= this.#sealsUntil;
      if (isLate || (left <= 0 && unsealed.length < MAX_LEAVES)) break;
    }
    if (this.#last !== before) this.#anchor(false);
  }

  /** Reads what changed: an actor that changes meanwhile has leaves of a moment between, and new ones next time. */
  async #collect(mostActors: number) {
    const unsealed = await this.#options.store.rows({ view: UNSEALED_VIEW, limit: MAX_LEAVES });
    const deletions = unsealed.map(({ key: [kind, id], value }): HistoryLeaf => {
      const { line, hash } = value as { readonly line: number; readonly hash: string };
      return { type: 'deleted', kind: String(kind), id: String(id), line, hash };
    });
    const leaves = [...deletions];
    const taken = [...this.#changed].slice(0, Math.min(mostActors, (MAX_LEAVES - deletions.length) / 2));
    for (let from = 0; from < taken.length; from += READ_AT_ONCE) {
      const some = taken.slice(from, from + READ_AT_ONCE);
      const actors = await Promise.all(some.map(([, address]) => this.#options.store.load(address)));
      for (const actor of actors) if (actor !== undefined) leaves.push(...leavesOf(actor));
      await setImmediate();
    }
    return { leaves, unsealed, taken };
  }

  /** A stop takes no longer for a store with very much of it; that is then not covered. */
  async #digestWork(): Promise<WorkDigests | undefined> {
    const { store, clock } = this.#options;
    const until = clock.elapsed() + DIGEST_TIME_MS;
    return digestWork(store, () => clock.elapsed() > until);
  }

  /** Rejects where the record of the last stop cannot be replaced: the first step would look like an edit. */
  #withdrawStop(): void {
    const { anchor } = this.#options;
    const kept = parseAnchor(anchor?.read());
    if (!kept?.stopped) return;
    const { checkpoint } = kept;
    anchor?.keep(JSON.stringify({ checkpoint, stopped: false } satisfies AnchoredCheckpoint));
  }

  /** A part that fails is repeated with the next checkpoint. */
  #anchor(stopped: boolean, work?: WorkDigests): void {
    const { anchor, log } = this.#options;
    if (anchor === undefined || this.#last === undefined) return;
    try {
      anchor.keep(
        JSON.stringify({
          checkpoint: this.#last,
          stopped,
          ...(work && { work }),
        } satisfies AnchoredCheckpoint),
      );
    } catch (error) {
      log.warn('The newest checkpoint of the history could not be kept outside of the store.', {
        ...describeFailure(error),
      });
    }
  }

  /** Sets an anchor aside that the store contradicts, so that `verifyHistory` finds it until somebody removes it. */
  async #compareWithAnchor(): Promise<void> {
    const { anchor, store, signer, log } = this.#options;
    const text = anchor?.read();
    const anchored = parseAnchor(text);
    if (anchor === undefined || text === undefined || anchored === undefined) return;
    if (anchored.checkpoint.node !== signer.node) {
      // The key was changed. It vouches for the checkpoints of the earlier one, and says nothing of later stops.
      anchor.setAside(JSON.stringify({ checkpoint: anchored.checkpoint, stopped: true }));
      return;
    }
    const { node, sequence } = anchored.checkpoint;
    const [row] = await store.rows({ view: CHECKPOINTS_VIEW, prefix: [node, sequence], limit: 1 });
    const stored = parseCheckpoint(row?.value);
    if (stored !== undefined && checkpointHash(stored) === checkpointHash(anchored.checkpoint)) return;
    log.error(
      'The store does not hold the newest checkpoint of the history: it was changed or restored from a backup. Run sealwright verify-history.',
      { Sequence: sequence },
    );
    anchor.setAside(text);
  }

  async #sealLeaves(leaves: readonly HistoryLeaf[], unsealed: readonly Row[]): Promise<void> {
    const { clock, signer, log, publishes, store } = this.#options;
    const isShared = store.nodes !== undefined;
    const checkpoint = signer.sign({
      sequence: (this.#last?.sequence ?? 0) + 1,
      at: clock.now(),
      leaves: leaves.length,
      root: merkleRoot(leaves.map((leaf) => leafHash(leafText(leaf)))),
      previous: this.#last === undefined ? '' : checkpointHash(this.#last),
    });
    const { node, sequence } = checkpoint;
    const put: Row[] = [
      { view: CHECKPOINTS_VIEW, key: [node, sequence], value: CHECKPOINT.write(checkpoint) },
    ];
    if (publishes) put.push({ view: UNSENT_VIEW, key: [node, sequence], value: null });
    // An actor that was made anew has several leaves, but one row of each of these; PostgreSQL refuses a row put twice.
    const rowsOfActors = new Map<string, Row>();
    for (const [index, leaf] of leaves.entries()) {
      const { type, kind, id } = leaf;
      const key = [kind, id];
      const position = [node, sequence, index];
      put.push({ view: LEAVES_VIEW, key: position, value: storedLeaf(leaf, isShared) });
      if (type !== 'state')
        rowsOfActors.set(`head ${kind}/${id}`, { view: HEADS_VIEW, key, value: position });
      if (type === 'deleted')
        rowsOfActors.set(`deletion ${kind}/${id}`, { view: DELETIONS_VIEW, key, value: position });
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
      // A commit that was not answered may have been stored.
      this.#own = await store.load(actor.address);
      this.#last = await this.#newestCheckpoint();
      throw new Error(`The checkpoint was refused: ${committed.reason}.`);
    }
    this.#own = actor;
  }

  /** Finds the actors whose newest line, or whose state, no checkpoint covers. */
  async #compareAll(comparison: number): Promise<void> {
    const { store, kinds } = this.#options;
    for (const kind of kinds) {
      let after: string | undefined;
      do {
        // A newer one follows, which sees the same.
        if (comparison < this.#comparison) return;
        const actors = await store.actors({ kind, limit: PAGE_SIZE, ...(after !== undefined && { after }) });
        for (const [at, actor] of actors.entries()) {
          await this.#compare(actor);
          // Reads of a store in memory or on disk end within the same turn of the event loop.
          if (at % COMPARED_AT_ONCE === 0) await setImmediate();
        }
        after = actors.length < PAGE_SIZE ? undefined : actors.at(-1)?.address.id;
        if (this.#stopped && after !== undefined) return;
      } while (after !== undefined);
    }
    this.#compared = comparison;
  }

  async #compare({ address: { kind, id }, journalHash: hash, revision }: StoredActor): Promise<void> {
    if (hash === undefined) return;
    const { store } = this.#options;
    const newest = await newestLeaf(store, { kind, id });
    // Leaves of earlier programs have no state; it is covered from the next step on.
    const isCovered =
      newest?.leaf.hash === hash && (newest.state === undefined || newest.state.line === revision);
    const name = `${kind}/${id}`;
    if (!isCovered && !this.#changed.has(name)) this.#changed.set(name, { kind, id });
  }
}

function leavesOf(actor: StoredActor): readonly HistoryLeaf[] {
  const { address, journalHash: hash, journalLength: line, revision } = actor;
  const { kind, id } = address;
  if (hash === undefined) return [];
  return [
    { type: 'head', kind, id, line, hash },
    { type: 'state', kind, id, line: revision, hash: stateHash(actor) },
  ];
}

/** Returns the newest leaf of an actor's chain with its position; undefined while there is none. */
export async function newestLeaf(
  store: Pick<ActorStore, 'rows'>,
  { kind, id }: { readonly kind: string; readonly id: string },
): Promise<
  | {
      readonly leaf: HistoryLeaf;
      readonly position: LeafPosition;
      /** The leaf of its state; undefined after a deletion, and in checkpoints of earlier programs. */
      readonly state: HistoryLeaf | undefined;
    }
  | undefined
> {
  const [head] = await store.rows({ view: HEADS_VIEW, prefix: [kind, id], limit: 1 });
  if (head === undefined) return undefined;
  const position = parsePosition(head.value);
  const leaf = position && (await leafAt(store, position));
  if (position === undefined || leaf === undefined) return undefined;
  const [node, sequence, index] = position;
  // The leaf of the state follows that of the chain.
  const next: LeafPosition = [node, sequence, index + 1];
  const state = await leafAt(store, next);
  return {
    leaf,
    position,
    state: state?.type === 'state' && state.kind === kind && state.id === id ? state : undefined,
  };
}

/** Returns the leaf at a position; undefined when there is none, or none that can be read. */
export async function leafAt(
  store: Pick<ActorStore, 'rows'>,
  position: LeafPosition,
): Promise<HistoryLeaf | undefined> {
  const [row] = await store.rows({ view: LEAVES_VIEW, prefix: position, limit: 1 });
  return parseLeaf(row?.value);
}
