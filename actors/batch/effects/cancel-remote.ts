/** Cancels a document on the remote portal. A failure does not change the job's state. */
import { Retryable } from '@sealwright/runtime';
import { RemoteFailure } from '../remote/ports.ts';
import { type JobHandler, type JobHandlerDependencies, NO_MESSAGE } from './effect-handler.ts';

/** About an hour, with increasing pauses up to five minutes. */
const MAX_TRIES = 20;
/** Time limit of one attempt, milliseconds: several times the largest `RemoteSigner:RequestTimeoutSeconds`. */
const TIME_LIMIT_MS = 30 * 60_000;

/**
 * Runs after the cancellation is durable. A document that cannot be canceled stays open on the portal; a system
 * event records that. Source: docs/batch-values.md §0.
 */
export function cancelRemoteHandler({ remote, log }: JobHandlerDependencies): JobHandler<'cancelRemote'> {
  return {
    after: 'durable',
    tries: MAX_TRIES,
    timeLimitMs: TIME_LIMIT_MS,
    async run(effect) {
      const { portal } = remote;
      if (portal === undefined) throw new Error('no remote portal is configured any more');
      try {
        await portal.cancel(effect.documentId, effect.reason);
      } catch (error) {
        if (error instanceof RemoteFailure && error.transient)
          throw new Retryable(error.code, error.message, error.retryAfter);
        throw error;
      }
      return NO_MESSAGE;
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
  };
}
