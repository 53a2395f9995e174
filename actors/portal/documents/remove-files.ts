/**
 * Removes the files of a deleted document: its uploads unless other calls used them, and files without references.
 *
 * Source: docs/portal-values.md §0, §4.
 */
import type { EffectHandler } from '../../../runtime/index.ts';
import { blobsOf, DOCUMENT } from '../document-records/document-index.ts';
import type { BlobSweeping } from '../uploads/blob-sweeping.ts';
import { UPLOAD } from '../uploads/uploads.ts';

/** Result of an effect that sends no message. */
const FILES_REMOVED = { type: 'FORGOTTEN' } as const;

export interface RemoveFilesDependencies {
  readonly sweeping: Pick<BlobSweeping, 'requestSweep'>;
}

export function removeFilesHandler(dependencies: RemoveFilesDependencies): EffectHandler {
  return {
    after: 'durable',
    async run(_, { actor }, { system }) {
      const found = await system.read({ kind: DOCUMENT, id: actor.id });
      if (found === undefined) return FILES_REMOVED;
      const context = found.context;
      const entries = [context.file, ...context.parts, ...context.attachments.map(({ file }) => file)];
      for (const { uploadId } of entries) {
        if (uploadId === null) continue;
        const outcome = await system.send({ kind: UPLOAD, id: uploadId }, { type: 'FORGET' });
        if (outcome.accepted) await outcome.durable;
      }
      await dependencies.sweeping.requestSweep(blobsOf(context));
      return FILES_REMOVED;
    },
  };
}
