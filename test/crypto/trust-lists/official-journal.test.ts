/** Beginning of trust in the manual and in the program. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { EU_ANCHOR } from '#crypto/trust-lists/official-journal.js';

test('the manual has the journal and the digests that trust begins with, for a comparison', (t) => {
  const manual = fileURLToPath(new URL('../../../../docs/validation-report.md', import.meta.url));
  const text = readFileSync(manual, 'utf8');
  t.deepEqual(new Set(text.match(/\b[0-9a-f]{64}\b/g)), EU_ANCHOR.signers);
  t.true(text.includes(`<${EU_ANCHOR.journal}>`));
  t.is(EU_ANCHOR.signers.size, 6);
});
