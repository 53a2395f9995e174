/** Validation of valid files by the engine, compared with other programs; `agreement.ts` prints the table. */
import ava from 'ava';
import { compareValidators } from './agreement.ts';
import { withTools } from './tool.ts';

const test = withTools(ava, 'pdfsig', 'certutil', 'mutool', 'openssl', 'xmlsec1', 'qpdf');

for (const [what, selection] of [
  ['PDFs of the test corpus', { corpus: true }],
  ['XML and CMS files', { xmlDocuments: 40 }],
] as const) {
  test(`the engine and other programs agree about valid files and files with a changed byte: ${what}`, async (t) => {
    const { rows, files, falseAccepts } = await compareValidators(selection);
    t.true(files > 40);
    t.deepEqual(falseAccepts, []);
    for (const { format, judge, both, onlyEngine, onlyJudge, neither } of rows) {
      t.log(`${format}, ${judge}: both accept ${both}`);
      t.deepEqual([...onlyEngine, ...onlyJudge, ...neither], [], judge);
    }
  });
}
