/** Outcomes in a few words. */
import type { FileFacts } from '../../crypto/validation/facts.ts';
import { judgeFile } from '../../crypto/validation/judge-file.ts';
import type { ValidationReport, ValidationResults } from '../../crypto/validation/report.ts';
import type { World } from './world.ts';

export function reportOn(
  world: World,
  format: ValidationReport['format'],
  facts: FileFacts,
): ValidationReport {
  return judgeFile(format, facts, world.judging);
}

/** The verdict, and the kinds of what was found, inner findings among them. */
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

/** A message without what differs from case to case. */
export function plain(message: string): string {
  return message
    .replace(/\d+/g, '0')
    .replace(/[/"“'][^ ]*/g, '*')
    .slice(0, 60);
}
