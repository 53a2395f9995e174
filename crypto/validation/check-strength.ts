import type { AlgorithmUse } from '../core/finding.ts';
import { algorithmText, strengthOf } from './algorithms.ts';
import { dateText } from './chain.ts';
import type { ResultsBuilder } from './results.ts';

/** Checks that an algorithm was accepted at the proven time of existence (EN 319 102-1 §5.2.8). */
export function checkStrength(use: AlgorithmUse, time: number, results: ResultsBuilder): void {
  const strength = strengthOf(use, time);
  const text = algorithmText(use);
  const type = 'algorithm.strength';
  const detail = use.where;
  if (strength.status === 'good') {
    results.passed({ type, message: `${text} is strong enough.`, detail });
  } else if (strength.status === 'unknown') {
    results.failed('CRYPTO_CONSTRAINTS_FAILURE', {
      type,
      message: `${text} is not an accepted algorithm.`,
      detail,
    });
  } else if (use.preimage === true) {
    results.warning({ type, message: `${text} is weak.`, detail });
  } else {
    const message = `${text} has proven nothing since ${dateText(strength.end)}, and the signature may be younger.`;
    results.failed('CRYPTO_CONSTRAINTS_FAILURE_NO_POE', { type, message, detail });
  }
}
