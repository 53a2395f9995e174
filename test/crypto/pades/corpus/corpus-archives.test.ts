import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { withTools } from '../../../verifiers/index.ts';
import { cook } from '../../pdf/corpus.ts';
import { ARCHIVE_PARTS, ARCHIVES } from '../../pdf/corpus-documents.ts';
import { inspect, type QpdfDocument } from '../inspect.ts';
import { put, sign } from '../validation/verdicts.ts';
import { promiseForEach, representative } from './corpus-verdicts.ts';

promiseForEach(ARCHIVES);

/** Each rule of ISO 19005 that adding a signature could break; clauses of part 1, then of parts 2 and 3. */
function assertStillArchive(
  t: ExecutionContext,
  part: 1 | 2 | 3,
  { bytes, update, file }: { readonly bytes: Buffer; readonly update: string; readonly file: QpdfDocument },
): void {
  // 6.1.3: an identifier, no encryption, and nothing but one line end after the last %%EOF.
  const identifier = file.array(file.trailer['/ID']);
  t.is(identifier.length, 2);
  for (const part of identifier) t.regex(String(part), /^[ub]:./s);
  t.true(update.includes('/ID'));
  t.false(update.includes('/Encrypt'));
  t.regex(update, /%%EOF\r?\n?$/);
  // 6.1.4 of part 1: tables only, each with its keyword on a line of its own.
  if (part === 1) {
    t.regex(update, /\nxref\n\d+ \d+\n\d{10} \d{5} [nf] ?[\r\n]/);
    t.false(update.includes('/XRef'));
    t.false(update.includes('/ObjStm'));
  }
  // 6.1.6: hexadecimal strings have an even number of digits. 6.1.7 and 6.1.8: framing by single spaces and lines.
  for (const [, digits = ''] of update.matchAll(/<([0-9A-Fa-f]*)>/g)) t.is(digits.length % 2, 0);
  t.regex(update, /^\n?\d+ \d+ obj\n/);
  t.is(
    [...update.matchAll(/(?<=\n)\d+ \d+ obj\n/g)].length + (/^\d/.test(update) ? 1 : 0),
    [...update.matchAll(/\nendobj\n/g)].length,
  );
  for (const [, length, data = ''] of update.matchAll(
    /\/Length (\d+)[^>]*>>\nstream\n([\s\S]*?)\nendstream/g,
  )) {
    t.is(data.length, Number(length));
  }
  // 6.5.3 (6.3.2, 6.3.3): the new annotation prints, is neither hidden nor invisible, and has a normal appearance alone.
  const form = file.dict(file.catalog['/AcroForm']);
  const widget = file.dict(file.array(form['/Fields']).at(-1));
  t.is(widget['/FT'], '/Sig');
  t.is(widget['/Subtype'], '/Widget');
  const flags = Number(widget['/F']);
  t.is(flags & 4, 4, 'Print');
  t.is(flags & (1 | 2 | 32 | 256), 0, 'not Invisible, Hidden, NoView, ToggleNoView');
  // Parts 2 and 3 (6.3.3) ask for none where there is no extent.
  t.deepEqual(widget['/Rect'], [0, 0, 0, 0]);
  t.deepEqual(Object.keys(file.dict(widget['/AP'])), part === 1 ? ['/N'] : []);
  // 6.6.1 and 6.6.2 (6.5): no actions. 6.9 (6.4.1): appearances are not made anew.
  t.false('/A' in widget || '/AA' in widget);
  t.not(form['/NeedAppearances'], true);
  // 6.4 of part 1: no transparency; 6.2.3: no colour, and so none without a profile.
  const appearance = file.dict(file.dict(widget['/AP'])['/N']);
  if (part === 1) t.is(appearance['/Subtype'], '/Form');
  for (const key of ['/Group', '/SMask', '/PS', '/OPI', '/Ref']) t.false(key in appearance, key);
  // 6.4.3 of parts 2 and 3: a signature over the whole file, in a form of ISO 32000-1.
  const [, , second, rest] = file.array(file.dict(widget['/V'])['/ByteRange']).map(Number);
  t.is((second ?? 0) + (rest ?? 0), bytes.length);
}

const TRIED = representative(ARCHIVES);

for (const { part, recipe } of ARCHIVE_PARTS.filter((one) => TRIED.includes(one.recipe))) {
  withTools(
    test,
    'qpdf',
    ...(recipe.tools ?? []),
  )(`a PDF ${recipe.name} conforms to ISO 19005 after signing`, async (t) => {
    const { bytes } = await cook(recipe);
    const signed = sign(put(bytes));
    const after = readFileSync(signed.output);
    const update = after.toString('latin1', bytes.length);
    const before = await inspect(signed.input);
    const file = await inspect(signed.output);
    assertStillArchive(t, part, { bytes: after, update, file });
    // 6.7 (6.6): the metadata says what it said, in the very same object.
    t.is(file.catalog['/Metadata'], before.catalog['/Metadata']);
    t.false(new RegExp(`(^|\\n)${String(before.catalog['/Metadata']).replace(' R', '')} obj`).test(update));
    t.deepEqual(file.catalog['/OutputIntents'], before.catalog['/OutputIntents']);
    t.deepEqual(file.catalog['/MarkInfo'], before.catalog['/MarkInfo']);
    t.deepEqual(file.catalog['/StructTreeRoot'], before.catalog['/StructTreeRoot']);
  });
}
