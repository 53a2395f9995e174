/** Short descriptions of outcomes. */

import type { ValidationReport, ValidationResults } from '#crypto/core/validation-report.js';
import type { FileSignatures } from '#crypto/validation/signature-info.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import type { FuzzEnvironment } from './environment.ts';

export function reportOn(
  environment: FuzzEnvironment,
  format: ValidationReport['format'],
  facts: FileSignatures,
): ValidationReport {
  return validateSignatures(format, facts, environment.judging);
}

/** Returns the verdict and the types of findings, nested ones included. */
export function outcomeOf({ indication, signatures, results }: ValidationReport): string {
  const kinds = new Set<string>();
  collect(results, kinds);
  for (const signature of signatures) {
    kinds.add(signature.subIndication ?? signature.indication);
    collect(signature.results, kinds);
    for (const counter of signature.counterSignatures) collect(counter.results, kinds);
  }
  return `${indication} ${[...kinds].sort().join(' ')}`;
}

function collect({ errors, warnings }: ValidationResults, kinds: Set<string>): void {
  for (const { type, message, inner } of [...errors, ...warnings]) {
    kinds.add(`${type}:${plain(message)}`);
    if (inner !== undefined) collect(inner, kinds);
  }
}

/** Removes the parts of a message that differ between cases. */
export function plain(message: string): string {
  return message
    .replace(/\d+/g, '0')
    .replace(/[/"“'][^ ]*/g, '*')
    .slice(0, 60);
}
