/**
 * Sends a file to the remote portal: stages, uploads and creates the document, or attaches to the document of the job
 * that is retried. Source: docs/batch-values.md §8.
 */

import { Fatal, Retryable } from '@sealwright/runtime';
import { documentStatusesIn } from '../../../contracts/portal/words.ts';
import type { RemoteDocumentReference, StagedInput } from '../../../machines/batch/job-context.ts';
import { cancelRemote, type DispatchInput, dispatch } from '../../../machines/batch/job-effects.ts';
import { finalErrors } from '../../shared/failures/final-errors.ts';
import { inputContentType } from '../../shared/files/signing-format.ts';
import { stampedInput, withOriginal } from '../objects/originals.ts';
import { type RemoteDocument, RemoteFailure, type RemotePortal } from '../remote/ports.ts';
import { unreachable } from '../remote/upload-retries.ts';
import {
  interrupted,
  type JobHandlerDependencies,
  type JobMessageContent,
  jobFailed,
  messageOf,
  NO_TIME_LIMIT,
  waitsForInput,
  whileWritable,
} from './effect-handler.ts';

/** Statuses of documents that can still be signed or are signed. Source: docs/decisions/0049-remote-portal-outages.md. */
const ATTACHABLE: ReadonlySet<string> = new Set(documentStatusesIn('open', 'concluded'));

/**
 * Waits until Processing is durable: after a power cut, a job back in the queue would create its document a second
 * time.
 */
export function dispatchHandler(dependencies: JobHandlerDependencies) {
  const { pool, remote, storage } = dependencies;
  return dispatch.handledBy({
    timeoutMs: NO_TIME_LIMIT,
    // A second attempt could create the document a second time.
    run: finalErrors(async (effect: DispatchInput, attempt): Promise<JobMessageContent> => {
      const { portal, profile } = remote.profileOf(effect.profileName);
      const read = await whileWritable(storage, attempt, async () =>
        withOriginal(effect.originalPath, dependencies, async (originalPath) => {
          const answer = await pool.run({
            task: 'stage',
            jobId: attempt.actor.id,
            fileName: effect.fileName,
            originalPath,
            ...(effect.seen && originalPath === effect.originalPath && { seen: effect.seen }),
          });
          const waits = answer.ok ? undefined : await waitsForInput(answer, effect);
          return waits ?? messageOf(answer);
        }),
      );
      if ('away' in read) return { type: 'INPUT_AWAY', message: read.away };
      const staged = read.result;
      if ('type' in staged) return staged;
      const { path } = staged;
      const input = stampedInput(staged.input, read.stamp);
      const document: RemoteDocument = {
        fileName: effect.fileName,
        contentType: inputContentType(effect.fileName, effect.format),
        format: effect.format,
        participant: profile.participant,
      };
      const create = async () => {
        const { existing } = effect;
        if (existing && (await canAttach(portal, existing, input)))
          return { documentId: existing.documentId, attachedTo: existing.jobId };
        const uploadId = await portal.upload({ path, length: input.length }, document);
        return { documentId: await created(portal, uploadId, document) };
      };
      const dispatched = await remote.uploads.run(attempt.actor.id, create, attempt.signal);
      if (dispatched.attachedTo === undefined) remote.dispatched(effect.profileName);
      return { type: 'DISPATCHED', input, ...dispatched };
    }),
    failed: jobFailed,
    interrupted,
  });
}

/**
 * True when the document exists on the portal and can be attached. @throws {RemoteFailure} transient ones; all others
 * mean false
 */
async function canAttach(
  portal: RemotePortal,
  { documentId, sha256 }: RemoteDocumentReference,
  input: StagedInput,
): Promise<boolean> {
  if (sha256 !== input.sha256) return false;
  try {
    return ATTACHABLE.has((await portal.status(documentId)).status);
  } catch (error) {
    if (error instanceof RemoteFailure && !error.transient) return false;
    throw error;
  }
}

/** Retries only when the request was not sent: a second request could create the document twice. */
async function created(portal: RemotePortal, uploadId: string, document: RemoteDocument): Promise<string> {
  try {
    return await portal.create(uploadId, document);
  } catch (error) {
    if (error instanceof RemoteFailure && error.transient && !error.sent) throw error;
    throw unreachable(error);
  }
}

/** About an hour, with increasing pauses up to five minutes. */
const MAX_TRIES = 20;
/** Time limit of one attempt, milliseconds: several times the largest `RemoteSigner:RequestTimeoutSeconds`. */
const TIME_LIMIT_MS = 30 * 60_000;

/**
 * Runs after the cancellation is durable. A document that cannot be canceled stays open on the portal; a system
 * event records that. Source: docs/batch-values.md §0.
 */
export function cancelRemoteHandler({ remote, log }: JobHandlerDependencies) {
  return cancelRemote.handledBy({
    tries: MAX_TRIES,
    timeoutMs: TIME_LIMIT_MS,
    async run(effect) {
      const { portal } = remote;
      if (portal === undefined)
        throw new Fatal('remote.not-configured', 'no remote portal is configured any more');
      try {
        await portal.cancel(effect.documentId, effect.reason);
      } catch (error) {
        if (!(error instanceof RemoteFailure)) throw error;
        if (error.transient) throw new Retryable(error.code, error.message, error.retryAfter);
        // An attempt before a crash may have canceled it.
        const isCanceled = await portal.status(effect.documentId).then(
          ({ status }) => status === 'Canceled',
          () => false,
        );
        if (!isCanceled) throw new Fatal(error.code, error.message);
      }
      return null;
    },
    failed(effect, { message: reason }) {
      log.warn('A remote document could not be canceled and stays open on the portal.', {
        DocumentId: effect.documentId,
        Error: reason,
      });
      const text = `The remote document ${effect.documentId} was not canceled (${reason.replace(/\.$/, '')}).`;
      return {
        type: 'REMOTE_CANCEL_FAILED',
        message: `${text} Cancel it on the portal if nobody is to sign it.`,
      };
    },
  });
}
