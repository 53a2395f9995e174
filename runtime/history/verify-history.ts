/**
 * Verifies the history of a store: every chain, every checkpoint with its tree, every leaf against the chain, the state
 * or the deletion that it names, and copies of checkpoints that were kept elsewhere.
 *
 * Every loop advances by keys in ascending order; a store whose order is broken has a fault there.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { isDeepStrictEqual } from 'node:util';
import type {
  ActorAddress,
  ActorStore,
  JournalLine,
  Json,
  Millis,
  Row,
  StoredActor,
  WorkReader,
} from '../model/ports.ts';
import type { AnchoredCheckpoint } from './anchor.ts';
import {
  CHAIN_START,
  CHECKPOINTS_VIEW,
  type Checkpoint,
  checkpointHash,
  DELETIONS_VIEW,
  type HistoryLeaf,
  isSigned,
  LEAVES_VIEW,
  type LeafPosition,
  leafText,
  lineHash,
  parseCheckpoint,
  parseLeaf,
  parsePosition,
  stateHash,
  UNSEALED_VIEW,
} from './checkpoint.ts';
import { ErasedLines, recordOf } from './erasure.ts';
import { leafHash, merkleRoot } from './merkle.ts';
import { HISTORY_KIND, leafAt, newestLeaf } from './sealer.ts';
import { digestWork } from './work-digests.ts';

export type HistoryReader = Pick<ActorStore, 'load' | 'actors' | 'journal' | 'rows'> & WorkReader;

export interface VerifyHistoryOptions {
  /** Kinds of actors. */
  readonly kinds: readonly string[];
  /** Copies of checkpoints stored elsewhere; the store must hold the same. */
  readonly copies?: readonly Checkpoint[];
  /** Reads the anchors, also again when a service may have started meanwhile. */
  readonly anchors?: () => readonly AnchoredCheckpoint[];
  /**
   * Nodes whose keys are kept outside of the store. Those of anchors and copies count too; checkpoints of another node
   * are a fault, for whoever writes to the store can make a key. @default every node counts
   */
  readonly nodes?: readonly string[];
  /**
   * Returns the rows of lists that follow from an actor; undefined for an actor of another version. Compared with those
   * of a stopped service. @default no list is compared
   */
  readonly rowsOf?: (actor: StoredActor) => readonly Row[] | undefined;
  /** Maximum number of lines and leaves to verify. @default all */
  readonly limit?: number;
}

/** The first entry that was altered. */
export interface HistoryFault {
  /** For example `job/<id> line 3`, `checkpoint 12 of node <node>`. */
  readonly entry: string;
  /** The reason, as a sentence. */
  readonly problem: string;
}

export interface HistoryReport {
  readonly actors: number;
  readonly lines: number;
  readonly checkpoints: number;
  readonly leaves: number;
  /** Actors that changed after the newest checkpoint that covers them, or were never covered. */
  readonly uncovered: number;
  /** Actors whose lines have no hashes: of a program before the history had chains, or put into the store by hand. */
  readonly unchained: number;
  /** Lines whose texts were erased, as a record in their chain says. */
  readonly erased: number;
  /** Actors with such lines, the first 20, for example `document/<id>`. */
  readonly erasedFrom: readonly string[];
  /** False when the limit ended the verification. */
  readonly complete: boolean;
  /**
   * False when anchors were looked for and none is kept beside a store with checkpoints: then nothing tells whether the
   * newest checkpoints were removed.
   */
  readonly anchored: boolean;
  readonly fault: HistoryFault | undefined;
}

const PAGE_SIZE = 256;

const WORK_NAMES = ['effects', 'timers', 'counters', 'names'] as const;

const STRANGER =
  'Its key is not the one in the folder of keys. Whoever can write to the store can make such a checkpoint. If the key was changed on purpose, give a copy of a checkpoint that it made (--copy).';

const UNRECORDED = 'Its text is missing, and no erasure was recorded.';

/** Actors with erased lines that a report names. */
const MOST_NAMED = 20;

class Broken extends Error {
  readonly fault: HistoryFault;
  constructor(entry: string, problem: string) {
    super(problem);
    this.fault = { entry, problem };
  }
}

class LimitReached extends Error {}

/** Resolves with the first fault; a service may write to the store at the same time. */
export async function verifyHistory(
  store: HistoryReader,
  options: VerifyHistoryOptions,
): Promise<HistoryReport> {
  const verification = new Verification(store, options);
  let fault: HistoryFault | undefined;
  let complete = true;
  try {
    complete = await verification.run();
    await verification.late(complete);
  } catch (error) {
    if (error instanceof Broken) fault = error.fault;
    else if ((error as { readonly code?: unknown }).code === 'store.damaged')
      fault = { entry: 'the store', problem: (error as Error).message };
    else throw error;
  }
  return {
    ...verification.counts,
    erasedFrom: verification.erasedFrom,
    complete,
    anchored: await verification.isAnchored(),
    fault,
  };
}

class Verification {
  readonly counts = { actors: 0, lines: 0, checkpoints: 0, leaves: 0, uncovered: 0, unchained: 0, erased: 0 };
  readonly erasedFrom: string[] = [];
  readonly #store: HistoryReader;
  readonly #options: VerifyHistoryOptions;
  /** Time of the first checkpoint; undefined while there is none. */
  #sealedSince: Millis | undefined;
  /** Identifies the stop before which everything was written; undefined while a service runs, and after a crash. */
  #stop: string | undefined;
  #changedLate: StoredActor | undefined;
  /** Number of rows of each list that follow from the actors; undefined once it is not known. */
  #listed: Map<string, number> | undefined = new Map();
  #misplaced: { readonly actor: StoredActor; readonly view: string } | undefined;

  constructor(store: HistoryReader, options: VerifyHistoryOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** @returns false when the limit ended it */
  async run(): Promise<boolean> {
    try {
      await this.#all();
      return true;
    } catch (error) {
      if (error instanceof LimitReached) return false;
      throw error;
    }
  }

  /** True also where there is nothing to anchor, and where no anchors were asked for. */
  async isAnchored(): Promise<boolean> {
    if (this.#options.anchors === undefined || this.#anchors().length > 0) return true;
    return (await this.#store.rows({ view: CHECKPOINTS_VIEW, prefix: [], limit: 1 })).length === 0;
  }

  async #all(): Promise<void> {
    this.#stop = await this.#lastStop();
    for (const copy of this.#options.copies ?? []) await this.#copy(copy);
    for (const { checkpoint } of this.#anchors()) await this.#anchor(checkpoint);
    await this.#sealers();
    for (const kind of this.#options.kinds) await this.#kind(kind);
    let last: Checkpoint | undefined;
    for await (const { key, value } of this.#rows(CHECKPOINTS_VIEW)) {
      const checkpoint = parseCheckpoint(value);
      const [node, sequence] = key;
      const entry = `checkpoint ${sequence} of node ${node}`;
      if (checkpoint === undefined || checkpoint.node !== node || checkpoint.sequence !== sequence)
        throw new Broken(entry, 'It cannot be read or has the number of another.');
      await this.#checkpoint(entry, checkpoint, last?.node === node ? last : undefined);
      last = checkpoint;
      this.counts.checkpoints += 1;
    }
  }

  /** Looks at the first checkpoint of each node: whose it is, and when. */
  async #sealers(): Promise<void> {
    const { nodes, copies = [] } = this.#options;
    const vouched = [...copies, ...this.#anchors().map(({ checkpoint }) => checkpoint)];
    const known = nodes && new Set([...nodes, ...vouched.map(({ node }) => node)]);
    let after: readonly (string | number)[] | undefined;
    for (;;) {
      const [row] = await this.#store.rows({ view: CHECKPOINTS_VIEW, limit: 1, ...(after && { after }) });
      const node = row?.key[0];
      if (row === undefined || node === undefined) return;
      // Without any key there is nothing to compare with, as in a store that was restored alone.
      if (known !== undefined && known.size > 0 && !known.has(String(node)))
        throw new Broken(`checkpoint ${row.key[1]} of node ${node}`, STRANGER);
      const at = parseCheckpoint(row.value)?.at;
      if (at !== undefined) this.#sealedSince = Math.min(at, this.#sealedSince ?? at);
      after = [node, Number.MAX_SAFE_INTEGER];
    }
  }

  #anchors(): readonly AnchoredCheckpoint[] {
    return this.#options.anchors?.() ?? [];
  }

  /** Identifies the last stop when every service that wrote to the store has ended in order: checkpoints cover everything. */
  async #lastStop(): Promise<string | undefined> {
    const anchors = this.#anchors();
    if (anchors.length > 0)
      return anchors.every(({ stopped }) => stopped) ? JSON.stringify(anchors) : undefined;
    const sealers = await this.#store.actors({ kind: HISTORY_KIND, limit: PAGE_SIZE });
    const isStopped = sealers.length > 0 && sealers.every(({ state }) => state === 'Stopped');
    return isStopped ? JSON.stringify(sealers.map(({ revision }) => revision)) : undefined;
  }

  /** True when no service has run since the verification began. */
  async #isStopped(): Promise<boolean> {
    return this.#stop !== undefined && (await this.#lastStop()) === this.#stop;
  }

  #spend(): void {
    const { limit = Number.POSITIVE_INFINITY } = this.#options;
    if (this.counts.lines + this.counts.leaves >= limit) throw new LimitReached();
  }

  async *#rows(view: string, prefix: readonly (string | number)[] = []) {
    let after: readonly (string | number)[] | undefined;
    for (;;) {
      const rows = await this.#store.rows({ view, prefix, limit: PAGE_SIZE, ...(after && { after }) });
      yield* rows;
      if (rows.length < PAGE_SIZE) return;
      after = rows.at(-1)?.key;
    }
  }

  async #kind(kind: string): Promise<void> {
    let after: string | undefined;
    do {
      const actors = await this.#store.actors({
        kind,
        limit: PAGE_SIZE,
        ...(after !== undefined && { after }),
      });
      for (const actor of actors) {
        const { address } = actor;
        if (address.kind !== kind || !isBehind(after, address.id))
          throw new Broken(nameOf(address), 'The actor is stored in the place of another.');
        after = address.id;
        await this.#chain(actor);
        await this.#coverage(actor);
        await this.#lists(actor);
        this.counts.actors += 1;
      }
      if (actors.length < PAGE_SIZE) return;
    } while (after !== undefined);
  }

  /** Compares the rows of lists with those that follow from the actor. */
  async #lists(actor: StoredActor): Promise<void> {
    const { rowsOf } = this.#options;
    if (rowsOf === undefined) return;
    const rows = rowsOf(actor);
    if (rows === undefined) this.#listed = undefined;
    for (const { view, key, value } of rows ?? []) {
      this.#listed?.set(view, (this.#listed.get(view) ?? 0) + 1);
      const [stored] = await this.#store.rows({ view, prefix: key, limit: 1 });
      // JSON leaves out members that are undefined.
      const expected: unknown = JSON.parse(JSON.stringify(value));
      if (isDeepStrictEqual(stored?.key, key) && isDeepStrictEqual(stored?.value, expected)) continue;
      this.#misplaced ??= { actor, view };
    }
  }

  /** Reports a list of a stopped service that is not the one that follows from the actors. */
  async #lateLists(): Promise<void> {
    if (this.#misplaced !== undefined) {
      const { actor, view } = this.#misplaced;
      if ((await this.#store.load(actor.address))?.revision === actor.revision)
        throw new Broken(`list ${view}`, `Its row of ${nameOf(actor.address)} is missing or was changed.`);
    }
    for (const [view, expected] of this.#listed ?? []) {
      let found = 0;
      for await (const _ of this.#rows(view)) {
        found += 1;
        if (found > expected) throw new Broken(`list ${view}`, 'It has a row that follows from no actor.');
      }
    }
  }

  /** Finds actors that changed after the last checkpoint; a stopped service leaves none. */
  async #coverage(actor: StoredActor): Promise<void> {
    if (actor.journalHash === undefined) return this.#unchained(actor);
    const { address, revision } = actor;
    const newest = await newestLeaf(this.#store, address);
    if (newest?.leaf.hash === actor.journalHash && newest.state?.line === revision) return;
    // Leaves of earlier programs cover no state.
    const isOld =
      newest !== undefined && newest.state === undefined && newest.leaf.hash === actor.journalHash;
    this.counts.uncovered += 1;
    if (!isOld) this.#changedLate ??= actor;
  }

  /** Whatever was written since checkpoints are made has hashes. */
  async #unchained({ address, journalLength }: StoredActor): Promise<void> {
    if (journalLength === 0) return;
    this.counts.unchained += 1;
    const [last] = await this.#store.journal(address, { after: journalLength - 1, limit: 1 });
    if (last !== undefined && this.#sealedSince !== undefined && last.at >= this.#sealedSince)
      throw new Broken(
        `${nameOf(address)} line ${last.id}`,
        'The line has no hash, although it was written after the first checkpoint.',
      );
  }

  /** Reports an actor that a stopped service has not sealed. Last: what a checkpoint says of it is more precise. */
  async late(isComplete: boolean): Promise<void> {
    if (!(await this.#isStopped())) return;
    if (this.#changedLate !== undefined) {
      const { address, revision } = this.#changedLate;
      if ((await this.#store.load(address))?.revision === revision)
        throw new Broken(nameOf(address), 'It was changed after the service had stopped.');
    }
    if (!isComplete) return;
    await this.#lateLists();
    await this.#lateWork();
  }

  /** Reports pending work, counters and names that are not those of the stop. */
  async #lateWork(): Promise<void> {
    const [stopped, ...others] = this.#anchors();
    // One of an earlier key tells nothing of this stop.
    const { node } = stopped?.checkpoint ?? {};
    if (stopped?.work === undefined || others.some(({ checkpoint }) => checkpoint.node === node)) return;
    const found = await digestWork(this.#store);
    if (!(await this.#isStopped())) return;
    for (const name of WORK_NAMES)
      if (found?.[name] !== stopped.work[name])
        throw new Broken(`the ${name}`, 'They were changed after the service had stopped.');
  }

  async #chain({ address, journalLength, journalHash = CHAIN_START }: StoredActor): Promise<void> {
    const name = nameOf(address);
    const erased = new ErasedLines();
    let head = CHAIN_START;
    let next = 1;
    let count = 0;
    while (next <= journalLength) {
      const [first, ...others] = await this.#store.journal(address, { after: next - 1, limit: PAGE_SIZE });
      if (first?.id !== next) break;
      for (const line of [first, ...others]) {
        if (line.id !== next || line.id > journalLength) break;
        this.#spend();
        if (line.erased !== undefined) count += 1;
        head = checkedHash({ name, address, head, erased }, line);
        this.counts.lines += 1;
        next += 1;
      }
    }
    if (next <= journalLength) {
      // The actor was deleted since it was read.
      if ((await this.#store.load(address)) === undefined) return;
      throw new Broken(`${name} line ${next}`, 'The line is missing.');
    }
    if (head === journalHash && erased.unrecorded() !== undefined) {
      // Erased since the actor was read: the record is behind.
      const now = await this.#store.load(address);
      if (now !== undefined && now.journalLength > journalLength) return this.#chain(now);
      throw new Broken(`${name} line ${erased.unrecorded()}`, UNRECORDED);
    }
    if (head !== journalHash)
      throw new Broken(
        `${name} line ${journalLength}`,
        'The actor names another hash as that of its last line.',
      );
    this.counts.erased += count;
    if (count > 0 && this.erasedFrom.length < MOST_NAMED) this.erasedFrom.push(name);
    await this.#beyond(address, journalLength);
  }

  /** Lines after the last one: a step was committed meanwhile, or a line was inserted. */
  async #beyond(address: ActorAddress, journalLength: number): Promise<void> {
    const [extra] = await this.#store.journal(address, { after: journalLength, limit: 1 });
    if (extra === undefined) return;
    const now = await this.#store.load(address);
    const number = journalLength + 1;
    // A line of another number stands where the next one belongs, and is shown there.
    if (now !== undefined && (extra.id !== number || now.journalLength < number))
      throw new Broken(`${nameOf(address)} line ${number}`, 'The line was inserted behind the last one.');
  }

  async #checkpoint(entry: string, checkpoint: Checkpoint, last: Checkpoint | undefined): Promise<void> {
    if (checkpoint.sequence !== (last?.sequence ?? 0) + 1)
      throw new Broken(entry, `Checkpoint ${(last?.sequence ?? 0) + 1} before it is missing.`);
    if (!isSigned(checkpoint)) throw new Broken(entry, 'Its signature is not valid.');
    if (checkpoint.previous !== (last === undefined ? '' : checkpointHash(last)))
      throw new Broken(entry, 'It was made after another checkpoint than the one before it.');
    const hashes: string[] = [];
    const leaves: HistoryLeaf[] = [];
    for await (const { value } of this.#rows(LEAVES_VIEW, [checkpoint.node, checkpoint.sequence])) {
      this.#spend();
      const leaf = parseLeaf(value);
      if (leaf === undefined || leaves.length === checkpoint.leaves)
        throw new Broken(entry, 'It has a leaf that cannot be read, or one too many.');
      leaves.push(leaf);
      hashes.push(leafHash(leafText(leaf)));
      this.counts.leaves += 1;
    }
    if (hashes.length !== checkpoint.leaves || merkleRoot(hashes) !== checkpoint.root)
      throw new Broken(entry, 'Its leaves do not lead to its root.');
    for (const leaf of leaves) await this.#leaf(leaf, checkpoint);
  }

  async #leaf(leaf: HistoryLeaf, { at, sequence }: Checkpoint): Promise<void> {
    if (leaf.type === 'deleted') return;
    if (leaf.type === 'state') return this.#state(leaf, at, sequence);
    const [line] = await this.#store.journal(leaf, { after: leaf.line - 1, limit: 1 });
    if (line?.id === leaf.line && line.hash === leaf.hash) return;
    if (await this.#wasDeleted(leaf, at)) return;
    const problem =
      line?.id === leaf.line
        ? `The line is not the one that checkpoint ${sequence} sealed.`
        : `The line that checkpoint ${sequence} sealed is missing, and no deletion was recorded.`;
    throw new Broken(`${nameOf(leaf)} line ${leaf.line}`, problem);
  }

  /** Compares the state of an actor with the one that was sealed, unless a later step has replaced it. */
  async #state(leaf: HistoryLeaf, sealedAt: Millis, sequence: number): Promise<void> {
    const actor = await this.#store.load(leaf);
    if (actor !== undefined && actor.revision === leaf.line && stateHash(actor) === leaf.hash) return;
    // A later state must have a later leaf, or wait for one.
    if (actor !== undefined && actor.revision > leaf.line) {
      const newest = await newestLeaf(this.#store, leaf);
      if (newest?.state !== undefined && newest.state.line >= leaf.line) return;
    }
    if (await this.#wasDeleted(leaf, sealedAt)) return;
    const problem =
      actor === undefined
        ? 'It is missing, and no deletion was recorded.'
        : `Its state is not the one that checkpoint ${sequence} sealed.`;
    throw new Broken(nameOf(leaf), problem);
  }

  /** True when a checkpoint has sealed a deletion since, or the next one will. */
  async #wasDeleted({ kind, id }: HistoryLeaf, sealedAt: Millis): Promise<boolean> {
    // First: a checkpoint that is made meanwhile moves it to those that are sealed.
    const [unsealed] = await this.#store.rows({ view: UNSEALED_VIEW, prefix: [kind, id], limit: 1 });
    const [sealed] = await this.#store.rows({ view: DELETIONS_VIEW, prefix: [kind, id], limit: 1 });
    if (sealed !== undefined) {
      const position = parsePosition(sealed.value) ?? (await this.#positionOf(kind, id, sealed.value));
      if (position !== undefined && (await this.#isDeletion(position, { kind, id }, sealedAt))) return true;
    }
    return unsealed !== undefined && !(await this.#isStopped());
  }

  /** Its checkpoint is verified with all others. */
  async #isDeletion(position: LeafPosition, { kind, id }: ActorAddress, sealedAt: Millis): Promise<boolean> {
    const leaf = await leafAt(this.#store, position);
    if (leaf?.type !== 'deleted' || leaf.kind !== kind || leaf.id !== id) return false;
    const checkpoint = await this.#stored(position[0], position[1]);
    return checkpoint !== undefined && position[2] < checkpoint.leaves && checkpoint.at >= sealedAt;
  }

  /** Finds the leaf of a deletion of which an earlier program has noted the time of its checkpoint alone. */
  async #positionOf(kind: string, id: string, at: Json): Promise<LeafPosition | undefined> {
    const newest = await newestLeaf(this.#store, { kind, id });
    if (newest?.leaf.type === 'deleted') return newest.position;
    for await (const { key, value } of this.#rows(CHECKPOINTS_VIEW)) {
      if (parseCheckpoint(value)?.at !== at) continue;
      for await (const row of this.#rows(LEAVES_VIEW, key)) {
        const leaf = parseLeaf(row.value);
        if (leaf?.type === 'deleted' && leaf.kind === kind && leaf.id === id) return parsePosition(row.key);
      }
    }
    return undefined;
  }

  async #stored(node: string, sequence: number): Promise<Checkpoint | undefined> {
    const [row] = await this.#store.rows({ view: CHECKPOINTS_VIEW, prefix: [node, sequence], limit: 1 });
    return parseCheckpoint(row?.value);
  }

  async #anchor(anchored: Checkpoint): Promise<void> {
    const { node, sequence } = anchored;
    const entry = `checkpoint ${sequence} of node ${node}`;
    if (!isSigned(anchored)) throw new Broken(entry, 'The signature of the anchor is not valid.');
    const stored = await this.#stored(node, sequence);
    if (stored !== undefined && checkpointHash(stored) === checkpointHash(anchored)) return;
    throw new Broken(
      entry,
      `The folder of keys has an anchor of it, and the store holds ${stored === undefined ? 'no such checkpoint' : 'another one'}. The store was changed, or restored from an older backup.`,
    );
  }

  async #copy(copy: Checkpoint): Promise<void> {
    const entry = `checkpoint ${copy.sequence} of node ${copy.node}`;
    if (!isSigned(copy)) throw new Broken(entry, 'The signature of the copy is not valid.');
    const stored = await this.#stored(copy.node, copy.sequence);
    if (stored === undefined) throw new Broken(entry, 'The store does not hold it, but the copy does.');
    if (checkpointHash(stored) !== checkpointHash(copy))
      throw new Broken(entry, 'The store holds another checkpoint of this number than the copy.');
  }
}

interface ChainRead {
  readonly name: string;
  readonly address: ActorAddress;
  readonly head: string;
  readonly erased: ErasedLines;
}

function checkedHash({ name, address, head, erased }: ChainRead, line: JournalLine): string {
  const entry = `${name} line ${line.id}`;
  if (line.erased !== undefined && !erased.add(head, line))
    throw new Broken(entry, 'The line says that its text was erased, and has one.');
  const record = recordOf(line);
  const other = record === undefined ? undefined : erased.settle(record);
  if (other !== undefined)
    throw new Broken(
      `${name} line ${other}`,
      `The line is not as its erasure, line ${line.id}, has left it.`,
    );
  if (line.hash === undefined) {
    // Lines written before the upgrade precede the chain.
    if (head === CHAIN_START) return head;
    throw new Broken(entry, 'The line has no hash, although the line before it has one.');
  }
  // The record of its erasure vouches for a line without a salt.
  if (line.erased !== '' && line.hash !== lineHash(head, address, line))
    throw new Broken(entry, 'The line, or the hash of the line before it, was changed.');
  return line.hash;
}

function nameOf({ kind, id }: ActorAddress): string {
  return `${kind}/${id}`;
}

/** True when an id sorts behind another one in a store, by the bytes of UTF-8. */
function isBehind(before: string | undefined, id: string): boolean {
  return before === undefined || Buffer.compare(Buffer.from(before), Buffer.from(id)) < 0;
}
