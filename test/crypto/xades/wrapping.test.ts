/** Signature wrapping: every signed element moved to every other position, compared with the valid document. */
import test from 'ava';
import type { SignatureRecord, ValidationReport } from '#crypto/core/validation-report.js';
import { roundsOf } from '../../project/rounds.ts';
import { reportOn } from './forging.ts';
import { type ForgedDocument, movedElements } from './moved-elements.ts';
import { type WrappingFormat, wrappingForms } from './wrapping-forms.ts';

/** One of this many forged documents is validated, of each of the 20 kinds as it has no divisor in common; a release validates all. */
const STRIDE = roundsOf(7, 1);

/** Reason why a TOTAL-PASSED report deceives its reader; undefined when it does not. */
function deception(
  form: WrappingFormat,
  forged: ForgedDocument,
  report: ValidationReport,
): string | undefined {
  if (report.indication !== 'TOTAL-PASSED') return undefined;
  const around = forged.around.join('/');
  const isPlaced = form.position === undefined ? forged.sameParent : around.endsWith(form.position);
  // Moved among its siblings without a substitute, the document is the same for a reader.
  if (isPlaced && forged.vacated) return undefined;
  const [signature] = report.signatures;
  if (signature === undefined || !hasScopeWarning(signature)) return 'without a warning about its scope';
  if (form.position !== undefined) return isPlaced ? undefined : 'out of its place';
  return signature.scope.description.includes(`/${around}/`) ? undefined : `without its path /${around}`;
}

function hasScopeWarning({ results }: SignatureRecord): boolean {
  return results.warnings.some(({ type }) => type.startsWith('scope.'));
}

for (const form of wrappingForms()) {
  test(`a moved element never passes as the one at its former place: ${form.name}`, (t) => {
    t.is(reportOn(form.honest, form.options).indication, 'TOTAL-PASSED');
    let generated = 0;
    const accepted: string[] = [];
    for (const signed of form.signed) {
      let count = 0;
      for (const forged of movedElements(form.honest, signed)) {
        if (count++ % STRIDE !== 0) continue;
        generated++;
        const reason = deception(form, forged, reportOn(forged.text, form.options));
        if (reason !== undefined) accepted.push(`${forged.description}: ${reason}`);
      }
    }
    t.deepEqual(accepted.slice(0, 5), []);
    t.log(`false accepts ${accepted.length} of ${generated} generated`);
    t.true(generated > 0);
  });
}
