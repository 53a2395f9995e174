/**
 * Second verification of signed output (`VerifyIndependently`): an implementation that shares no code with the signer
 * validates the output before it is published and its original removed.
 *
 * Source: docs/batch-values.md §6.1, `VerifyIndependently`.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { validateFile } from '@sealwright/signatures';
import {
  type Agreement,
  type IndependentFormat,
  type IndependentReport,
  judgeAdded,
  MAX_COMPARED_BYTES,
  verifyIndependently,
} from '../../independent/index.ts';
import { coSignedForm } from './co-sign.ts';
import { isContainer as isZip } from './extend.ts';
import { TaskFailure } from './task-failure.ts';
import type { OutputCheck } from './verify-output.ts';

/** Report written next to the files when the two implementations disagree. */
const DISAGREEMENT_FILE = 'verification-disagreement.json';

/**
 * Validates the signatures that the job added.
 * @returns the verdict; its reason is a message when nothing could be compared
 * @throws {TaskFailure} `verification.disagreement`, with both results in the working folder
 */
export async function checkIndependently(
  check: OutputCheck,
): Promise<{ readonly verdict: Exclude<Agreement, 'disagrees'>; readonly reason: string }> {
  const { path, stagedPath, format, profile, remote, at } = check;
  const isDetached = check.operation === undefined && format === 'Cades' && profile.form.detached;
  const isExtended = check.operation === 'Extend';
  const isContainer = isExtended ? isZip(path) : profile.form.container !== undefined;
  const after = await reportOf(isContainer ? 'Asic' : format, path, isDetached ? stagedPath : undefined, at);
  const before = new Set<string>();
  // PDF and XML keep earlier signatures, as do files that get another one; other CMS covers the whole input.
  const keepsEarlier =
    isExtended ||
    coSignedForm(stagedPath, check, profile) !== undefined ||
    (format !== 'Cades' && !isContainer);
  if (keepsEarlier && after.signatures.length > 1) {
    const earlier = await reportOf(isContainer ? 'Asic' : format, stagedPath, undefined, at);
    for (const { value } of earlier.signatures) if (value !== undefined) before.add(value);
  }
  const { verdict, details } = judgeAdded(
    after,
    before,
    isExtended ? null : remote ? undefined : profile.signer?.fingerprint,
  );
  const reason = details.join(' ');
  if (verdict !== 'disagrees') return { verdict, reason };
  const engine = await engineResult(check, isContainer ? 'Asic' : format, isDetached);
  const report = { library: after.library, details, signatures: after.signatures, engine };
  writeFileSync(join(dirname(path), DISAGREEMENT_FILE), `${JSON.stringify(report, null, 2)}\n`, {
    mode: 0o640,
  });
  throw new TaskFailure(
    'verification.disagreement',
    `The signature passed its verification here, but an independent implementation (${after.library}) refuses it: ${reason} Nothing was published; the files are kept for inspection.`,
  );
}

/** Validates the output with the engine, for the report. */
async function engineResult(
  { path, stagedPath, password, profile, trust, at }: OutputCheck,
  format: IndependentFormat,
  isDetached: boolean,
) {
  const { results, signatures } = await validateFile({
    format,
    path,
    ...(password !== undefined && { password }),
    ...(isDetached && { content: stagedPath }),
    trust: {
      anchors: [...profile.anchors, ...trust.roots],
      intermediates: trust.intermediates,
      revocation: 'none',
      algorithms: 'as-listed',
    },
    at,
  });
  return {
    isValid: results.isValid,
    errors: results.errors,
    signatures: signatures.map(({ name, indication, subIndication, results: { errors } }) => ({
      name,
      indication,
      subIndication,
      errors,
    })),
  };
}

/** Validates a file with the second implementation; skips a file that is too large. */
export async function reportOf(
  format: IndependentFormat,
  path: string,
  contentPath: string | undefined,
  at: number,
): Promise<IndependentReport> {
  const paths = contentPath === undefined ? [path] : [path, contentPath];
  const length = paths.reduce((sum, one) => sum + statSync(one).size, 0);
  if (length > MAX_COMPARED_BYTES) {
    const reason = `The file is longer than ${MAX_COMPARED_BYTES} bytes.`;
    return { library: 'none', signatures: [{ kind: 'signature', verdict: 'not-comparable', reason }] };
  }
  return verifyIndependently({
    format,
    bytes: readFileSync(path),
    ...(contentPath !== undefined && { content: readFileSync(contentPath) }),
    at,
  });
}
