/** Validates a signed file and writes its report (ETSI TS 119 102-2). */
import { validateFile, validationReportXml } from '@sealwright/signatures';
import { fileDigest, filesDigests } from '../../shared/files/digest.ts';
import type { PortalTaskContext } from '../portal/portal-task-context.ts';
import { revocationSource } from '../portal/revocation-answers.ts';
import { signedFormat } from '../portal/signed-format.ts';
import { TaskFailure } from '../task-failure.ts';
import type { ValidateResult, ValidateTask } from '../tasks.ts';

/**
 * Trusts `Signing:Trust:Roots` and the anchors of all profiles.
 * @throws {TaskFailure} `upload.format-unsupported` for a file of no supported format; {CryptoError} of the parser
 */
export async function validate(
  { path, fileName, files, format: wanted, at, password }: ValidateTask,
  thread: PortalTaskContext,
): Promise<ValidateResult> {
  const format = wanted ?? signedFormat(path, null);
  if (format === undefined)
    throw new TaskFailure(
      'upload.format-unsupported',
      'The file is no PDF, XML, CMS or container file. Send the signed file, or name its format.',
    );
  const { roots, intermediates, revocation } = thread.profiles.trust;
  const anchors = [...thread.profiles.byName.values()].flatMap((profile) => profile.anchors);
  const online = revocationSource(thread);
  const report = await validateFile({
    format,
    path,
    ...(files !== undefined && { files }),
    ...(password !== undefined && { password }),
    trust: {
      anchors: [...roots, ...anchors],
      intermediates,
      revocation,
      ...(online !== undefined && { online }),
    },
    at,
  });
  const [signed, ...contents] = files === undefined ? [] : filesDigests(path, files);
  const sha256 = signed?.sha256 ?? fileDigest(path);
  return { report, xml: validationReportXml(report, { name: fileName, sha256, at, contents }) };
}
