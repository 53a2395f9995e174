/**
 * Verifies the history of a store: every chain, every checkpoint with its tree, every leaf against the chain it names,
 * and copies of checkpoints that were kept elsewhere.
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import type { ActorAddress, ActorStore, JournalLine, Millis, StoredActor } from '../model/ports.ts';
import {
  CHAIN_START,
  CHECKPOINTS_VIEW,
  type Checkpoint,
  checkpointHash,
  DELETIONS_VIEW,
  type HistoryLeaf,
  isSigned,
  LEAF,
  LEAVES_VIEW,
  leafText,
  lineHash,
  parseCheckpoint,
  UNSEALED_VIEW,
} from './checkpoint.ts';
import { leafHash, merkleRoot } from './merkle.ts';

export type HistoryReader = Pick<ActorStore, 'load' | 'actors' | 'journal' | 'rows'>;

export interface VerifyHistoryOptions {
  /** Kinds of actors. */
  readonly kinds: readonly string[];
  /** Copies of checkpoints stored elsewhere; the store must hold the same. */
  readonly copies?: readonly Checkpoint[];
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
  /** False when the limit ended the verification. */
  readonly complete: boolean;
  readonly fault: HistoryFault | undefined;
}

const PAGE_SIZE = 256;

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
    await verification.run();
  } catch (error) {
    if (error instanceof Broken) fault = error.fault;
    else if (error instanceof LimitReached) complete = false;
    else throw error;
  }
  return { ...verification.counts, complete, fault };
}

class Verification {
  readonly counts = { actors: 0, lines: 0, checkpoints: 0, leaves: 0 };
  readonly #store: HistoryReader;
  readonly #options: VerifyHistoryOptions;

  constructor(store: HistoryReader, options: VerifyHistoryOptions) {
    this.#store = store;
    this.#options = options;
  }

  async run(): Promise<void> {
    for (const copy of this.#options.copies ?? []) await this.#copy(copy);
    for (const kind of this.#options.kinds) await this.#kind(kind);
    let last: Checkpoint | undefined;
    for await (const { key, value } of this.#all(CHECKPOINTS_VIEW)) {
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

  #spend(): void {
    const { limit = Number.POSITIVE_INFINITY } = this.#options;
    if (this.counts.lines + this.counts.leaves >= limit) throw new LimitReached();
  }

  async *#all(view: string, prefix: readonly (string | number)[] = []) {
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
        await this.#chain(actor);
        this.counts.actors += 1;
      }
      after = actors.length < PAGE_SIZE ? undefined : actors.at(-1)?.address.id;
    } while (after !== undefined);
  }

  async #chain({ address, journalLength, journalHash = CHAIN_START }: StoredActor): Promise<void> {
    const name = nameOf(address);
    let head = CHAIN_START;
    let next = 1;
    while (next <= journalLength) {
      const lines = await this.#store.journal(address, { after: next - 1, limit: PAGE_SIZE });
      for (const line of lines) {
        if (line.id > journalLength) break;
        this.#spend();
        if (line.id !== next) break;
        head = checkedHash(name, address, head, line);
        this.counts.lines += 1;
        next += 1;
      }
      if (lines.length > 0 && lines[0]?.id !== undefined && next > journalLength) break;
      if (lines.find(({ id }) => id === next) === undefined) break;
    }
    if (next <= journalLength) {
      // The actor was deleted since it was read.
      if ((await this.#store.load(address)) === undefined) return;
      throw new Broken(`${name} line ${next}`, 'The line is missing.');
    }
    if (head !== journalHash)
      throw new Broken(
        `${name} line ${journalLength}`,
        'The actor names another hash as that of its last line.',
      );
    await this.#beyond(address, journalLength);
  }

  /** Lines after the last one: a step was committed meanwhile, or a line was inserted. */
  async #beyond(address: ActorAddress, journalLength: number): Promise<void> {
    const [extra] = await this.#store.journal(address, { after: journalLength, limit: 1 });
    if (extra === undefined) return;
    const now = await this.#store.load(address);
    if (now !== undefined && now.journalLength < extra.id)
      throw new Broken(`${nameOf(address)} line ${extra.id}`, 'The line was inserted behind the last one.');
  }

  async #checkpoint(entry: string, checkpoint: Checkpoint, last: Checkpoint | undefined): Promise<void> {
    if (checkpoint.sequence !== (last?.sequence ?? 0) + 1)
      throw new Broken(entry, `Checkpoint ${(last?.sequence ?? 0) + 1} before it is missing.`);
    if (!isSigned(checkpoint)) throw new Broken(entry, 'Its signature is not valid.');
    if (checkpoint.previous !== (last === undefined ? '' : checkpointHash(last)))
      throw new Broken(entry, 'It was made after another checkpoint than the one before it.');
    const hashes: string[] = [];
    const leaves: HistoryLeaf[] = [];
    for await (const { value } of this.#all(LEAVES_VIEW, [checkpoint.node, checkpoint.sequence])) {
      this.#spend();
      const leaf = LEAF.read(value);
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
    const [line] = await this.#store.journal(leaf, { after: leaf.line - 1, limit: 1 });
    if (line?.id === leaf.line && line.hash === leaf.hash) return;
    if (await this.#wasDeleted(leaf, at)) return;
    const problem =
      line?.id === leaf.line
        ? `The line is not the one that checkpoint ${sequence} sealed.`
        : `The line that checkpoint ${sequence} sealed is missing, and no deletion was recorded.`;
    throw new Broken(`${nameOf(leaf)} line ${leaf.line}`, problem);
  }

  async #wasDeleted({ kind, id }: HistoryLeaf, sealedAt: Millis): Promise<boolean> {
    const [sealed] = await this.#store.rows({ view: DELETIONS_VIEW, prefix: [kind, id], limit: 1 });
    if (sealed !== undefined && Number(sealed.value) >= sealedAt) return true;
    const [unsealed] = await this.#store.rows({ view: UNSEALED_VIEW, prefix: [kind, id], limit: 1 });
    return unsealed !== undefined;
  }

  async #copy(copy: Checkpoint): Promise<void> {
    const entry = `checkpoint ${copy.sequence} of node ${copy.node}`;
    if (!isSigned(copy)) throw new Broken(entry, 'The signature of the copy is not valid.');
    const [row] = await this.#store.rows({
      view: CHECKPOINTS_VIEW,
      prefix: [copy.node, copy.sequence],
      limit: 1,
    });
    const stored = parseCheckpoint(row?.value);
    if (stored === undefined) throw new Broken(entry, 'The store does not hold it, but the copy does.');
    if (checkpointHash(stored) !== checkpointHash(copy))
      throw new Broken(entry, 'The store holds another checkpoint of this number than the copy.');
  }
}

function checkedHash(name: string, address: ActorAddress, head: string, line: JournalLine): string {
  const entry = `${name} line ${line.id}`;
  if (line.hash === undefined) {
    // Lines written before the upgrade precede the chain.
    if (head === CHAIN_START) return head;
    throw new Broken(entry, 'The line has no hash, although the line before it has one.');
  }
  if (line.hash !== lineHash(head, address, line))
    throw new Broken(entry, 'The line, or the hash of the line before it, was changed.');
  return line.hash;
}

function nameOf({ kind, id }: ActorAddress): string {
  return `${kind}/${id}`;
}
