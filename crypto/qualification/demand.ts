/** Demands that a signature reach a qualification. */
import type { SignatureQualification, SignatureWord } from '../core/validation-report.ts';
import { qualificationText } from '../core/validation-report.ts';

/** Least qualification. */
export type QualificationDemand = 'QESig' | 'QESeal' | 'AdESig-QC' | 'AdESeal-QC';

/** Words that reach a demand. What is missing reaches none. */
const REACHED: { readonly [demand in QualificationDemand]: ReadonlySet<SignatureWord> } = {
  QESig: new Set(['QESig']),
  QESeal: new Set(['QESeal']),
  'AdESig-QC': new Set(['QESig', 'AdESig-QC']),
  'AdESeal-QC': new Set(['QESeal', 'AdESeal-QC']),
};

/**
 * Says why a signature does not reach a demand; undefined: it does. An open answer reaches none, whatever its word.
 * @param found undefined: there are no lists
 */
export function unmetDemand(
  demand: QualificationDemand,
  found: Pick<SignatureQualification, 'word' | 'isIndeterminate' | 'reasons'> | undefined,
): string | undefined {
  if (found === undefined) return `${demand} is required, and no trusted lists are configured.`;
  if (!found.isIndeterminate && REACHED[demand].has(found.word)) return undefined;
  return [`${demand} is required, and this is ${qualificationText(found)}.`, ...found.reasons].join(' ');
}
