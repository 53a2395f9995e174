/** From the facts about a file to its report. */

import { Work } from '../work.ts';
import type { FileFacts } from './facts.ts';
import { judge } from './judge.ts';
import type { Indication, SignatureRecord, ValidationReport } from './report.ts';
import { ResultsBuilder } from './results.ts';
import type { ValidationRequest } from './trust.ts';

/** @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read */
export function judgeFile(
  format: ValidationReport['format'],
  facts: FileFacts,
  request: ValidationRequest,
): ValidationReport {
  const work = facts.work ?? Work.forFile(0);
  const signatures = facts.signatures.map((signature) => judge(signature, request, work));
  const results = new ResultsBuilder();
  for (const finding of facts.findings) results.finding(finding);
  if (signatures.length > 0) {
    results.passed({
      type: 'file.signatures',
      message: 'The file has signatures.',
      detail: `${signatures.length}`,
    });
  } else if (results.verdict().indication === 'TOTAL-PASSED') {
    results.failed('GENERIC', { type: 'file.signatures', message: 'The file has no signature.' });
  }
  return {
    format,
    indication: worst([results.verdict(), ...signatures]),
    signatures,
    results: results.results(),
  };
}

/** One signature that is wrong makes the file wrong, one that is open leaves it open. */
function worst(verdicts: readonly Pick<SignatureRecord, 'indication'>[]): Indication {
  const has = (indication: Indication) => verdicts.some((verdict) => verdict.indication === indication);
  if (has('TOTAL-FAILED')) return 'TOTAL-FAILED';
  return has('INDETERMINATE') ? 'INDETERMINATE' : 'TOTAL-PASSED';
}
