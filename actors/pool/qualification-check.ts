/** Demand of a profile on the qualification of its signatures, checked before publication. */
import {
  type EvidenceSource,
  type QualificationDemand,
  type SignatureRecord,
  unmetDemand,
} from '@sealwright/signatures';
import { coSignedForm } from './co-sign.ts';
import { isContainer } from './extend.ts';
import { TaskFailure } from './task-failure.ts';
import { isBy, isSignature, judged, keyOf, type OutputCheck } from './verify-output.ts';
import type { WorkerProfiles } from './worker-profiles.ts';

/**
 * Resolves when the new signatures reach `Require`: those of the profile's certificate, or all that another party made.
 * Without an answer about revocation, which is not certain, they do not.
 * @param online source of revocation answers; undefined: they are not asked for
 * @throws {TaskFailure} `verification.qualification`
 */
export async function assertQualified(
  check: OutputCheck,
  { trust, lists }: WorkerProfiles,
  online: EvidenceSource | undefined,
): Promise<void> {
  const { profile, path, stagedPath, remote, operation } = check;
  const { demand } = profile;
  if (demand === undefined) return;
  const strict = {
    anchors: [...profile.anchors, ...trust.roots],
    intermediates: trust.intermediates,
    revocation: 'hard',
    algorithms: 'as-listed',
    lists: lists?.(),
    ...(online !== undefined && { online }),
  } as const;
  const format = formatOf(check);
  const judge = (file: string, isSigned: boolean) =>
    judged(
      check,
      { format, path: file, ...(isSigned && hasContentBeside(check) && { content: stagedPath }) },
      strict,
    );
  const { signatures } = await judge(path, true);
  const isAnyones = remote || operation === 'Extend';
  const all = signatures.filter((record) => (isAnyones ? isSignature(record) : isBy(record, profile)));
  const mayHaveOlder = operation !== 'Extend' && (remote || all.length > 1) && isSignedAlready(check);
  const before = mayHaveOlder ? (await judge(stagedPath, false)).signatures : [];
  const made = newOnes(all, before);
  const reasons = made.map((record) => unmet(demand, record));
  if (made.length === 0) reasons.push(`${demand} is required, and there is no new signature.`);
  const said = [...new Set(reasons)].filter((reason) => reason !== undefined);
  if (said.length > 0) throw new TaskFailure('verification.qualification', said.join(' '));
}

/** Leaves out what was there as often before: the places of signatures in CMS and XML say nothing about their age. */
function newOnes(
  after: readonly SignatureRecord[],
  before: readonly SignatureRecord[],
): readonly SignatureRecord[] {
  const times = (records: readonly SignatureRecord[], key: string) =>
    records.filter((record) => keyOf(record) === key).length;
  return after.filter((record) => times(after, keyOf(record)) > times(before, keyOf(record)));
}

/** An open answer comes with what was missing, such as a revocation status. */
function unmet(demand: QualificationDemand, { qualification, results }: SignatureRecord): string | undefined {
  const reason = unmetDemand(demand, qualification);
  if (reason === undefined || qualification?.isIndeterminate !== true) return reason;
  return [reason, ...results.errors.map(({ message }) => message)].join(' ');
}

/** True where the staged file may hold signatures; other files are content. */
function isSignedAlready(check: OutputCheck): boolean {
  const { remote, format, profile, stagedPath } = check;
  if (!remote && coSignedForm(stagedPath, check, profile) !== undefined) return true;
  return format !== 'Cades' && (remote || profile.form.container === undefined);
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
