/**
 * Removes the files of a deleted document: its uploads unless other calls used them, and files without references. Ends
 * the uploads of participants when a document ends.
 *
 * Source: docs/portal-values.md §0, §4; docs/decisions/0149-uploads-of-participants.md.
 */

import type { DocumentId } from '../../../machines/ids.ts';
import {
  forgetFiles,
  forgetParticipantUploads,
} from '../../../machines/portal/documents/document-effects.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { blobsOf, DOCUMENT } from '../document-records/document-index.ts';
import type { BlobSweeping } from '../uploads/blob-sweeping.ts';
import { participantUploads, UPLOAD } from '../uploads/uploads.ts';

/** Uploads that are read together. */
const BATCH_SIZE = 100;

type Sweeping = Pick<BlobSweeping, 'requestSweep'>;
type UploadRuntime = Pick<ServiceRuntime, 'actors' | 'store'>;

export function removeFilesHandler(runtime: UploadRuntime, sweeping: Sweeping) {
  return forgetFiles.handledBy({
    async run(_, { actor }) {
      const found = await runtime.actors.read(DOCUMENT, actor.id);
      if (found === undefined) return null;
      const context = found.context;
      const entries = [context.file, ...context.parts, ...context.attachments.map(({ file }) => file)];
      for (const { uploadId } of entries) {
        if (uploadId !== null) await forget(runtime, uploadId);
      }
      await endUploads(runtime, sweeping, actor.id as DocumentId);
      await sweeping.requestSweep(blobsOf(context));
      return null;
    },
  });
}

export function forgetParticipantUploadsHandler(runtime: UploadRuntime, sweeping: Sweeping) {
  return forgetParticipantUploads.handledBy({
    async run(_, { actor }) {
      const found = await runtime.actors.read(DOCUMENT, actor.id);
      // A new version has restarted the flow since: its participants may have uploaded files for it.
      if (found?.state !== 'Pending') await endUploads(runtime, sweeping, actor.id as DocumentId);
      return null;
    },
  });
}

/** Ends all uploads of participants. What they signed with stays, because the document refers to it. */
async function endUploads(runtime: UploadRuntime, sweeping: Sweeping, documentId: DocumentId): Promise<void> {
  for (let after: string | undefined; ; ) {
    const uploads = await participantUploads(runtime.store, documentId, { limit: BATCH_SIZE, after });
    await Promise.all(uploads.map(({ id }) => forget(runtime, id)));
    await sweeping.requestSweep(uploads);
    if (uploads.length < BATCH_SIZE) return;
    // Not from the first again: an upload that does not end keeps its row.
    after = uploads.at(-1)?.id;
  }
}

async function forget({ actors }: UploadRuntime, id: string): Promise<void> {
  await actors.send(UPLOAD, id, { type: 'FORGET' });
}
