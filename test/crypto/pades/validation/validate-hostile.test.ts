import test from 'ava';
import { appendRevision, classicPdf, documentObjects, stream, streamPdf } from '../../pdf/build.ts';
import {
  appearance,
  bodyOf,
  CATALOG,
  contract,
  edited,
  FREE,
  factsOf,
  objections,
  PAGE,
  signed,
  TEXT_FIELD,
  textField,
  verdicts,
} from './attack-files.ts';

const PASSED = ['TOTAL-PASSED'];

/** Numbers that look random and are the same in every run. */
function* noise(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state >>> 8;
  }
}

test('changed bytes of a signed file with later revisions never pass and never stop the validation', (t) => {
  const pdf = appendRevision(
    signed(contract()),
    new Map([
      [TEXT_FIELD, textField('(y)', FREE)],
      [FREE, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')],
    ]),
  );
  t.deepEqual(verdicts(pdf), PASSED);
  const from = pdf.indexOf('/Contents <') + 11;
  const to = pdf.indexOf('>', from);
  const end = pdf.indexOf('%%EOF', to) + 6;
  const source = noise(11);
  for (let round = 0; round < 500; round++) {
    const bad = Buffer.from(pdf);
    let outside = false;
    for (let count = 1 + (source.next().value % 3); count > 0; count--) {
      const at = source.next().value % bad.length;
      const byte = source.next().value & 0xff;
      if (byte !== bad[at] && at < end && (at < from || at >= to)) outside = true;
      bad[at] = byte;
    }
    const [verdict] = verdicts(bad);
    if (outside) t.not(verdict, 'TOTAL-PASSED', `round ${round}`);
  }
});

test('a file cut at any byte never passes and never stops the validation', (t) => {
  const pdf = signed(streamPdf(documentObjects({ form: 'direct', annots: 'direct' })));
  t.deepEqual(verdicts(pdf), PASSED);
  for (let length = 0; length < pdf.length - 6; length += 41) {
    t.not(verdicts(pdf.subarray(0, length))[0], 'TOTAL-PASSED', `${length} bytes`);
  }
});

test('circular structures are compared in finite time', (t) => {
  const pdf = signed(
    contract((objects) => {
      objects.set(60, '<< /Next 61 0 R /Other 60 0 R >>');
      objects.set(61, '<< /Next 60 0 R /Page 10 0 R >>');
      objects.set(CATALOG, (objects.get(CATALOG) ?? '').replace('/Pages', '/Outlines 60 0 R /Pages'));
      objects.set(
        8,
        '<< /Type /Annot /Subtype /Text /Rect [1 1 9 9] /F 4 /Popup 8 0 R /Parent 8 0 R /IRT 62 0 R >>',
      );
      objects.set(62, '62 0 R');
    }),
  );
  const rewritten = appendRevision(pdf, new Map([[PAGE, bodyOf(pdf, PAGE)]]));
  t.deepEqual(verdicts(rewritten), PASSED);
  const changed = appendRevision(pdf, new Map([edited(pdf, 61, '/Next 60 0 R', '/Next 62 0 R')]));
  t.deepEqual(objections(changed).length, 1);
  t.regex(objections(changed)[0] ?? '', /changed \/Outlines in the catalogue \(object 61\)/);
});

test('thousands of objects, pages and end marks are compared in bounded time and memory', (t) => {
  const objects = documentObjects({ pages: 1500, form: 'indirect' });
  for (let number = 4000; number < 12_000; number++) objects.set(number, `<< /Next ${number + 1} 0 R >>`);
  objects.set(CATALOG, (objects.get(CATALOG) ?? '').replace('/Pages', '/Outlines 4000 0 R /Pages'));
  const pdf = signed(classicPdf(objects));
  let later = pdf;
  for (let round = 0; round < 5; round++) {
    later = appendRevision(later, new Map([[20_000, `<< /Producer (${round}) >>`]]), '/Info 20000 0 R');
  }
  const before = process.memoryUsage().rss;
  t.deepEqual(verdicts(later), PASSED);
  t.true(process.memoryUsage().rss - before < 300 << 20);
  const broken = appendRevision(later, new Map([[11_999, '<< /Next 1 0 R >>']]));
  t.regex(objections(broken).join('\n'), /revision 8 changed \/Outlines in the catalogue \(object 11999\)/);
});

test('thousands of end marks are refused or read in one pass', (t) => {
  const pdf = signed(contract());
  const start = /startxref\n\d+\n%%EOF\n$/.exec(pdf.toString('latin1'))?.[0] ?? '';
  const bad = Buffer.concat([pdf, Buffer.from(start.repeat(20_000), 'latin1')]);
  t.not(verdicts(bad)[0], 'TOTAL-PASSED');
});

test('a later revision may not close a stream that was open at the end of the signed bytes', (t) => {
  const pdf = signed(
    contract((objects) => {
      objects.set(60, '<< /Length 999999 >>\nstream\nq Q\nendstream');
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace('/Contents 11 0 R', '/Contents [11 0 R 60 0 R]'));
    }),
  );
  t.deepEqual(verdicts(pdf), PASSED);
  const later = appendRevision(pdf, new Map([[FREE, stream('', 'x'.repeat(100))]]));
  t.regex(objections(later).join('\n'), /supplies the end of a stream that was open/);
});

test('the work for many fields of one signature dictionary, and for many signatures, is bounded', (t) => {
  const objects = documentObjects({ form: 'indirect', fields: 'indirect' });
  const numbers = Array.from({ length: 600 }, (_, index) => 100 + 2 * index);
  objects.set(5, `[ ${numbers.map((number) => `${number} 0 R`).join(' ')} ]`);
  for (const number of numbers) {
    objects.set(number, `<< /FT /Sig /T (f${number}) /V ${number + 1} 0 R >>`);
    objects.set(number + 1, `<< /Type /Sig /ByteRange [0 1 2 3] /Contents <${'00'.repeat(20)}> >>`);
  }
  const facts = factsOf(classicPdf(objects));
  t.is(facts.signatures.length, 0);
  t.deepEqual(
    facts.findings.map(({ type }) => type),
    ['pdf.signatures'],
  );
});
