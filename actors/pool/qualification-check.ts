/** Demand of a profile on the qualification of its signatures, checked before publication. */
import {
  type EvidenceSource,
  matchingSignature,
  type SignatureRecord,
  unmetDemand,
  validateFile,
} from '@sealwright/signatures';
import { coSignedForm } from './co-sign.ts';
import { isContainer } from './extend.ts';
import { TaskFailure } from './task-failure.ts';
import { type OutputCheck, ownSignature } from './verify-output.ts';
import type { WorkerProfiles } from './worker-profiles.ts';

/**
 * Resolves when the new signatures reach `Require`: that of the profile's certificate, or all that another party made.
 * @param online source of revocation answers; undefined: they are not asked for
 * @throws {TaskFailure} `verification.qualification`
 */
export async function assertQualified(
  check: OutputCheck,
  { trust, lists }: WorkerProfiles,
  online: EvidenceSource | undefined,
): Promise<void> {
  const { profile, path, stagedPath, at, remote, operation, password } = check;
  const { demand } = profile;
  if (demand === undefined) return;
  const judge = (file: string, isSigned: boolean) =>
    validateFile({
      format: formatOf(check),
      path: file,
      at,
      ...(password !== undefined && { password }),
      ...(isSigned && hasContentBeside(check) && { content: stagedPath }),
      trust: {
        anchors: [...profile.anchors, ...trust.roots],
        intermediates: trust.intermediates,
        revocation: trust.revocation,
        algorithms: 'as-listed',
        lists: lists?.(),
        ...(online !== undefined && { online }),
      },
    });
  const report = await judge(path, true);
  const before = remote && check.format !== 'Cades' ? await judge(stagedPath, false) : undefined;
  const made = ({ isTimestamp, isInContent }: SignatureRecord) => !isTimestamp && isInContent !== true;
  const isNew = (record: SignatureRecord) =>
    before === undefined || matchingSignature(record, before) === undefined;
  const own = ownSignature(report, profile);
  const subjects = remote || operation === 'Extend' ? report.signatures.filter(made).filter(isNew) : [own];
  const reasons = subjects.map((record) => unmetDemand(demand, record?.qualification));
  if (subjects.length === 0) reasons.push(`${demand} is required, and there is no new signature.`);
  const unmet = [...new Set(reasons)].filter((reason) => reason !== undefined);
  if (unmet.length > 0) throw new TaskFailure('verification.qualification', unmet.join(' '));
}

function formatOf(check: OutputCheck) {
  const { profile, stagedPath, operation, remote, format } = check;
  if (operation === 'Extend') return isContainer(stagedPath) ? 'Asic' : format;
  if (remote) return format;
  if (profile.form.container !== undefined) return 'Asic';
  return coSignedForm(stagedPath, check, profile) ?? format;
}

function hasContentBeside({ format, remote, operation, profile }: OutputCheck): boolean {
  if (operation === 'Extend' || format !== 'Cades') return false;
  return remote || (profile.form.container === undefined && profile.form.detached);
}
