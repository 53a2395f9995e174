/** Stores small files in the pool, whose threads write, sync and rename a file without a way to this thread and back. */
import { type Clock, Retryable } from '@sealwright/runtime';
import type { SigningPool } from '../../pool/pool.ts';
import type { PdfInspection } from '../../pool/portal-tasks.ts';
import type { PoolReply } from '../../pool/tasks.ts';
import type { SmallFileStore } from './blobs.ts';

const PDF = 'application/pdf';

/**
 * The task rejects with a `Retryable` `storage.unavailable`.
 * @param inspection what a PDF is inspected with while it is stored; missing: it is not inspected
 */
export function storeInPool(
  pool: Pick<SigningPool, 'run'>,
  inspection?: { readonly profile: string; readonly clock: Pick<Clock, 'now'> },
): SmallFileStore {
  return async ({ bytes, output, blobs, file }) => {
    const store = (inspect?: PdfInspection): Promise<PoolReply<'portal.store'>> => {
      const task = { task: 'portal.store', documentId: '', bytes, output, blobs } as const;
      return pool.run({ ...task, ...(inspect && { inspect }) }, { bytes: bytes.length });
    };
    let answer: PoolReply<'portal.store'>;
    if (inspection === undefined || file?.contentType !== PDF) answer = await store();
    else {
      const { profile, clock } = inspection;
      answer = await store({ profile, at: clock.now(), contentType: PDF, fileName: file.name });
      // A file that blocks or ends a thread can be stored; its inspection fails when a document is made of it.
      if (!answer.ok && answer.code.startsWith('pool.')) answer = await store();
    }
    if (answer.ok) return answer.result;
    throw new Retryable('storage.unavailable', `The portal's folder cannot be used (${answer.code}).`);
  };
}
