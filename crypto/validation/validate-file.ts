/** Validation of a file: from inspected signatures to the report. */

import type { Indication, SignatureRecord, ValidationReport } from '../core/validation-report.ts';
import { WorkBudget } from '../core/work-budget.ts';
import { ResultsBuilder } from './results.ts';
import type { FileSignatures } from './signature-info.ts';
import type { ValidationRequest } from './trust.ts';
import { validateSignature } from './validate-signature.ts';

/**
 * Validates all signatures of a file. @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read
 */
export function validateSignatures(
  format: ValidationReport['format'],
  facts: FileSignatures,
  request: ValidationRequest,
): ValidationReport {
  const work = facts.work ?? WorkBudget.forFile(0);
  const signatures = facts.signatures.map((signature) => validateSignature(signature, request, work));
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
    indication: worst([results.verdict(), ...signatures.flatMap(withCounterSignatures)]),
    signatures,
    results: results.results(),
  };
}

/** Lists a signature with its counter-signatures: they count for the file, not for the countersigned signature. */
function withCounterSignatures(signature: SignatureRecord): SignatureRecord[] {
  return [signature, ...signature.counterSignatures.flatMap(withCounterSignatures)];
}

/** Returns the worst indication: failed before indeterminate before passed. */
function worst(verdicts: readonly Pick<SignatureRecord, 'indication'>[]): Indication {
  const has = (indication: Indication) => verdicts.some((verdict) => verdict.indication === indication);
  if (has('TOTAL-FAILED')) return 'TOTAL-FAILED';
  return has('INDETERMINATE') ? 'INDETERMINATE' : 'TOTAL-PASSED';
}
