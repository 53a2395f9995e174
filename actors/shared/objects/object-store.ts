/**
 * Objects outside of this machine, named by keys.
 *
 * Each call rejects with a `Retryable` `storage.unavailable` while the store cannot be used.
 *
 * Source: docs/decisions/0279-object-store.md.
 */
import type { Readable } from 'node:stream';
import { Retryable } from '@sealwright/runtime';

export interface StoredObject {
  readonly key: string;
  readonly length: number;
  /** Milliseconds since the epoch, by the clock of the store. */
  readonly modifiedAt: number;
  /** Given to `put`; absent in a list. */
  readonly owner?: string;
}

export interface PutOptions {
  /** True: what is under the key is replaced. @default false */
  readonly replace?: boolean;
  /** Kept beside the object: who stored it. At most 100 letters, digits and hyphens. */
  readonly owner?: string;
}

/** A file on this machine, which does not change while it is stored. */
export interface ObjectFile {
  readonly path: string;
  readonly length: number;
}

export interface ObjectPage {
  readonly objects: readonly StoredObject[];
  /** Names the next page; undefined: this is the last one. */
  readonly next: string | undefined;
}

/** Both inclusive. */
export interface ByteRange {
  readonly from: number;
  /** @default the last byte */
  readonly to?: number;
}

/** Headers of the answer to a download. */
export interface LinkedFile {
  readonly contentType: string;
  readonly disposition: string;
}

/** Content of an object, or of a range of it. The stream fails when the store pauses for longer than its time limit. */
export interface ObjectBody {
  readonly stream: Readable;
  /** Of the stream, bytes; undefined where the store does not say. */
  readonly length: number | undefined;
}

/** The store answers, and refuses: somebody must give the right. Other objects may be allowed. */
export class StoreRefusal extends Retryable {
  constructor(message: string) {
    super('storage.unavailable', message);
  }
}

/** Finding of a check. */
export interface StoreTrouble {
  /** In words. */
  readonly text: string;
  /** False: everything goes on, only what is over is not removed. */
  readonly isBlocking: boolean;
}

/** Runs the removal of one object of many. @returns why it is refused and stays */
export async function refusalOf(remove: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await remove();
    return undefined;
  } catch (error) {
    if (error instanceof StoreRefusal) return error.message;
    throw error;
  }
}

export interface ObjectStore {
  /** Names the place for people. */
  readonly location: string;
  /**
   * Stores a file unless the key is taken; resolves when it is durable. Large files go in parts, with bounded memory.
   * `exists` is also what an attempt says whose earlier answer was lost: `owner` tells.
   */
  put(key: string, file: ObjectFile, options?: PutOptions): Promise<'stored' | 'exists'>;
  /** Undefined when there is no such object. */
  get(key: string, range?: ByteRange): Promise<ObjectBody | undefined>;
  /** Makes an address that reads an object for a minute, without credentials. Absent: clients do not reach the store. */
  readonly link?: ((key: string, file: LinkedFile) => Promise<string>) | undefined;
  /** Undefined when there is no such object. */
  head(key: string): Promise<StoredObject | undefined>;
  /** Copies an object within the store; onto itself, it is as if stored now. False when there is no such object. */
  copy(from: string, to: string): Promise<boolean>;
  /** A missing object counts as removed. */
  remove(key: string): Promise<void>;
  /** Objects whose keys begin with a prefix, at most 1,000, by key. */
  list(prefix: string, next?: string): Promise<ObjectPage>;
  /** Removes parts of files whose transfer began before a time and never ended. Returns their number. */
  removeParts(before: number): Promise<number>;
  /** False once the server has shown that it knows no conditional put. */
  readonly isConditional: boolean;
  /** True when of several puts under a free key one alone stores, whatever their sizes. Proved by the first call. */
  isExclusive(): Promise<boolean>;
  /**
   * Proves each right that the program needs; after that, until a request fails, that the store answers. Resolves with
   * what is missing.
   */
  check(): Promise<StoreTrouble | undefined>;
}
