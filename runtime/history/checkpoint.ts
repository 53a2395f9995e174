/**
 * The hash chain of an actor's journal, and signed checkpoints of all chains.
 *
 * Each line of a journal carries the SHA-256 of the previous line's hash and its own content, so that no line can be
 * changed, removed or inserted without changing all hashes behind it. Lines written before chains existed have no hash;
 * the chain begins with the first line after them.
 *
 * A checkpoint is the root of a Merkle tree over what changed since the checkpoint before, which is
 * named by its hash. The rows below hold them.
 *
 * | view                | key                   | value                                             |
 * |---------------------|-----------------------|---------------------------------------------------|
 * | history-checkpoints | node, sequence        | the checkpoint                                    |
 * | history-leaves      | node, sequence, index | the leaf                                          |
 * | history-heads       | kind, id              | position of the newest leaf of the actor's chain; that of its state follows it |
 * | history-deletions   | kind, id              | position of the leaf of its newest deletion; of earlier programs the time of its checkpoint |
 * | history-unsealed    | kind, id, revision, hash | an actor that was deleted since; once without hash |
 * | history-unsent      | node, sequence        | null: not sent to every destination yet           |
 * | history-stamps      | node, sequence        | Base64 DER of a time-stamp token (RFC 3161)       |
 *
 * Source: docs/decisions/0053-tamper-evident-history.md.
 */
import { createHash, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { jsonType } from '../model/json.ts';
import type { ActorAddress, JournalData, JournalLine, Json, Millis, StoredActor } from '../model/ports.ts';

/** Takes the place of the previous hash for the first line of a chain. */
export const CHAIN_START = '';

/**
 * Lower-case hex SHA-256 of the UTF-8 text of a JSON array: hash of the previous line, kind and id of the actor, number,
 * time, state, message and cause of the line, and its data with members in the order of their names, where it has any.
 * Of a line with a salt, or whose text was erased: the number 2, the same up to the state, cause, `contentHash`.
 * @param previous hash of the line before; `CHAIN_START` for the first
 */
export function lineHash(previous: string, { kind, id }: ActorAddress, line: JournalLine): string {
  const { salt, erased } = line;
  const about = [previous, kind, id, line.id, line.at, line.state];
  if (salt !== undefined || erased !== undefined)
    return hash('sha256', JSON.stringify([2, ...about, line.cause, erased ?? contentHash(line)]));
  const content: Json[] = [...about, line.message, line.cause];
  if (line.data !== undefined) content.push(pairsOf(line.data));
  return hash('sha256', JSON.stringify(content));
}

/** Lower-case hex SHA-256 of the JSON array of salt, message and data, as `lineHash` has them; what remains when they are erased. */
export function contentHash({ salt = '', message, data }: JournalLine): string {
  return hash('sha256', JSON.stringify([salt, message, data === undefined ? null : pairsOf(data)]));
}

function pairsOf(data: JournalData): [string, string | number | boolean | null][] {
  return Object.entries(data).sort(byName);
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

export const CHECKPOINTS_VIEW = 'history-checkpoints';
export const LEAVES_VIEW = 'history-leaves';
export const HEADS_VIEW = 'history-heads';
export const DELETIONS_VIEW = 'history-deletions';
export const UNSEALED_VIEW = 'history-unsealed';
export const UNSENT_VIEW = 'history-unsent';
export const STAMPS_VIEW = 'history-stamps';

/**
 * One leaf: the newest line of an actor's chain, the line at which a deleted actor's chain ended, or the state that an
 * actor had.
 */
export interface HistoryLeaf {
  readonly type: 'head' | 'deleted' | 'state';
  readonly kind: string;
  readonly id: string;
  /** Number of the line; revision of a state. */
  readonly line: number;
  /** Hash of that line; `stateHash` of a state. */
  readonly hash: string;
}

export interface Checkpoint {
  /** Identifies the signing key: the first 16 hex digits of the SHA-256 of its SubjectPublicKeyInfo. */
  readonly node: string;
  /** From 1 per node. */
  readonly sequence: number;
  readonly at: Millis;
  /** Number of leaves. */
  readonly leaves: number;
  /** Merkle tree root. */
  readonly root: string;
  /** Hash of the node's checkpoint before (`checkpointHash`); empty for the first. */
  readonly previous: string;
  /** Base64 DER of the SubjectPublicKeyInfo. */
  readonly publicKey: string;
  /** Base64, Ed25519 over `checkpointText`. */
  readonly signature: string;
}

/** Stored checkpoints and leaves. */
export const CHECKPOINT = jsonType<Checkpoint>();
const LEAF = jsonType<HistoryLeaf>();
/** Position of a leaf. */
export type LeafPosition = readonly [node: string, sequence: number, index: number];

export type UnsignedCheckpoint = Omit<Checkpoint, 'node' | 'publicKey' | 'signature'>;

/** Lower-case hex SHA-256 over what a step stores of an actor besides its journal. */
export function stateHash({ revision, version, state, context, timers, consumed }: StoredActor): string {
  return hash('sha256', JSON.stringify([revision, version, state, context, timers, consumed]));
}

/** Content of a leaf, as it is hashed. */
export function leafText({ type, kind, id, line, hash }: HistoryLeaf): string {
  return JSON.stringify([type, kind, id, line, hash]);
}

/** The text that is signed. */
function checkpointText(checkpoint: UnsignedCheckpoint & Pick<Checkpoint, 'node'>): string {
  const { node, sequence, at, leaves, root, previous } = checkpoint;
  return JSON.stringify(['sealwright-history-1', node, sequence, at, leaves, root, previous]);
}

/** Lower-case hex SHA-256 of the signed text. */
export function checkpointHash(checkpoint: Checkpoint): string {
  return createHash('sha256').update(checkpointText(checkpoint)).digest('hex');
}

export interface CheckpointSigner {
  readonly node: string;
  sign(checkpoint: UnsignedCheckpoint): Checkpoint;
}

/** @param key Ed25519 private key */
export function createCheckpointSigner(key: KeyObject): CheckpointSigner {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const publicKey = der.toString('base64');
  const node = nodeOf(der);
  return {
    node,
    sign(unsigned) {
      const checkpoint = { node, ...unsigned };
      const signature = sign(null, Buffer.from(checkpointText(checkpoint)), key).toString('base64');
      return { ...checkpoint, publicKey, signature };
    },
  };
}

function nodeOf(publicKey: Buffer): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 16);
}

/** True when the signature is valid and made by the named node's key. */
export function isSigned(checkpoint: Checkpoint): boolean {
  try {
    const der = Buffer.from(checkpoint.publicKey, 'base64');
    const key = createPublicKey({ key: der, type: 'spki', format: 'der' });
    const signature = Buffer.from(checkpoint.signature, 'base64');
    return (
      nodeOf(der) === checkpoint.node &&
      key.asymmetricKeyType === 'ed25519' &&
      verify(null, Buffer.from(checkpointText(checkpoint)), key, signature)
    );
  } catch {
    return false;
  }
}

/** Parses a checkpoint from untrusted text; undefined when it is not one. */
export function parseCheckpoint(value: unknown): Checkpoint | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields: { readonly [name in keyof Checkpoint]?: unknown } = value;
  const { node, sequence, at, leaves, root, previous, publicKey, signature } = fields;
  if (!isCount(sequence) || !isCount(at) || !isCount(leaves)) return undefined;
  if (!isText(node) || !isText(root) || !isText(previous) || !isText(publicKey) || !isText(signature))
    return undefined;
  return { node, sequence, at, leaves, root, previous, publicKey, signature };
}

/**
 * A leaf as it is stored: its members in order, the hash in Base64url.
 * @param isShared nodes of earlier programs may read it, which know it with named members only
 */
export function storedLeaf(leaf: HistoryLeaf, isShared: boolean): Json {
  const { type, kind, id, line, hash } = leaf;
  return isShared ? LEAF.write(leaf) : [type, kind, id, line, Buffer.from(hash, 'hex').toString('base64url')];
}

/** Parses a stored leaf; undefined when it is not one. */
export function parseLeaf(value: unknown): HistoryLeaf | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const named: { readonly [name in keyof HistoryLeaf]?: unknown } = value;
  const [type, kind, id, line, hash]: readonly unknown[] = Array.isArray(value)
    ? value
    : [named.type, named.kind, named.id, named.line, named.hash];
  if (type !== 'head' && type !== 'deleted' && type !== 'state') return undefined;
  if (!isText(kind) || !isText(id) || !isCount(line) || !isText(hash)) return undefined;
  const hex = Array.isArray(value) ? Buffer.from(hash, 'base64url').toString('hex') : hash;
  return { type, kind, id, line, hash: hex };
}

/** Parses a stored position of a leaf; undefined when it is not one. */
export function parsePosition(value: unknown): LeafPosition | undefined {
  if (!Array.isArray(value)) return undefined;
  const [node, sequence, index]: readonly unknown[] = value;
  if (!isText(node) || !isCount(sequence) || !isCount(index)) return undefined;
  return [node, sequence, index];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
