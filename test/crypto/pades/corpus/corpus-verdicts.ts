/** Properties of every PDF that can be signed, of any writer. */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import { openSource } from '#crypto/core/files.js';
import { inspectPades } from '#crypto/pades/validate.js';
import { verifyPades } from '#crypto/pades/verify.js';
import { pki } from '../../../pki/pki.ts';
import { casesOf } from '../../../project/rounds.ts';
import { mutool, pdfsig, qpdf, runTool, withTools } from '../../../verifiers/index.ts';
import { cook } from '../../pdf/corpus.ts';
import type { CorpusFile, CorpusRecipe } from '../../pdf/corpus-recipe.ts';
import { freshPath, judge, put, sign } from '../validation/verdicts.ts';

/** Files made as others are, with another number in the same place. */
const ALIKE = new RegExp(
  `^(${[
    'of version 1\\.[4-7]',
    'of version (1\\.[356]|2\\.0) by Ghostscript',
    'of a table by LibreOffice',
    'for archives, part 2, by LibreOffice',
    'for archives, part 3, by Ghostscript',
    'encrypted by qpdf (with RC4 of 128 bits|with a crypt filter for RC4|with AES of (128|256) bits)',
    'encrypted with (RC4 of 56 bits|RC4 of 128 bits over packed objects)',
  ].join('|')})$`,
);

/** Recipes without those that only a release tries: of files alike it takes all. */
export function representative<Recipe extends { readonly name: string }>(
  recipes: readonly Recipe[],
): readonly Recipe[] {
  const isAlike = ({ name }: Recipe) => ALIKE.test(name);
  return casesOf(
    recipes.filter((recipe) => !isAlike(recipe)),
    recipes.filter(isAlike),
  );
}

/** Registers one test for each file. */
export function promiseForEach(recipes: readonly CorpusRecipe[]): void {
  for (const recipe of representative(recipes)) {
    const test = withTools(ava, 'pdfsig', 'certutil', 'mutool', 'qpdf', 'pdftoppm', ...(recipe.tools ?? []));
    test(`a PDF ${recipe.name} takes two signatures and renders unchanged`, async (t) => {
      await takesTwoSignatures(t, await cook(recipe));
    });
  }
}

async function takesTwoSignatures(t: ExecutionContext, file: CorpusFile): Promise<void> {
  const input = put(file.bytes);
  const once = sign(input);
  const other = pki().signer('p-256');
  const twice = sign(once.output, other);
  t.true(judge(once).ok, JSON.stringify(judge(once).checks.filter(({ ok }) => !ok)));
  t.true(judge(twice, other).ok, JSON.stringify(judge(twice, other).checks.filter(({ ok }) => !ok)));

  const signed = readFileSync(twice.output);
  const first = readFileSync(once.output);
  t.true(first.subarray(0, file.bytes.length).equals(file.bytes), 'every byte of the original is there');
  t.true(signed.subarray(0, first.length).equals(first), 'every byte of the first signature is there');

  t.deepEqual(objections(twice.output), [], 'no signature harms another, or the document');

  const waiting = file.waiting ?? 0;
  const afterOne = (await pdfsig(once.output, pki())).filter(({ type }) => type !== '');
  t.deepEqual([...afterOne.map(({ ok }) => ok)], [true], JSON.stringify(afterOne));
  const afterTwo = (await pdfsig(twice.output, pki())).filter(({ type }) => type !== '');
  t.is(afterTwo.length, 2);
  t.true(
    afterTwo.every(({ okEarlier }) => okEarlier),
    JSON.stringify(afterTwo),
  );
  t.is(afterTwo.filter(({ coversWholeFile }) => coversWholeFile).length, 1);
  if (file.mutool !== false) {
    const judged = await mutool(twice.output);
    t.is(judged.length, 2 + waiting);
    t.is(judged.filter(({ unchanged }) => unchanged).length, 1, JSON.stringify(judged));
    t.is(judged.filter(({ editedSince }) => editedSince).length, 1, JSON.stringify(judged));
  }

  const before = await qpdf(input);
  const after = await qpdf(twice.output);
  t.true(after.exit <= before.exit, after.text);
  t.deepEqual(await pictures(file, twice.output), await pictures(file, input), 'the pages look the same');

  // The twin: one byte of the original is another one, wherever it is.
  const forged = Buffer.from(signed);
  const place = file.bytes.length >> 1;
  forged[place] = (forged[place] ?? 0) ^ 1;
  const path = put(forged);
  t.false(verifyPades({ format: 'Pades', path, at: Date.now() }).ok);
  t.false((await pdfsig(path, pki())).some(({ okEarlier }) => okEarlier));
}

/** Returns the findings of full validation for the file and all its signatures. */
function objections(path: string): readonly string[] {
  const source = openSource(path);
  try {
    const { findings, signatures } = inspectPades(source);
    const all = [...findings, ...signatures.flatMap((signature) => signature.findings)];
    return all.filter(({ status }) => status === 'failed').map(({ message }) => message);
  } finally {
    source.close();
  }
}

/** Fingerprints of the pages as they are drawn; of a long document, of the first and the last ones. */
async function pictures(file: CorpusFile, path: string): Promise<readonly string[]> {
  if (file.mutool !== false) {
    const pages = file.bytes.length > 200_000 ? ['1-3,N'] : [];
    const { stderr } = await runTool('mutool', ['draw', '-q', '-r', '36', '-s', '5', path, ...pages]);
    const found = [...stderr.matchAll(/ (\d+) ([0-9a-f]{32})$/gm)].map(([all]) => all);
    if (found.length === 0) throw new Error(`mutool drew nothing: ${stderr}`);
    return found;
  }
  const prefix = freshPath('page');
  await runTool('pdftoppm', ['-r', '36', '-gray', path, prefix]);
  const drawn = readdirSync(dirname(prefix)).filter((name) => name.startsWith(`${basename(prefix)}-`));
  if (drawn.length === 0) throw new Error(`pdftoppm drew nothing of ${file.name}`);
  return drawn.sort().map((name) => readFileSync(join(dirname(prefix), name), 'base64'));
}
