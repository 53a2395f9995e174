import { readFileSync } from 'node:fs';
import test from 'ava';
import { configurationReference } from '../../settings.ts';

test('docs/configuration.md says what the table of keys says', (t) => {
  // When this fails: npm run build && node scripts/write-docs.mjs
  t.is(readFileSync('docs/configuration.md', 'utf8'), configurationReference());
});
