import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { requireTool, runTool } from '../../verifiers/index.ts';
import { cook } from '../pdf/corpus.ts';
import { ARCHIVE_PARTS, ARCHIVES } from '../pdf/corpus-documents.ts';
import { promiseForEach } from './corpus-verdicts.ts';
import { put, sign } from './verdicts.ts';

promiseForEach(ARCHIVES);

interface QpdfFile {
  readonly objects: Readonly<Record<string, { readonly value?: unknown; readonly stream?: QpdfStream }>>;
}

interface QpdfStream {
  readonly dict: Readonly<Record<string, unknown>>;
}

type Dict = Readonly<Record<string, unknown>>;

async function read(path: string): Promise<QpdfFile> {
  const { stdout } = await runTool('qpdf', ['--json', '--json-stream-data=none', path]);
  const { qpdf } = JSON.parse(stdout) as { readonly qpdf: readonly [unknown, QpdfFile['objects']] };
  return { objects: qpdf[1] };
}

const at = ({ objects }: QpdfFile, reference: unknown): Dict =>
  (typeof reference === 'string' ? (objects[`obj:${reference}`]?.value ?? {}) : (reference ?? {})) as Dict;

const trailerOf = ({ objects }: QpdfFile): Dict => (objects['trailer']?.value ?? {}) as Dict;

const catalogOf = (file: QpdfFile): Dict => at(file, trailerOf(file)['/Root']);

/** Each rule of ISO 19005 that adding a signature could break; clauses of part 1, then of parts 2 and 3. */
function assertStillArchive(
  t: ExecutionContext,
  part: 1 | 2 | 3,
  bytes: Buffer,
  update: string,
  file: QpdfFile,
): void {
  // 6.1.3: an identifier, no encryption, and nothing but one line end after the last %%EOF.
  const trailer = trailerOf(file);
  t.is((trailer['/ID'] as readonly unknown[]).length, 2);
  t.false('/Encrypt' in trailer);
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
  const form = at(file, catalogOf(file)['/AcroForm']);
  const fields = (
    typeof form['/Fields'] === 'string' ? at(file, form['/Fields']) : form['/Fields']
  ) as readonly string[];
  const widget = at(file, fields.at(-1));
  t.is(widget['/FT'], '/Sig');
  t.is(widget['/Subtype'], '/Widget');
  const flags = Number(widget['/F']);
  t.is(flags & 4, 4, 'Print');
  t.is(flags & (1 | 2 | 32 | 256), 0, 'not Invisible, Hidden, NoView, ToggleNoView');
  t.deepEqual(Object.keys(widget['/AP'] as Dict), ['/N']);
  // 6.6.1 and 6.6.2 (6.5): no actions. 6.9 (6.4.1): appearances are not made anew.
  t.false('/A' in widget || '/AA' in widget);
  t.not(form['/NeedAppearances'], true);
  // 6.4 of part 1: no transparency; 6.2.3: no colour, and so none without a profile.
  const appearance = file.objects[`obj:${(widget['/AP'] as Dict)['/N'] as string}`]?.stream?.dict ?? {};
  t.is(appearance['/Subtype'], '/Form');
  for (const key of ['/Group', '/SMask', '/PS', '/OPI', '/Ref']) t.false(key in appearance, key);
  // 6.4.3 of parts 2 and 3: a signature over the whole file, in a form of ISO 32000-1.
  const signature = at(file, widget['/V']);
  const range = signature['/ByteRange'] as readonly number[];
  t.is((range[2] ?? 0) + (range[3] ?? 0), bytes.length);
}

for (const { part, recipe } of ARCHIVE_PARTS) {
  test(`a PDF ${recipe.name} still keeps the rules of ISO 19005 when it is signed`, async (t) => {
    if (!requireTool(t, 'qpdf', ...(recipe.tools ?? []))) return;
    const { bytes } = await cook(recipe);
    const signed = sign(put(bytes));
    const after = readFileSync(signed.output);
    const update = after.toString('latin1', bytes.length);
    const [before, file] = [await read(signed.input), await read(signed.output)];
    assertStillArchive(t, part, after, update, file);
    // 6.7 (6.6): the metadata says what it said, in the very same object.
    t.is(catalogOf(file)['/Metadata'], catalogOf(before)['/Metadata']);
    t.false(
      new RegExp(`(^|\\n)${String(catalogOf(before)['/Metadata']).replace(' R', '')} obj`).test(update),
    );
    t.deepEqual(catalogOf(file)['/OutputIntents'], catalogOf(before)['/OutputIntents']);
    t.deepEqual(catalogOf(file)['/MarkInfo'], catalogOf(before)['/MarkInfo']);
    t.deepEqual(catalogOf(file)['/StructTreeRoot'], catalogOf(before)['/StructTreeRoot']);
  });
}
