import test from 'ava';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  appearance,
  contract,
  edited,
  FORM,
  FREE,
  objections,
  PAGE,
  signed,
  TEXT_FIELD,
  textField,
  verdicts,
} from './attack-files.ts';

const FAILED = ['TOTAL-FAILED FORMAT_FAILURE'];
const PASSED = ['TOTAL-PASSED'];

/** The first page draws with an object that is something else as well. */
const drawingWith = (
  kind: 'Font' | 'XObject',
  number: number,
  more: (objects: Map<number, string>) => void = () => {},
) =>
  contract((objects) => {
    const page = objects.get(PAGE) ?? '';
    objects.set(
      PAGE,
      page.replace(
        '/Font << /F1 3 0 R >>',
        kind === 'Font' ? `/Font ${number} 0 R` : `/XObject ${number} 0 R`,
      ),
    );
    more(objects);
  });

test('an object that is a field and a list of pictures may get text as a field, and no pictures', (t) => {
  const pdf = signed(drawingWith('XObject', TEXT_FIELD));
  t.deepEqual(verdicts(pdf), PASSED);
  const picture = [
    FREE,
    stream(
      '/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray',
      '0',
    ),
  ] as const;
  const look = [FREE + 1, appearance('BT /F1 9 Tf 2 2 Td (y) Tj ET')] as const;
  const filled = (value: string) =>
    appendRevision(pdf, new Map([[TEXT_FIELD, textField(value, FREE + 1)], look, picture]));
  t.deepEqual(verdicts(filled('(y)')), PASSED);
  t.deepEqual(verdicts(filled(`${FREE} 0 R`)), FAILED);
  t.deepEqual(verdicts(filled(`(y) /I ${FREE} 0 R`)), FAILED);
  t.deepEqual(verdicts(filled(`(y) /M << /Subtype /Image >>`)), FAILED);
  t.deepEqual(verdicts(filled(`(y) /RV ${FREE} 0 R`)), FAILED);
});

test('an object that is a signature field and a list of fonts may be signed, and gets no font', (t) => {
  const pdf = signed(drawingWith('Font', 30));
  t.deepEqual(verdicts(pdf), PASSED);
  const dict =
    '/Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached /ByteRange [0 1 2 3] /Contents <00>';
  for (const value of [
    `<< ${dict} /Subtype /Type1 /BaseFont /Symbol >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>',
    stream('/Type /Sig', ''),
    `<< ${dict} >>`,
  ]) {
    const bad = appendRevision(pdf, new Map([edited(pdf, 30, '/FT', `/V ${FREE} 0 R /FT`), [FREE, value]]));
    t.is(verdicts(bad).at(-1), FAILED[0], value);
    t.true(objections(bad, verdicts(bad).length - 1).length > 0, value);
  }
});

test('resources of the form may get new names, and no other values or kinds of entries', (t) => {
  const withResources = signed(
    contract((objects) =>
      objects.set(FORM, '<< /Fields [7 0 R 30 0 R] /DA (/F1 0 Tf) /DR << /Font << /F1 3 0 R >> >> >>'),
    ),
  );
  const resources = (text: string) =>
    verdicts(
      appendRevision(
        withResources,
        new Map([
          edited(withResources, FORM, '/Font << /F1 3 0 R >>', text),
          [FREE, '<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>'],
        ]),
      ),
    );
  t.deepEqual(resources(`/Font << /F1 3 0 R /F2 ${FREE} 0 R >>`), PASSED);
  t.deepEqual(resources(`/Font << /F1 3 0 R >> /XObject << >>`), PASSED);
  t.deepEqual(resources(`/Font << /F1 ${FREE} 0 R >>`), FAILED);
  t.deepEqual(resources(`/Font << /F2 ${FREE} 0 R >>`), FAILED);
  t.deepEqual(resources('/Font << /F1 3 0 R >> /Subtype /Type1'), FAILED);
  t.deepEqual(resources('/Font << /F1 3 0 R /F1 3 0 R >>'), FAILED);
});

test('a security store with any other entry is not permitted', (t) => {
  const pdf = signed(contract());
  const store = (body: string, certificate = stream('', 'der')) =>
    verdicts(
      appendRevision(
        pdf,
        new Map([edited(pdf, 1, '/Pages', `/DSS ${FREE} 0 R /Pages`), [FREE, body], [FREE + 1, certificate]]),
      ),
    );
  const certificates = `/Certs [${FREE + 1} 0 R]`;
  t.deepEqual(store(`<< /Type /DSS ${certificates} /VRI << /AB << /Cert [${FREE + 1} 0 R] >> >> >>`), PASSED);
  t.deepEqual(store(`<< /Type /DSS ${certificates} /Font << /F1 3 0 R >> >>`), FAILED);
  t.deepEqual(store(`<< /Type /DSS ${certificates} /OCSPs [10 0 R] >>`), FAILED);
  t.deepEqual(store(`<< /Type /DSS ${certificates} >>`, appearance('BT (900) Tj ET')), FAILED);
  t.deepEqual(store(`<< /Type /DSS ${certificates} /VRI << /AB << /A << /S /JavaScript >> >> >> >>`), FAILED);
  t.deepEqual(store(`[ ${FREE + 1} 0 R ]`), FAILED);
});

test('comments may be reworded where comments are permitted, and get no other targets', (t) => {
  const pdf = signed(contract(), { certification: 3 });
  const reworded = (from: string, to: string) =>
    verdicts(appendRevision(pdf, new Map([edited(pdf, 8, from, to), [FREE, appearance('')]])));
  t.deepEqual(reworded('(a \\) note)', '(another)'), PASSED);
  t.deepEqual(reworded('/F 4', '/F 4 /CA 0'), FAILED);
  t.deepEqual(reworded('/F 4', '/F 4 /A << /S /URI /URI (x) >>'), FAILED);
  t.deepEqual(reworded('/F 4', `/F 4 /T ${FREE} 0 R`), FAILED);
  t.deepEqual(reworded('/Subtype /Text', '/Subtype /Highlight'), FAILED);
});
