import { readFileSync } from 'node:fs';
import ava from 'ava';
import { pki } from '../../../pki/pki.ts';
import { pdfsig, withTools } from '../../../verifiers/index.ts';
import { signVisibly } from '../../pades/appearance/appearance-pictures.ts';
import { inspect } from '../../pades/inspect.ts';
import { sign } from '../../pades/validation/verdicts.ts';
import { classicPdf, documentObjects } from '../build.ts';
import * as shapes from '../shapes.ts';
import { complaints, compose, pictures, put } from './pages-harness.ts';

const test = withTools(ava, 'qpdf', 'pdfsig', 'certutil', 'mutool');

const withField = () => put(classicPdf(documentObjects({ annots: 'indirect', form: 'indirect' })));

test('fields of one name become fields of several names, each with its own value and widget', async (t) => {
  const { path } = compose([{ path: withField() }, { path: withField() }, { path: withField() }]);
  const pdf = await inspect(path);
  t.deepEqual(
    pdf.fields.map(({ name }) => name),
    ['Signature1', 'Signature1_2', 'Signature1_3'],
  );
  for (const [index, { object }] of pdf.fields.entries()) {
    const field = pdf.dict(object);
    t.is(field['/V'], 'u:x');
    t.is(field['/P'], pdf.pages[index]);
    t.true(pdf.array(pdf.dict(pdf.pages[index])['/Annots']).includes(object));
  }
  t.is(await complaints(path), '');
});

test('nested fields keep their places and full names', async (t) => {
  const file = put(classicPdf(shapes.richForm()));
  const before = (await inspect(file)).fields.map(({ name, type }) => `${name} ${type}`);
  const after = await inspect(compose([{ path: withField() }, { path: file }]).path);
  t.true(before.length > 2);
  t.deepEqual(
    after.fields.slice(1).map(({ name, type }) => `${name} ${type}`),
    before,
  );
});

test('a field keeps the values that it inherits from its form', async (t) => {
  const bare = (size: number) => {
    const objects = documentObjects({
      annots: 'indirect',
      form: 'indirect',
      formText: '/Q 2 /DR << /Font << /F1 3 0 R >> >>',
    });
    objects.set(7, (objects.get(7) ?? '').replace('/DA (/F1 0 Tf)', ''));
    objects.set(4, (objects.get(4) ?? '').replace('/F1 0 Tf', `/F1 ${size} Tf`));
    return put(classicPdf(objects));
  };
  const pdf = await inspect(compose([{ path: bare(9) }, { path: bare(13) }]).path);
  t.deepEqual(
    pdf.fields.map(({ object }) => [pdf.dict(object)['/DA'], pdf.dict(object)['/Q']]),
    [
      ['u:/F1 9 Tf', 2],
      ['u:/F1 13 Tf', 2],
    ],
  );
  const resources = pdf.dict(pdf.dict(pdf.catalog['/AcroForm'])['/DR']);
  t.is(pdf.dict(pdf.dict(resources['/Font'])['/F1'])['/BaseFont'], '/Helvetica');
});

test('a visible signature becomes a picture, and no signature field remains', async (t) => {
  const plain = put(classicPdf(documentObjects()));
  const signed = signVisibly(plain, {
    page: 1,
    rectangle: { left: 20, bottom: 20, width: 120, height: 40 },
    lines: ['Signed by Ana'],
  }).output;
  t.is((await pdfsig(signed, pki())).length, 1);
  const { path } = compose([{ path: signed }, { path: plain }]);
  const pdf = await inspect(path);
  t.deepEqual(pdf.fields, []);
  t.is(pdf.catalog['/AcroForm'], undefined);
  t.deepEqual(await pdfsig(path, pki()), []);
  const [before] = await pictures(signed, 72);
  const [after] = await pictures(path, 72);
  t.is(after, before, 'it is still seen');
  t.not(after, (await pictures(plain, 72))[0]);
  t.false(readFileSync(path).toString('latin1').includes('/ByteRange'), 'the old value is not inside');
});

test('an invisible signature leaves nothing in the envelope', async (t) => {
  const { output } = sign(put(classicPdf(documentObjects())));
  const pdf = await inspect(compose([{ path: output }]).path);
  t.deepEqual(pdf.fields, []);
  t.deepEqual(pdf.array(pdf.dict(pdf.pages[0])['/Annots']), []);
});

test('other programs accept a signature on an envelope of files that were signed before', async (t) => {
  const once = sign(withField()).output;
  const { path } = compose([
    { path: once, outline: 'one' },
    { path: withField(), outline: 'two' },
  ]);
  const { output } = sign(path);
  const verdicts = await pdfsig(output, pki());
  t.deepEqual(
    verdicts.map(({ ok }) => ok),
    [true],
  );
  t.is(await complaints(output), '');
});
