/** Signatures whose field the form does not list, or no longer does: each is judged, and none is passed over in silence. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { buildSignedData } from '#crypto/cms/build.js';
import { countPdfSignatures } from '#crypto/pades/fields/signatures.js';
import { preparePades } from '#crypto/pades/sign.js';
import { bufferSource } from '#crypto/pdf/index.js';
import { composePdf } from '#crypto/pdf/pages/compose.js';
import { pki } from '../../pki/pki.ts';
import { pdfsig, withTools } from '../../verifiers/index.ts';
import { appendRevision, classicPdf, documentObjects, hybridPdf, stream } from '../pdf/build.ts';
import {
  CATALOG,
  CONTENT,
  contract,
  EMPTY_FIELD,
  edited,
  FORM,
  FREE,
  objections,
  PAGE,
  reportOn,
  signed,
  verdicts,
} from './validation/attack-files.ts';
import { freshPath, put } from './validation/verdicts.ts';

const toolTest = withTools(test, 'pdfsig');

const PASSED = 'TOTAL-PASSED';
const FAILED = 'TOTAL-FAILED FORMAT_FAILURE';
const PLACE = { page: 1, left: 10, top: 10, width: 80, height: 30 };

function warnings(pdf: Buffer, index = 0): readonly string[] {
  return reportOn(pdf).signatures[index]?.results.warnings.map(({ type }) => type) ?? [];
}

const updated = (pdf: Buffer, ...objects: readonly (readonly [number, string])[]): Buffer =>
  appendRevision(pdf, new Map(objects));

/** Signs as programs that write the widget of the signature onto the page and leave it out of the form. */
function signedOffForm(pdf: Buffer): Buffer {
  const options = { signer: pki().signer('rsa-2048'), digest: 'sha256', at: Date.now() } as const;
  const form = { fieldName: 'Aside', appearance: { place: PLACE, lines: ['Ana'] } };
  const prepared = preparePades(bufferSource(pdf), { ...options, form });
  const { update, placeholderStart, placeholderEnd } = prepared;
  const text = update.toString('latin1');
  const number = /\n(\d+) 0 obj\n<<\/FT\/Sig/.exec(text)?.[1] ?? '';
  const entry = new RegExp(`(/Fields *\\[[^\\]]*?)( ?${number} 0 R)`).exec(text);
  const at = (entry?.index ?? Number.NaN) + (entry?.[1]?.length ?? 0);
  update.fill(' ', at, at + (entry?.[2]?.length ?? 0));
  const digest = createHash('sha256').update(pdf).update(update.subarray(0, placeholderStart));
  const messageDigest = digest.update(update.subarray(placeholderEnd)).digest();
  update.write(
    buildSignedData({ ...options, messageDigest }).toString('hex'),
    placeholderStart + 1,
    'latin1',
  );
  return Buffer.concat([pdf, update]);
}

toolTest('a signature whose field stands on its page only is judged, with a warning', async (t) => {
  for (const [what, original] of [
    ['no form', classicPdf(documentObjects())],
    ['a form with another field', contract()],
  ] as const) {
    const pdf = signedOffForm(original);
    t.deepEqual(verdicts(pdf), [PASSED], what);
    t.deepEqual(warnings(pdf), ['pdf.field'], what);
    t.is(countPdfSignatures(put(pdf)), 1, what);
    t.deepEqual(verdicts(updated(pdf, [CONTENT, stream('', 'BT ET')])), [FAILED], what);
    t.is((await pdfsig(put(pdf), pki()))[0]?.signature, 'Signature is Valid.', what);
  }
});

test('a document whose signature stands on its page only takes no stamps, and gets no second field of its name', (t) => {
  const pdf = signedOffForm(contract());
  t.throws(() => signed(pdf, { fieldName: 'Aside', appearance: { place: PLACE, lines: ['Bo'] } }), {
    message: /"Aside" is signed already/,
  });
  t.throws(() => signed(pdf, { certification: 2 }), { code: 'pdf.change-forbidden' });
  const stamps = [{ place: PLACE, lines: ['initials'] }];
  const twice = signed(pdf, { content: { fields: [], stamps } });
  t.deepEqual(verdicts(twice), [PASSED, PASSED]);
});

test('a signature beside the form may follow another one, and may show nothing that was there before', (t) => {
  const pdf = signedOffForm(signed(contract()));
  t.deepEqual(verdicts(pdf), [PASSED, PASSED]);
  t.true(warnings(pdf).includes('pdf.covering'));
  const first = signed(contract());
  const value = /\/V (\d+ 0 R)/.exec(first.toString('latin1', contract().length))?.[1];
  const repeated = `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Again) /V ${value} /Rect [0 0 90 90] /P ${PAGE} 0 R >>`;
  const onPage = (more: Buffer): readonly [number, string] =>
    edited(more, PAGE, /(\/Annots *\[[^\]]*)\]/, `$1 ${FREE} 0 R]`);
  t.deepEqual(verdicts(updated(first, onPage(first), [FREE, repeated])), [FAILED]);
});

test('a signature whose field names other parents than those that list it passes with a warning', (t) => {
  const parent = (name: string): string => `<< /T (${name}) /Kids [${EMPTY_FIELD} 0 R] >>`;
  const field = (own: number) => (objects: Map<number, string>) => {
    objects.set(FORM, `<< /Fields [7 0 R ${FREE} 0 R ${FREE + 1} 0 R] /DA (/F1 0 Tf) >>`);
    objects.set(FREE, parent('Bids'));
    objects.set(FREE + 1, parent('Bills'));
    objects.set(EMPTY_FIELD, (objects.get(EMPTY_FIELD) ?? '').replace('<<', `<< /Parent ${own} 0 R`));
  };
  for (const [own, expected] of [
    [FREE, []],
    [FREE + 1, ['pdf.field']],
  ] as const) {
    const pdf = signed(contract(field(own)), { fieldName: 'Bids.Approval' });
    t.deepEqual(verdicts(pdf), [PASSED]);
    t.deepEqual(warnings(pdf), expected);
  }
});

test('a later signer may leave an earlier signature out of the form, and may not change what it shows', (t) => {
  const once = signed(contract(), { fieldName: 'First' });
  const field = /\/Fields *\[7 0 R 30 0 R (\d+) 0 R\]/.exec(once.toString('latin1'))?.[1] ?? '';
  const unlisted = edited(once, FORM, ` ${field} 0 R]`, ']');
  const twice = signed(updated(once, unlisted), { fieldName: 'Second' });
  t.deepEqual(verdicts(twice), [PASSED, PASSED]);
  t.deepEqual(warnings(twice), ['pdf.field', 'pdf.field']);
  t.deepEqual(warnings(twice, 1), []);
  const content = [CONTENT, stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET')] as const;
  const changed = signed(updated(once, unlisted, content), { fieldName: 'Second' });
  t.deepEqual(verdicts(changed), [FAILED, PASSED]);
  const other = edited(once, Number(field), '/Rect', '/Rect[0 0 9 9]/Old');
  t.deepEqual(verdicts(signed(updated(once, unlisted, other))), [FAILED, PASSED]);
  const locked = signed(contract(), { certification: 1, fieldName: 'First' });
  t.deepEqual(verdicts(updated(locked, edited(locked, FORM, ` ${field} 0 R]`, ']'))), [FAILED]);
});

test('a signature that was taken out of form and page is named beside the one that stays', (t) => {
  const once = signed(contract(), { fieldName: 'First' });
  const field = /\/Fields *\[7 0 R 30 0 R (\d+) 0 R\]/.exec(once.toString('latin1'))?.[1] ?? '';
  const gone = updated(
    once,
    edited(once, FORM, ` ${field} 0 R]`, ']'),
    edited(once, PAGE, ` ${field} 0 R]`, ']'),
    [CONTENT, stream('', 'BT /F1 12 Tf 20 100 Td (Pay 900) Tj ET')],
  );
  const types = (pdf: Buffer) => reportOn(pdf).results.warnings.map(({ type }) => type);
  t.deepEqual(verdicts(gone), ['none']);
  t.true(types(gone).includes('pdf.removed-signature'));
  const again = signed(gone, { fieldName: 'Second' });
  t.deepEqual(verdicts(again), [PASSED]);
  t.true(types(again).includes('pdf.removed-signature'));
  t.false(types(signed(once)).includes('pdf.removed-signature'));
});

test('a print version has no signature that stands on a page only', (t) => {
  const objects = documentObjects();
  const direct =
    '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Direct) /V << /Type /Sig >> /Rect [0 0 0 0] >>';
  objects.set(PAGE, (objects.get(PAGE) ?? '').replace('/Contents', `/Annots [${direct}] /Contents`));
  const visible = signedOffForm(classicPdf(documentObjects()));
  for (const [pdf, subtype] of [
    [visible, '/Stamp'],
    [classicPdf(objects), undefined],
  ] as const) {
    const output = freshPath('print.pdf');
    composePdf({ output, parts: [{ path: put(pdf) }], title: 'Print', at: 0 });
    const text = readFileSync(output, 'latin1');
    t.false(/\/FT *\/Sig|\/Type *\/Sig\b/.test(text));
    t.is(/\/Stamp/.exec(text)?.[0], subtype);
  }
});

/** Appends a revision of a table and, beside it, the cross-reference stream of the same revision, as one known library does. */
function withBoth(
  pdf: Buffer,
  entry: (number: number, offset: number) => readonly [number, number],
  keys = '',
): Buffer {
  const text = pdf.toString('latin1');
  const previous = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1]);
  const note = `${FREE} 0 obj\n(note)\nendobj\n`;
  const at = pdf.length + note.length;
  const [number, offset] = entry(FREE, pdf.length);
  const row = Buffer.alloc(6);
  row.writeUInt8(1, 0);
  row.writeUInt32BE(offset, 1);
  const trailer = `/Size ${FREE + 2} /Root ${CATALOG} 0 R`;
  const body = stream(
    `/Type /XRef ${trailer} /Prev ${previous} /Index [${number} 1] /W [1 4 1] ${keys}`,
    row.toString('latin1'),
  );
  const xref = at + `${FREE + 1} 0 obj\n${body}\nendobj\n`.length;
  const line = (place: number) => `${String(place).padStart(10, '0')} 00000 n \n`;
  const table = `xref\n${FREE} 2\n${line(pdf.length)}${line(at)}trailer\n<< ${trailer} /Prev ${previous} >>\n`;
  const revision = `${note}${FREE + 1} 0 obj\n${body}\nendobj\n${table}startxref\n${xref}\n%%EOF\n`;
  return Buffer.concat([pdf, Buffer.from(revision, 'latin1')]);
}

test('a second cross-reference passes beside the one in use if it leads to the same objects', (t) => {
  const objects = documentObjects();
  const pdf = signed(hybridPdf(objects, []));
  const same = withBoth(pdf, (number, offset) => [number, offset]);
  t.deepEqual(objections(same), []);
  t.deepEqual(verdicts(same), [PASSED]);
  const older = pdf.toString('latin1').indexOf(`\n${CONTENT} 0 obj`) + 1;
  for (const [what, forged] of [
    ['another place of an object', withBoth(pdf, (number) => [number, older])],
    ['another number', withBoth(pdf, (_number, offset) => [CONTENT, offset])],
    ['another root', withBoth(pdf, (number, offset) => [number, offset], `/Root ${FREE} 0 R`)],
    ['a further section', withBoth(pdf, (number, offset) => [number, offset], '/XRefStm 9')],
  ] as const)
    t.deepEqual(verdicts(forged), [FAILED], what);
});
