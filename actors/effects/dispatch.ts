/**
 * Hands a file to the remote portal: stage, upload, create the document. Source: batch-gaps §8.
 */
import type { Clock } from '../../runtime/index.ts';
import { Fatal } from '../../runtime/index.ts';
import { inputContentType } from '../file-names.ts';
import { type RemoteDocument, RemoteFailure } from '../ports.ts';
import type { RemoteSigning } from '../remote-signing.ts';
import { answerOf, type HandlerParts, type JobHandler, jobFailed } from './parts.ts';

/** Pauses before the further tries of an upload, milliseconds. Source: batch-gaps §8, failure table. */
const UPLOAD_PAUSES = [1_000, 4_000] as const;

/**
 * Waits until Processing is durable: a document created for a job that a power cut puts back into the queue would be
 * created a second time.
 */
export function dispatchHandler({ pool, clock, remote }: HandlerParts): JobHandler<'dispatch'> {
  return {
    after: 'durable',
    async run(effect, attempt) {
      const { portal, profile } = remote.of(effect.profileName);
      const { input, path } = answerOf(
        await pool.run({
          task: 'stage',
          jobId: attempt.actor.id,
          fileName: effect.fileName,
          originalPath: effect.originalPath,
        }),
      );
      const document: RemoteDocument = {
        fileName: effect.fileName,
        contentType: inputContentType(effect.fileName),
        format: effect.format,
        participant: profile.participant,
      };
      const send = () => portal.upload({ path, length: input.length }, document);
      const uploadId = await uploadPatiently(send, clock, remote, attempt.signal);
      const documentId = await portal.create(uploadId, document).catch((error: unknown) => {
        remote.failed(error);
        // Another try could create the document twice.
        throw unreachable(error);
      });
      remote.dispatched(effect.profileName);
      return { type: 'DISPATCHED', documentId, input };
    },
    failed: jobFailed,
  };
}

async function uploadPatiently(
  send: () => Promise<string>,
  clock: Clock,
  remote: RemoteSigning,
  signal: AbortSignal,
): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await send();
    } catch (error) {
      remote.failed(error);
      const pause = UPLOAD_PAUSES[tries];
      if (pause === undefined || !(error instanceof RemoteFailure) || !error.transient)
        throw unreachable(error);
      await clock.sleep(Math.max(pause, error.retryAfter ?? 0), signal);
    }
  }
}

/** Source: batch-gaps §4: the text of an audited failure begins with its code. */
export function unreachable(error: unknown): Fatal {
  const reason = error instanceof Error ? error.message : String(error);
  return new Fatal('remote.unreachable', `remote.unreachable: ${reason}`);
}
