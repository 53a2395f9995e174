/** The last look at a document whose flow is done, and its time-stamp where one is asked for. */
import type { DocumentEffect } from '../../../machines/document-context.ts';
import { describeFailure, type EffectHandler, type EffectTry } from '../../../runtime/index.ts';
import type { DocumentWord } from '../document-changes.ts';
import { type SealingParts, shownFailure } from './apply-signature.ts';

export type ConcludeEffect = Extract<DocumentEffect, { readonly do: 'conclude' }>;

export function concludeHandler(
  parts: Omit<SealingParts, 'certificates'> & {
    /** `Portal:NotifyParticipants:Concluded`. */
    readonly tellParticipants: boolean;
  },
): EffectHandler<ConcludeEffect> {
  return {
    after: 'visible',
    async run(effect, attempt): Promise<DocumentWord> {
      try {
        return await concluded(effect, attempt, parts);
      } catch (error) {
        if (attempt.signal.aborted) throw error;
        return { type: 'CONCLUSION_FAILED', ...shownFailure(describeFailure(error)) };
      }
    },
    failed: (_, { code, message }): DocumentWord => ({ type: 'CONCLUSION_FAILED', code, message }),
  };
}

async function concluded(
  { format, current, signatures, expected, timestamp }: ConcludeEffect,
  { actor, signal }: EffectTry,
  { pool, blobs, clock, faults, log, sealProfile, tellParticipants }: Parameters<typeof concludeHandler>[0],
): Promise<DocumentWord> {
  // A document that was only approved has nothing to be looked at.
  if (expected.length === 0) return { type: 'CONCLUDED', output: null, tellParticipants };
  const output = timestamp ? blobs.temporaryPath() : null;
  const answer = await pool.run({
    task: 'portal.check',
    documentId: actor.id,
    format,
    input: blobs.pathOf(current),
    signatures: signatures && blobs.pathOf(signatures),
    profile: sealProfile,
    expected,
    at: clock.now(),
    output,
  });
  if (!answer.ok) {
    if (signal.aborted) throw signal.reason;
    log.warn('A document could not be concluded.', {
      DocumentId: actor.id,
      Code: answer.code,
      Message: answer.message,
    });
    return { type: 'CONCLUSION_FAILED', ...shownFailure(answer) };
  }
  const stamped = answer.result.output;
  if (stamped !== null && output !== null) await blobs.adopt(output, stamped);
  await faults.at('portal.conclusion.checked');
  return { type: 'CONCLUDED', output: stamped, tellParticipants };
}
