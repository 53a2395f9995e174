/** Says of each signature of a file who made it, with which certificate, and whether it is good. */
import { validateFile } from '../../../crypto/index.ts';
import { describedFile } from '../../portal/signature-records.ts';
import type { DescribeTask, PortalResults } from '../portal-tasks.ts';
import type { ThreadProfile } from '../worker-profiles.ts';
import { revocationAnswers } from './revocation-answers.ts';
import { signedFormat } from './signed-format.ts';
import { type PortalThread, sealingProfile } from './thread.ts';

export async function describe(
  task: DescribeTask,
  thread: PortalThread,
): Promise<PortalResults['portal.describe']> {
  const { path, content, at } = task;
  const format = task.format ?? signedFormat(path, task.contentType);
  if (format === undefined) return { fault: null, signatures: [] };
  const { roots, intermediates, revocation } = thread.profiles.trust;
  const seal = sealingProfile(thread, task.profile);
  const online = revocationAnswers(thread);
  const report = await validateFile({
    format,
    path,
    ...(content !== null && { content }),
    trust: {
      anchors: [...roots, ...sealAnchors(seal)],
      intermediates: [...intermediates, ...seal.signer.chain],
      revocation,
      ...(online !== undefined && { online }),
    },
    at,
  });
  return describedFile(report);
}

/** What the service seals with is trusted here, whether or not it leads to a root that is known. */
function sealAnchors({
  anchors,
  signer,
}: Pick<ThreadProfile, 'anchors'> & {
  readonly signer: NonNullable<ThreadProfile['signer']>;
}): readonly Buffer[] {
  return anchors.length > 0 ? anchors : [signer.certificate];
}
