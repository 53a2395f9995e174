/** Proofs that an actor's chain is part of a signed checkpoint. Source: docs/decisions/0053-tamper-evident-history.md; RFC 6962 §2.1.1. */
import { LRUCache } from 'lru-cache';
import type { ActorAddress, ActorStore } from '../model/ports.ts';
import {
  CHECKPOINTS_VIEW,
  type Checkpoint,
  isSigned,
  LEAVES_VIEW,
  leafText,
  parseCheckpoint,
  parseLeaf,
} from './checkpoint.ts';
import { auditPath, leafHash, rootFromPath } from './merkle.ts';
import { newestLeaf } from './sealer.ts';

export interface HistoryProof {
  /** The newest line of the chain that a checkpoint covers. */
  readonly line: number;
  readonly hash: string;
  readonly checkpoint: Checkpoint;
  /** Position of the leaf in the checkpoint's tree, from 0. */
  readonly leafIndex: number;
  /** Sibling hashes from the leaf to the root, nearest first. */
  readonly auditPath: readonly string[];
}

/** Checkpoint trees cached for further proofs. */
const MAX_TREES = 8;
/** Upper bound of the leaves of a checkpoint. */
const MAX_LEAVES = 10_000;

/** Makes proofs; caches the trees of the checkpoints used last. */
export class HistoryProofs {
  readonly #store: Pick<ActorStore, 'rows'>;
  readonly #trees = new LRUCache<string, Promise<readonly string[]>>({ max: MAX_TREES });

  constructor(store: Pick<ActorStore, 'rows'>) {
    this.#store = store;
  }

  /** Undefined while no checkpoint covers a line of the actor's chain. */
  async of(actor: ActorAddress): Promise<HistoryProof | undefined> {
    const newest = await newestLeaf(this.#store, actor);
    if (newest === undefined || newest.leaf.type !== 'head') return undefined;
    const { leaf, position } = newest;
    const [node, sequence, index] = position;
    const [row] = await this.#store.rows({ view: CHECKPOINTS_VIEW, prefix: [node, sequence], limit: 1 });
    const checkpoint = parseCheckpoint(row?.value);
    if (checkpoint === undefined) return undefined;
    const hashes = await this.#treeOf(node, sequence);
    return {
      line: leaf.line,
      hash: leaf.hash,
      checkpoint,
      leafIndex: index,
      auditPath: auditPath(hashes, index),
    };
  }

  #treeOf(node: string, sequence: number): Promise<readonly string[]> {
    const name = `${node}/${sequence}`;
    let tree = this.#trees.get(name);
    if (tree === undefined) {
      tree = this.#store
        .rows({ view: LEAVES_VIEW, prefix: [node, sequence], limit: MAX_LEAVES })
        .then((rows) => rows.map(({ value }) => parseLeaf(value)))
        // A proof with one that cannot be read leads to another root.
        .then((leaves) => leaves.map((leaf) => (leaf === undefined ? '' : leafHash(leafText(leaf)))));
      this.#trees.set(name, tree);
    }
    return tree;
  }
}

/** True when the proof's leaf leads to the root of a checkpoint with a valid signature. */
export function isProven({ kind, id }: ActorAddress, proof: HistoryProof): boolean {
  const { line, hash, checkpoint, leafIndex } = proof;
  const leaf = leafHash(leafText({ type: 'head', kind, id, line, hash }));
  const root = rootFromPath(leaf, leafIndex, checkpoint.leaves, proof.auditPath);
  return root === checkpoint.root && isSigned(checkpoint);
}
