/** Stores small files in the pool, whose threads write, sync and rename a file without a way to this thread and back. */
import { Retryable } from '../../../runtime/index.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { BlobDependencies } from './blobs.ts';

/** The task rejects with a `Retryable` `storage.unavailable`. */
export function storeInPool(pool: Pick<SigningPool, 'run'>): NonNullable<BlobDependencies['storeSmall']> {
  return async ({ bytes, output, blobs }) => {
    const task = { task: 'portal.store', documentId: '', bytes, output, blobs } as const;
    const answer = await pool.run(task, { bytes: bytes.length });
    if (answer.ok) return answer.result;
    throw new Retryable('storage.unavailable', `The portal's folder cannot be used (${answer.code}).`);
  };
}
