import ava from 'ava';
import { isPresent, withTools } from '../../../verifiers/index.ts';
import { CONTENTS, cook, ENCRYPTED, STRUCTURES, THROUGH_QPDF } from '../corpus.ts';
import type { CorpusRecipe } from '../corpus-recipe.ts';
import { complaints, compose, pictures, put } from './pages-harness.ts';

const test = withTools(ava, 'mutool', 'qpdf');

/** Other readers see less of these than there is, so that there is nothing to compare with. */
const UNSEEN = new Set(['encrypted with AES of 128 bits and a hybrid cross-reference']);

/** Files of one envelope. Source: docs/portal-values.md section 21. */
const TOGETHER = 20;

/** Names of those that look different in an envelope of all of them. */
async function differences(recipes: readonly CorpusRecipe[]): Promise<readonly string[]> {
  const files: { readonly name: string; readonly path: string; readonly isJudged: boolean }[] = [];
  for (const recipe of recipes) {
    const { name, bytes, mutool } = await cook(recipe);
    files.push({ name, path: put(bytes), isJudged: mutool !== false && !UNSEEN.has(name) });
  }
  const { path, pagesOfParts } = compose(files.map((file) => ({ path: file.path, outline: file.name })));
  const complaint = await complaints(path);
  if (complaint !== '') return [complaint];
  const after = await pictures(path);
  const found: string[] = [];
  let from = 0;
  for (const [index, { name, path: original, isJudged }] of files.entries()) {
    const to = from + (pagesOfParts[index] ?? 0);
    const before = isJudged ? await pictures(original) : undefined;
    if (before !== undefined && before.join() !== after.slice(from, to).join()) found.push(name);
    from = to;
  }
  return from === after.length ? found : [...found, 'the number of pages'];
}

for (const [what, recipes] of [
  ['however its objects are found', STRUCTURES],
  ['whatever it holds', CONTENTS.filter(({ name }) => !name.includes('3,000'))],
  ['that is encrypted without a password', ENCRYPTED],
  ['as another program writes it', THROUGH_QPDF],
] as const) {
  test(`a PDF ${what} is rendered unchanged in an envelope`, async (t) => {
    const made = recipes.filter(({ tools = [] }) => tools.every(isPresent));
    for (let from = 0; from < made.length; from += TOGETHER) {
      t.deepEqual(await differences(made.slice(from, from + TOGETHER)), []);
    }
  });
}
