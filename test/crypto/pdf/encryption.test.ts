import { readFileSync, writeFileSync } from 'node:fs';
import test from 'ava';
import { CryptoError } from '#crypto/core/types.js';
import { rc4 } from '#crypto/pdf/encryption/crypt-method.js';
import {
  asString,
  assertSignable,
  asText,
  bufferSource,
  firstPage,
  type PdfDict,
  type PdfDocument,
  spliceDict,
  withPdf,
  writeRevision,
} from '#crypto/pdf/index.js';
import { readDict } from '#crypto/pdf/syntax/values.js';
import { runTool, withTools } from '../../verifiers/index.ts';
import {
  appendRevision,
  classicPdf,
  documentObjects,
  FILE_ID,
  hybridPdf,
  stream,
  streamPdf,
} from './build.ts';
import { corpusPath } from './corpus-recipe.ts';
import { type EncryptionShape, encrypted } from './encrypt.ts';

const toolTest = withTools(test, 'qpdf');

/** Text of one byte per character, as published with the cipher. */
const VECTORS = [
  ['Key', 'Plaintext', 'bbf316e8d940af0ad3'],
  ['Wiki', 'pedia', '1021bf0420'],
  ['Secret', 'Attack at dawn', '45a01f645fc35b383552544b9bf5'],
] as const;

test('RC4 matches the published vectors and decrypts its own output', (t) => {
  for (const [key, clear, expected] of VECTORS) {
    const sealed = rc4(Buffer.from(key), Buffer.from(clear));
    t.is(sealed.toString('hex'), expected);
    t.is(rc4(Buffer.from(key), sealed).toString(), clear);
    t.not(rc4(Buffer.from(`${key}.`), sealed).toString(), clear);
  }
});

const SECRET = 'clear (and) kept \\ here';
const DATA = 'The data of a stream.';

/** A document with a string in the page, one in an annotation, and data in two streams. */
function telling(): Map<number, string> {
  const objects = documentObjects({ annots: 'indirect' });
  const literal = `(${SECRET.replace(/[\\()]/g, '\\$&')})`;
  objects.set(10, (objects.get(10) ?? '').replace(/>>$/, `/PieceInfo << /M << /Private ${literal} >> >> >>`));
  objects.set(20, stream('', DATA));
  objects.set(22, stream('/Type /Metadata /Subtype /XML', DATA));
  objects.set(23, stream('/Type /EmbeddedFile', DATA));
  return objects.set(21, stream('/Filter /Crypt /DecodeParms << /Name /Identity >>', DATA));
}

const secretIn = (pdf: PdfDocument, page: PdfDict): string | undefined =>
  asText(pdf.dict(pdf.dict(page.get('PieceInfo'))?.get('M'))?.get('Private'));

const streamOf = (pdf: PdfDocument, number: number): string | undefined => {
  const bytes = Buffer.from(`${number} 0 R`);
  return pdf.stream({ bytes, at: -1, start: 0, end: bytes.length })?.toString('latin1');
};

const WAYS: Readonly<Record<string, EncryptionShape>> = {
  'RC4 of 40 bits': { version: 1 },
  'RC4 of 56 bits': { version: 2, length: 7 },
  'RC4 of 128 bits': { version: 2 },
  'RC4 behind a crypt filter': { version: 4 },
  'AES of 128 bits': { version: 4, strings: 'AESV2', streams: 'AESV2' },
  'AES with clear metadata': { version: 4, strings: 'AESV2', streams: 'AESV2', encryptMetadata: false },
  'AES for streams alone': { version: 4, strings: 'Identity', streams: 'AESV2' },
  'RC4 for strings alone': { version: 4, strings: 'V2', streams: 'Identity' },
};

for (const [name, shape] of Object.entries(WAYS)) {
  test(`strings and streams under ${name} are decrypted to their original bytes`, (t) => {
    for (const pdf of [
      classicPdf(telling(), encrypted(shape)),
      streamPdf(telling(), encrypted(shape)),
      hybridPdf(telling(), [8, 10], encrypted(shape)),
      classicPdf(telling(), { ...encrypted(shape), startxrefOff: 1e6 }),
      streamPdf(telling(), { ...encrypted(shape), startxrefOff: 1e6 }),
    ]) {
      withPdf(bufferSource(pdf), (read) => {
        const page = firstPage(read).dict;
        t.is(secretIn(read, page), SECRET);
        const copy = spliceDict(page, new Map([['Rotate', '90']]));
        t.is(
          secretIn(read, readDict(Buffer.from(copy, 'latin1'), -1, 0)),
          SECRET,
          'a copy of the text is clear',
        );
        for (const number of [20, 21, 22, 23]) t.is(streamOf(read, number), DATA, `stream ${number}`);
      });
    }
  });

  toolTest(`new objects under ${name} are encrypted, and qpdf reads them`, async (t) => {
    for (const build of [classicPdf, streamPdf]) {
      const pdf = build(telling(), encrypted(shape));
      const revision = withPdf(bufferSource(pdf), (read) => {
        const page = firstPage(read);
        const original = { xref: read.xref, size: pdf.length, lastByte: 0x0a, seed: 'a' };
        return writeRevision(original, [
          { ...page.reference, body: spliceDict(page.dict, new Map([['Rotate', '90']])) },
          { number: 60, generation: 0, body: '<< /New (added \\051) /In [ <6869> << /Deep () >> ] >>' },
          { number: 61, generation: 0, body: stream('/New (beside)', DATA) },
          { number: 62, generation: 0, body: '<< /ByteRange [0 1] /Contents <00112233> /M (later) >>' },
        ]);
      });
      const whole = Buffer.concat([pdf, revision.bytes]);
      t.is(revision.bytes.includes('added'), shape.strings === 'Identity');
      t.is(revision.bytes.includes(DATA), shape.streams === 'Identity');
      t.true(revision.bytes.includes('/Contents <00112233>'), 'the value of a signature stays as it is');
      withPdf(bufferSource(whole), (read) => {
        t.is(secretIn(read, firstPage(read).dict), SECRET);
        t.is(streamOf(read, 61), DATA);
        const value = read.dict(read.object(62));
        t.is(asString(value?.get('Contents'))?.toString('hex'), '00112233');
        t.is(asText(value?.get('M')), 'later');
      });
      const path = corpusPath('revision.pdf');
      writeFileSync(path, whole);
      const { stdout, stderr } = await runTool('qpdf', ['--json', '--json-stream-data=inline', path]);
      t.is(stderr, '');
      for (const text of ['"u:added )"', '"u:hi"', '"u:beside"', '"u:later"', '"/Deep": "u:"']) {
        t.true(stdout.includes(text), text);
      }
      t.true(stdout.includes(`"u:${SECRET.replace('\\', '\\\\')}"`));
      t.true(stdout.includes(Buffer.from(DATA).toString('base64')));
    }
  });
}

/** A document through qpdf's encryption. */
async function byQpdf(...options: readonly string[]): Promise<Buffer> {
  const input = corpusPath('in.pdf');
  const output = corpusPath('out.pdf');
  writeFileSync(input, classicPdf(telling()));
  const { exit, stderr } = await runTool('qpdf', ['--allow-weak-crypto', ...options, '--', input, output]);
  if (exit !== 0) throw new Error(stderr);
  return readFileSync(output);
}

function refusal(pdf: Buffer, field: 'new' | 'empty' = 'new'): string {
  try {
    withPdf(bufferSource(pdf), (read) => {
      assertSignable(read, field);
      firstPage(read);
    });
    return '';
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

toolTest('a PDF with a 256-bit key is read, also when only the owner has an empty password', async (t) => {
  for (const options of [
    ['--encrypt', '', 'owner', '256'],
    ['--encrypt', '', 'owner', '256', '--force-R5'],
    ['--object-streams=generate', '--encrypt', '', 'owner', '256', '--cleartext-metadata'],
    ['--encrypt', 'user', '', '256', '--modify=none', '--allow-insecure'],
  ]) {
    const pdf = await byQpdf(...options);
    withPdf(bufferSource(pdf), (read) => {
      t.is(secretIn(read, firstPage(read).dict), SECRET);
      assertSignable(read, 'new');
    });
  }
});

toolTest('a PDF that needs a password is refused with a message about it, in any encryption', async (t) => {
  for (const options of [
    ['40'],
    ['128', '--use-aes=n'],
    ['128', '--use-aes=y'],
    ['256'],
    ['256', '--force-R5'],
  ]) {
    t.regex(refusal(await byQpdf('--encrypt', 'user', 'owner', ...options)), /^pdf.encrypted: .*password/);
    t.is(refusal(await byQpdf('--encrypt', '', 'owner', ...options)), '');
  }
});

toolTest('permissions for new and existing fields follow table 22', async (t) => {
  for (const [modify, forNew, forEmpty] of [
    ['all', true, true],
    ['annotate', false, true],
    ['form', false, true],
    ['assembly', false, false],
    ['none', false, false],
  ] as const) {
    for (const bits of ['128', '256']) {
      const pdf = await byQpdf('--encrypt', '', 'owner', bits, `--modify=${modify}`);
      t.is(refusal(pdf, 'new') === '', forNew, modify);
      t.is(refusal(pdf, 'empty') === '', forEmpty, modify);
      if (!forNew) t.regex(refusal(pdf, 'new'), /^pdf.change-forbidden: .*permissions/);
    }
  }
  t.is(refusal(classicPdf(telling(), encrypted({ version: 1, permissions: -4 & ~8 }))), '');
  t.regex(refusal(classicPdf(telling(), encrypted({ version: 1, permissions: -4 & ~32 }))), /permissions/);
});

toolTest('permissions that contradict the encrypted copy are refused', async (t) => {
  const pdf = await byQpdf('--encrypt', '', 'owner', '256', '--modify=none');
  const widened = pdf.toString('latin1').replace(/\/P -\d+/, (all) => '/P -4'.padEnd(all.length));
  t.regex(refusal(Buffer.from(widened, 'latin1')), /permissions/);
});

test('a revision that leaves out the encryption of those before it gets no further one', (t) => {
  const update = (pdf: Buffer) =>
    withPdf(bufferSource(pdf), ({ xref }) =>
      writeRevision({ xref, size: pdf.length, lastByte: 0x0a, seed: 'a' }, [
        { number: 60, generation: 0, body: 'null' },
      ]),
    );
  const pdf = classicPdf(telling(), encrypted({ version: 2 }));
  const dictionary = /\/Encrypt (\d+ 0 R|<<.*?>>)/s.exec(pdf.toString('latin1'))?.[0] ?? 'none';
  t.notThrows(() =>
    update(appendRevision(pdf, new Map([[61, 'null']]), `${dictionary} /ID [<${FILE_ID}> <${FILE_ID}>]`)),
  );
  for (const trailer of ['', '/Encrypt null', '/Encrypt 199 0 R'])
    t.throws(
      () => update(appendRevision(pdf, new Map([[61, 'null']]), trailer)),
      { code: 'pdf.malformed' },
      trailer,
    );
});

test('each unsupported encryption is refused with its own message', (t) => {
  const refusals = [
    '/Filter /Adobe.PubSec /SubFilter /adbe.pkcs7.s5 /V 4',
    '/Filter /Acme.Lock /V 1',
    '/V 1',
    '/Filter /Standard /V 3 /R 3',
    '/Filter /Standard /V 5 /R 4',
    '/Filter /Standard /V 2 /R 3 /O (x) /U (y)',
  ].map((dict) => refusal(classicPdf(telling(), { trailer: `/Encrypt << ${dict} >>` })));
  t.true(refusals.every((text) => text.startsWith('pdf.encrypted: ')));
  t.is(new Set(refusals).size, refusals.length);
});

test('flipped bytes in an encrypted PDF lead to a refusal with a code or a readable document', (t) => {
  let state = 5;
  const random = (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % limit;
  };
  const number = 40;
  for (const build of [classicPdf, streamPdf]) {
    const pdf = build(
      new Map([...telling(), [number, 'null']]),
      encrypted({ version: 4, strings: 'AESV2', streams: 'AESV2', number }),
    );
    for (let round = 0; round < 400; round++) {
      const bad = Buffer.from(pdf);
      for (let count = 1 + random(4); count > 0; count--) bad[random(bad.length)] = random(256);
      t.regex(refusal(bad), /^(pdf\..*)?$/);
    }
  }
});
