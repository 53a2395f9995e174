import test, { type ExecutionContext } from 'ava';
import { pki } from '../../../pki/pki.ts';
import { mutool, pdfsig, withTools } from '../../../verifiers/index.ts';
import { appendRevision, stream } from '../../pdf/build.ts';
import {
  bodyOf,
  CONTENT,
  contract,
  edited,
  FREE,
  factsOf,
  failedTypes,
  objections,
  reportOn,
  signed,
  verdicts,
} from './attack-files.ts';
import { put } from './verdicts.ts';
import { EVIL, signatureNumber, wrapped } from './wrapping.ts';

const toolTest = withTools(test, 'pdfsig', 'certutil', 'mutool');

const FAILED = 'TOTAL-FAILED FORMAT_FAILURE';

/** The signature dictionary written again in a revision that changes the page too. */
function forged(pdf: Buffer, from: string | RegExp, to: string): Buffer {
  return appendRevision(pdf, new Map([edited(pdf, signatureNumber(pdf), from, to), [CONTENT, EVIL]]));
}

const RANGE = /\/ByteRange *\[[^\]]*\] */;
const CONTENTS = /\/Contents *<[0-9a-f]*>/;

test('universal forgery: a signature with a missing, empty or malformed range covers nothing', (t) => {
  const pdf = signed(contract());
  const end = pdf.length;
  t.deepEqual(verdicts(pdf), ['TOTAL-PASSED']);
  for (const range of [
    '',
    '/ByteRange null',
    '/ByteRange []',
    '/ByteRange [0]',
    '/ByteRange [0 0 0 0]',
    '/ByteRange [0 1 2]',
    '/ByteRange [-1 0 5 5]',
    '/ByteRange [0 -10 5 5]',
    '/ByteRange [0 9999999 5 5]',
    '/ByteRange [1 100 200 300]',
    '/ByteRange [0.5 100 200 300]',
    `/ByteRange [0 ${end} ${end} 0]`,
    `/ByteRange [0 ${end - 10} ${end - 20} 20]`,
    '/ByteRange [0 100 200 300 400 500]',
    '/ByteRange [0 100 200 99999999999999999999]',
    '/ByteRange (0 100 200 300)',
    '/ByteRange 7 0 R',
  ]) {
    const bad = forged(pdf, RANGE, `${range} `);
    t.deepEqual(verdicts(bad), [FAILED], range);
    t.true(failedTypes(bad).includes('pdf.byte-range'), range);
  }
});

test('universal forgery: a signature with a missing or malformed value is not valid', (t) => {
  const pdf = signed(contract());
  for (const contents of [
    '',
    '/Contents null',
    '/Contents <>',
    '/Contents <0000>',
    '/Contents (x)',
    '/Contents 7 0 R',
    '/Contents <3>',
  ]) {
    const bad = forged(pdf, CONTENTS, contents);
    t.deepEqual(verdicts(bad), [FAILED], contents);
    t.true(
      failedTypes(bad).some((type) => type === 'pdf.contents' || type === 'pdf.byte-range'),
      contents,
    );
  }
  const zeros = Buffer.from(pdf);
  const from = pdf.indexOf('/Contents <') + 11;
  zeros.fill('0', from, pdf.indexOf('>', from), 'latin1');
  t.deepEqual(verdicts(zeros), [FAILED]);
});

test('universal forgery: unknown signature formats, and those with SHA-1, are not valid', (t) => {
  const pdf = signed(contract());
  for (const [name, verdict] of [
    ['ETSI.CAdES.detache#64', 'TOTAL-PASSED'],
    ['adbe.x509.rsa_sha1', FAILED],
    ['Adobe.PPKLite', FAILED],
  ] as const) {
    const [, body] = edited(pdf, signatureNumber(pdf), 'ETSI.CAdES.detached', name);
    t.true(body.includes(name));
    const bad = forged(pdf, 'ETSI.CAdES.detached', name);
    // After rewriting, it is not at the placeholder of its byte range, in any format.
    t.deepEqual(verdicts(bad), [FAILED], `${name} ${verdict}`);
  }
  const same = (name: string): Buffer => {
    const copy = Buffer.from(pdf);
    copy.write(name.padEnd(19), copy.indexOf('ETSI.CAdES.detached'), 'latin1');
    return copy;
  };
  t.true(failedTypes(same('adbe.x509.rsa_sha1')).includes('pdf.sub-filter'));
  // The older form holds a bare RSA value in an OCTET STRING.
  const bare = same('adbe.x509.rsa_sha1');
  const value = `04820100${'5a'.repeat(256)}`;
  const from = bare.indexOf('/Contents <') + 11;
  bare.fill('0', from, bare.indexOf('>', from), 'latin1').write(value, from, 'latin1');
  for (const weak of [same('adbe.pkcs7.sha1'), bare]) {
    const [signature] = reportOn(weak).signatures;
    t.is(signature?.indication, 'INDETERMINATE');
    t.is(signature?.subIndication, 'CRYPTO_CONSTRAINTS_FAILURE');
  }
});

test('range games: a range that leaves out more than the value, or other bytes than it, is refused', (t) => {
  const pdf = signed(contract());
  const [, a = 0, b = 0, c = 0] = (
    /\/ByteRange\[0 (\d+) (\d+) (\d+)\]/.exec(pdf.toString('latin1')) ?? []
  ).map(Number);
  for (const [first, second, rest] of [
    [a - 10, b, c],
    [a, b + 10, c - 10],
    [a + 1, b - 1, c],
    [a + 10, b, c],
    [a, b, c - 1],
    [a, b, c + 1],
    [b, b, c],
    [a, a, c],
  ]) {
    const copy = Buffer.from(pdf);
    const at = copy.indexOf('/ByteRange[');
    copy.write(
      `/ByteRange[0 ${first} ${second} ${rest}]`.padEnd(copy.indexOf(']', at) + 1 - at),
      at,
      'latin1',
    );
    const types = failedTypes(copy);
    t.true(
      types.includes('pdf.byte-range') || types.includes('pdf.revision') || rest === c - 1,
      `${first} ${second} ${rest}: ${types}`,
    );
    t.regex(verdicts(copy)[0] ?? '', /^TOTAL-FAILED/);
  }
});

test('a signature dictionary with a duplicate key is refused, in any spelling of the key', (t) => {
  const pdf = signed(contract());
  for (const more of [
    '/Contents <00>',
    '/Contents<00>',
    '/C#6fntents <00>',
    '/ByteRange [0 1 2 3]',
    '/SubFilter /X',
  ]) {
    const text = pdf.toString('latin1');
    const at = text.indexOf('>', text.lastIndexOf('/Contents <')) + 1;
    const bad = Buffer.from(`${text.slice(0, at)}${more}${text.slice(at)}`, 'latin1');
    t.true(failedTypes(bad).includes('pdf.byte-range'), more);
  }
});

test('two fields may not share one signature', (t) => {
  const pdf = signed(contract());
  const number = signatureNumber(pdf);
  const shared = appendRevision(
    pdf,
    new Map([
      edited(pdf, 4, '30 0 R', `30 0 R ${FREE} 0 R`),
      [FREE, `<< /FT /Sig /T (Again) /V ${number} 0 R >>`],
    ]),
  );
  t.deepEqual(verdicts(shared), [FAILED]);
  t.true(failedTypes(shared).includes('pdf.field'));
  t.regex(objections(shared).join('\n'), /put a signature that was there before into the new field Again/);
});

test('two dictionaries may not claim the same value and range', (t) => {
  const pdf = signed(contract());
  const copy = bodyOf(pdf, signatureNumber(pdf));
  const twice = appendRevision(
    pdf,
    new Map([
      edited(pdf, 4, '30 0 R', `30 0 R ${FREE} 0 R`),
      [FREE, `<< /FT /Sig /T (Again) /V ${FREE + 1} 0 R >>`],
      [FREE + 1, copy],
    ]),
  );
  const all = verdicts(twice);
  t.is(all.length, 2);
  // The copy is at another place than its range leaves out, and so no signature that the first one allows.
  t.deepEqual(all, [FAILED, FAILED]);
  t.regex(objections(twice, 1).join(), /it does not cover the revision it came with/);
});

/** Room between the value and the signed cross-reference, for the forger. */
const ROOMY = (): Buffer =>
  signed(
    contract((objects) => objects.set(60, stream('', 'x'.repeat(10)))),
    { reason: 'r'.repeat(2000) },
  );

toolTest(
  'signature wrapping: a second range behind the forged part is not accepted as the signed one',
  async (t) => {
    const pdf = ROOMY();
    t.deepEqual(verdicts(pdf), ['TOTAL-PASSED']);
    // Without a dictionary of the forger's own, the signed one goes on in his bytes and can't be read.
    t.is(reportOn(wrapped(pdf, false)).indication, 'TOTAL-FAILED');
    const bad = wrapped(pdf, true);
    t.deepEqual(verdicts(bad), [FAILED]);
    t.true(failedTypes(bad).includes('pdf.byte-range') && !failedTypes(bad).includes('pdf.structure'));
    const path = put(wrapped(pdf, true));
    t.log(
      `pdfsig: ${(await pdfsig(path, pki()))[0]?.signature}, mutool unchanged: ${(await mutool(path))[0]?.unchanged}`,
    );
  },
);

test('an unsigned file is reported as a file without a signature', (t: ExecutionContext) => {
  const facts = factsOf(contract());
  t.is(facts.signatures.length, 0);
  t.deepEqual(verdicts(contract()), ['none']);
  t.is(reportOn(contract()).indication, 'INDETERMINATE');
});
