/**
 * Makes the deletion of a document real: the uploads it was made of are forgotten where no other call named them, and
 * the files nobody needs any more are removed.
 *
 * Source: Document Signing Portal API, "Delete document"; portal-gaps §4, "Upload lifetime and reuse".
 */
import type { DocumentContext } from '../../../machines/document-context.ts';
import type { ActorSystem, EffectHandler } from '../../../runtime/index.ts';
import type { BlobSweeping } from '../blob-sweeping.ts';
import { blobsOf } from '../document-index.ts';
import { UPLOAD } from '../uploads.ts';

/** The outcome that nobody waits for. */
const FORGOTTEN = { type: 'FORGOTTEN' } as const;

export interface ForgetFilesParts {
  readonly system: () => ActorSystem;
  readonly sweeping: () => Pick<BlobSweeping, 'sweepSoon'>;
}

export function forgetFilesHandler(parts: ForgetFilesParts): EffectHandler {
  return {
    after: 'durable',
    async run(_, { actor }) {
      const found = await parts.system().read(actor);
      if (found === undefined) return FORGOTTEN;
      const context = found.context as DocumentContext;
      const entries = [context.file, ...context.parts, ...context.attachments.map(({ file }) => file)];
      for (const { uploadId } of entries) {
        if (uploadId === null) continue;
        const told = await parts.system().tell({ kind: UPLOAD, id: uploadId }, { type: 'FORGET' });
        if (told.accepted) await told.durable;
      }
      await parts.sweeping().sweepSoon(blobsOf(context));
      return FORGOTTEN;
    },
  };
}
