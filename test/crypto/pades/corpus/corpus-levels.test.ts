import { readFileSync } from 'node:fs';
import ava from 'ava';
import { startAuthority, type TestAuthority } from '../../../pki/authority.ts';
import { withTools } from '../../../verifiers/index.ts';
import { cook, ENCRYPTED, STRUCTURES, THROUGH_QPDF } from '../../pdf/corpus.ts';
import { acceptedAt, signAt, storeIn, subjects, TOOLS } from '../levels-harness.ts';
import { put } from '../validation/verdicts.ts';

const test = withTools(ava, ...TOOLS);

let authority: TestAuthority;
test.before(async () => {
  authority = await startAuthority();
});
test.after.always(() => authority.close());

/** One of each kind that matters to a writer of several revisions. */
const CHOSEN = [
  'with carriage returns alone as line ends',
  'with fifty revisions',
  'with a table whose entries lead elsewhere',
  'with packed objects and a startxref far off',
  'encrypted with RC4 of 40 bits',
  'encrypted with AES of 128 bits over packed objects',
  'encrypted with AES over packed objects and a damaged table',
  'encrypted by qpdf with AES of 256 bits',
  'linearized and encrypted by qpdf',
];

for (const name of CHOSEN) {
  const recipe = [...STRUCTURES, ...ENCRYPTED, ...THROUGH_QPDF].find((candidate) => candidate.name === name);
  const madeTest = withTools(test, ...(recipe?.tools ?? []));
  madeTest(`a PDF ${name} is signed at level LTA, and other programs read it`, async (t) => {
    if (recipe === undefined) return t.fail(`The corpus has no PDF ${name}.`);
    const { bytes } = await cook(recipe);
    const signed = await signAt(authority, 'LTA', put(bytes));
    t.true(readFileSync(signed.output).subarray(0, bytes.length).equals(bytes));
    await acceptedAt(t, authority, signed, { documentTimestamps: 1 });
    const store = await storeIn(signed.output);
    // Read by qpdf and node: what a revision adds is encrypted as the file is, or not at all.
    t.true(subjects(store.certificates).length > 1);
    t.true(store.crls.length + store.ocsps.length > 0);
  });
}
