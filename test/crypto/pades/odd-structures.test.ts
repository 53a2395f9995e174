/** PDFs of odd structure that other signers sign: their signatures hold here and elsewhere. */
import ava from 'ava';
import { pki } from '../../pki/pki.ts';
import { mutool, pdfsig, withTools } from '../../verifiers/index.ts';
import { appendRevision, classicPdf, documentObjects, streamPdf } from '../pdf/build.ts';
import { CONTENT, signed, verdicts } from './validation/attack-files.ts';
import { put } from './validation/verdicts.ts';

const test = withTools(ava, 'pdfsig', 'mutool');

const PAGE = 10;
const PAGES = 2;

function pageInItsList(): Buffer {
  const objects = documentObjects();
  const page = objects.get(PAGE) ?? '';
  objects.delete(PAGE);
  objects.set(PAGES, `<< /Type /Pages /Count 1 /Kids [${page}] >>`);
  return classicPdf(objects);
}

function pageThatIsAStream(): Buffer {
  const objects = documentObjects();
  const page = objects.get(PAGE) ?? '';
  objects.set(PAGE, page.replace(/>>\s*$/, ' /Length 0 >>\nstream\n\nendstream'));
  return classicPdf(objects);
}

function indirectTrailerEntries(): Buffer {
  const objects = documentObjects();
  objects.set(50, '60');
  objects.set(51, '[<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]');
  const pdf = classicPdf(objects, { trailer: '/ID 51 0 R' }).toString('latin1');
  return Buffer.from(pdf.replace(/\/Size \d+/, '/Size 50 0 R'), 'latin1');
}

/** Readers decode such a stream without a look at its checksum. */
function wrongChecksum(): Buffer {
  const text = streamPdf(documentObjects({ form: 'indirect' })).toString('latin1');
  const end = text.indexOf('\nendstream', text.indexOf('/Type /ObjStm'));
  return Buffer.from(`${text.slice(0, end - 4)}\n\n\n\n${text.slice(end)}`, 'latin1');
}

/** The stream has an object number, and neither lists it nor counts it. */
const OWN_NUMBER = Math.max(...documentObjects().keys()) + 2;
const unlistedStream = (): Buffer => streamPdf(documentObjects(), { size: OWN_NUMBER });

test('no new object gets the number of a cross-reference stream that does not list itself', (t) => {
  const pdf = unlistedStream();
  t.true(pdf.includes(`\n${OWN_NUMBER} 0 obj`));
  const update = signed(pdf).toString('latin1', pdf.length);
  t.false(new RegExp(`(?:^|\\n)${OWN_NUMBER} 0 obj`).test(update));
});

for (const [what, pdf] of [
  ['a page that is a dictionary in the list of its parent', pageInItsList()],
  ['a page that is a stream', pageThatIsAStream()],
  ['entries of the trailer that are references', indirectTrailerEntries()],
  ['an object stream with a wrong checksum', wrongChecksum()],
  ['a cross-reference stream that does not list itself', unlistedStream()],
  ['null in the place of the encryption', classicPdf(documentObjects(), { trailer: '/Encrypt null' })],
  ['an encryption that was never written', classicPdf(documentObjects(), { trailer: '/Encrypt 999 0 R' })],
] as const) {
  test(`an unusual PDF is signed: ${what}`, async (t) => {
    const file = signed(pdf);
    t.deepEqual(file.subarray(0, pdf.length), pdf);
    t.deepEqual(verdicts(file), ['TOTAL-PASSED']);
    const changed = appendRevision(file, new Map([[CONTENT, '<< /Length 0 >>\nstream\n\nendstream']]));
    t.deepEqual(verdicts(changed), ['TOTAL-FAILED FORMAT_FAILURE']);
    const path = put(file);
    t.like((await pdfsig(path, pki()))[0], { signature: 'Signature is Valid.', coversWholeFile: true });
    t.true((await mutool(path))[0]?.unchanged);
  });
}
