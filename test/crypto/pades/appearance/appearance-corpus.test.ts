import ava from 'ava';
import { openSource } from '#crypto/core/files.js';
import { inspectPades } from '#crypto/pades/validate.js';
import { pki } from '../../../pki/pki.ts';
import { casesOf } from '../../../project/rounds.ts';
import { mutool, pdfsig, qpdf, withTools } from '../../../verifiers/index.ts';
import { CONTENTS, cook, ENCRYPTED, STRUCTURES } from '../../pdf/corpus.ts';
import { representative } from '../corpus/corpus-verdicts.ts';
import { judge, put, sign } from '../validation/verdicts.ts';
import { FOUR_COLOURS, signVisibly } from './appearance-pictures.ts';

const test = withTools(ava, 'pdfsig', 'certutil', 'mutool', 'qpdf');

const APPEARANCE = {
  page: 1,
  rectangle: { left: 10, bottom: 10, width: 60, height: 20 },
  lines: ['Ж'],
  image: FOUR_COLOURS,
};

test('every kind of PDF takes two visible signatures', async (t) => {
  const all = representative([...STRUCTURES, ...CONTENTS, ...ENCRYPTED]);
  // Each takes two signatures without a look in `../corpus/`: of neighbours in the list, which are alike, one is enough here.
  const recipes = casesOf(
    all.filter((_, at) => at % 3 === 0),
    all.filter((_, at) => at % 3 !== 0),
  );
  t.true(recipes.length > 15);
  for (const recipe of recipes) {
    const file = await cook(recipe);
    if (file.bytes.length > 1 << 20) continue;
    const input = put(file.bytes);
    const signed = signVisibly(input, APPEARANCE);
    t.deepEqual(
      judge(signed, pki().signer('p-256')).checks.filter(({ ok }) => !ok),
      [],
      recipe.name,
    );
    const verdicts = (await pdfsig(signed.output, pki())).filter(({ type }) => type !== '');
    t.deepEqual([...verdicts.map(({ ok }) => ok)], [true], recipe.name);
    if (file.mutool !== false) t.is((await mutool(signed.output)).filter((one) => one.unchanged).length, 1);
    const before = await qpdf(input);
    const after = await qpdf(signed.output);
    t.true(after.exit <= before.exit, `${recipe.name}: ${after.text}`);

    const source = openSource(sign(signed.output).output);
    try {
      const { findings, signatures } = inspectPades(source);
      const all = [...findings, ...signatures.flatMap((signature) => signature.findings)];
      const failed = all.filter(({ status }) => status === 'failed').map(({ message }) => message);
      t.deepEqual(failed, [], recipe.name);
    } finally {
      source.close();
    }
  }
});
