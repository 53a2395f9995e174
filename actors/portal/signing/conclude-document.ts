/** Final verification of a document whose flow is complete, with its time-stamp where requested. */

import { describeFailure, type EffectAttempt } from '@sealwright/runtime';
import { type Conclusion, conclude } from '../../../machines/portal/documents/document-effects.ts';
import type { DocumentRequest } from '../document-records/document-messages.ts';
import { type ApplySignatureDependencies, failureForDocument } from './apply-signature.ts';

export function concludeDocumentHandler(parts: Omit<ApplySignatureDependencies, 'certificates'>) {
  return conclude.handledBy({
    after: 'visible',
    async run(effect, attempt): Promise<DocumentRequest> {
      try {
        return await concluded(effect, attempt, parts);
      } catch (error) {
        if (attempt.signal.aborted) throw error;
        return { type: 'CONCLUSION_FAILED', ...failureForDocument(describeFailure(error)) };
      }
    },
    failed: (_, { code, message }): DocumentRequest => ({ type: 'CONCLUSION_FAILED', code, message }),
  });
}

async function concluded(
  { format, current, signatures, expected, original, timestamp }: Conclusion,
  { actor, signal }: EffectAttempt,
  {
    pool,
    blobs,
    clock,
    faults,
    log,
    sealProfile,
    tellParticipants,
  }: Parameters<typeof concludeDocumentHandler>[0],
): Promise<DocumentRequest> {
  // A document that was only approved has nothing to be looked at.
  if (expected.length === 0) return { type: 'CONCLUDED', output: null, tellParticipants };
  const output = timestamp ? blobs.temporaryPath() : null;
  const task = {
    task: 'portal.check',
    documentId: actor.id,
    format,
    input: await blobs.localPath(current),
    signatures: signatures && (await blobs.localPath(signatures)),
    profile: sealProfile,
    expected,
    original: original === undefined ? null : await blobs.localPath(original),
    at: clock.now(),
    output,
  } as const;
  // The effect names no organization: documents take turns instead.
  const answer = await pool.run(task, { organization: actor.id, bytes: current.length });
  if (!answer.ok) {
    if (signal.aborted) throw signal.reason;
    log.warn('A document could not be concluded.', {
      DocumentId: actor.id,
      Code: answer.code,
      Message: answer.message,
    });
    return { type: 'CONCLUSION_FAILED', ...failureForDocument(answer) };
  }
  const stamped = answer.result.output;
  if (stamped !== null && output !== null) await blobs.adopt(output, stamped);
  await faults.at('portal.conclusion.checked');
  return { type: 'CONCLUDED', output: stamped, tellParticipants };
}
