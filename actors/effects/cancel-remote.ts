/** Tells the remote portal that nobody waits for a document any more. Its failure undoes nothing here. */
import { describeFailure } from '../../runtime/index.ts';
import { type HandlerParts, type JobHandler, NOTHING_TO_TELL } from './parts.ts';

/**
 * Sent after the cancellation is durable, once: best effort is what the document asks for.
 * Source: Batch Signing Service API, AwaitingSigner × cancel.
 */
export function cancelRemoteHandler({ remote, log }: HandlerParts): JobHandler<'cancelRemote'> {
  return {
    after: 'durable',
    async run(effect, attempt) {
      try {
        await remote.of(effect.profileName).portal.cancel(effect.documentId, effect.reason);
      } catch (error) {
        remote.failed(error);
        log.warn('The remote portal could not be told of a cancellation; the document stays open there.', {
          JobId: attempt.actor.id,
          DocumentId: effect.documentId,
          Error: describeFailure(error).message,
        });
      }
      return NOTHING_TO_TELL;
    },
  };
}
