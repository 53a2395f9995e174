/**
 * The package of the engine, loaded as CommonJS: one file where its modules are twenty, so that each thread that opens a
 * store costs two thirds of the processor time.
 */
import { createRequire } from 'node:module';

declare module 'lmdb' {
  /** Exported, but not among the declared names. */
  function bufferToKeyValue(bytes: Uint8Array): (string | number)[];
}

const lmdb: typeof import('lmdb') = createRequire(import.meta.url)('lmdb');

export const { bufferToKeyValue, open, TransactionFlags } = lmdb;
