import { existsSync } from 'node:fs';
import test from 'ava';
import { CryptoError } from '#crypto/core/types.js';
import { signPades } from '#crypto/pades/sign.js';
import { pki } from '../../../pki/pki.ts';
import { appendRevision, classicPdf, documentObjects, streamPdf } from '../../pdf/build.ts';
import { encrypted } from '../../pdf/encrypt.ts';
import { fieldsBesideXfa, richForm, xfaOnly } from '../../pdf/shapes.ts';
import { freshPath, judge, put, sign } from '../validation/verdicts.ts';

/** Code and sentence a file is refused with; empty when it is signed. */
function refusalOf(bytes: Buffer, fieldName?: string): string {
  const output = freshPath('refused.pdf');
  const pades = fieldName === undefined ? {} : { fieldName };
  try {
    signPades({
      format: 'Pades',
      input: put(bytes),
      output,
      signer: pki().signer('p-256'),
      at: Date.now(),
      pades,
    });
    return '';
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    if (existsSync(output)) throw new Error('a refusal left its output');
    return `${error.code}: ${error.message}`;
  }
}

const without = (number: number, body: string) => classicPdf(new Map([...documentObjects(), [number, body]]));

function cutOff(): Buffer {
  const whole = appendRevision(classicPdf(documentObjects()), documentObjects({ text: 'second' }));
  return whole.subarray(0, whole.lastIndexOf('trailer') - 40);
}

const REFUSED: readonly (readonly [what: string, bytes: () => Buffer, refusal: RegExp])[] = [
  [
    'is a picture',
    () => Buffer.from('\x89PNG\r\n\x1a\n'.padEnd(3000, 'x'), 'latin1'),
    /^pdf.malformed: .*no PDF/,
  ],
  ['is empty', () => Buffer.alloc(0), /^input.empty: /],
  [
    'needs a password',
    () =>
      classicPdf(documentObjects(), {
        trailer: `/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}> >>`,
      }),
    /^pdf.encrypted: .*password/,
  ],
  [
    'is encrypted for certificates',
    () => classicPdf(documentObjects(), { trailer: '/Encrypt << /Filter /Adobe.PubSec /V 4 >>' }),
    /^pdf.encrypted: .*certificates/,
  ],
  ['has no pages', () => without(2, '<< /Type /Pages /Count 0 /Kids [] >>'), /^pdf.no-pages: /],
  ['is an XFA form alone', () => classicPdf(xfaOnly()), /^pdf.xfa-only: /],
  [
    'forbids changes by its permissions',
    () => classicPdf(documentObjects(), encrypted({ version: 2, permissions: -3904 })),
    /^pdf.change-forbidden: .*permissions/,
  ],
  ['has lost its end', cutOff, /^pdf.malformed: .*cut off/],
  [
    'has a catalogue without pages',
    () => without(1, '<< /Type /Catalog >>'),
    /^pdf.no-pages: .*names no pages/,
  ],
  ['has nothing but a header', () => Buffer.from('%PDF-1.7\n'.padEnd(500, '\n')), /^pdf.malformed: /],
];

test('each file that cannot be signed is refused with its own message', (t) => {
  const sentences = REFUSED.map(([what, bytes, refusal]) => {
    const said = refusalOf(bytes());
    t.regex(said, refusal, what);
    return said;
  });
  t.is(new Set(sentences).size, sentences.length, sentences.join('\n'));
});

test('a dynamic XFA form is refused, and one with pages is signed', (t) => {
  for (const build of [classicPdf, streamPdf]) {
    t.regex(refusalOf(build(fieldsBesideXfa(true))), /^pdf.xfa-only: /);
    t.is(refusalOf(build(fieldsBesideXfa())), '');
    t.is(refusalOf(build(documentObjects({ catalog: '/NeedsRendering true' }))), '');
  }
});

test('permission to fill in forms allows an existing field, and no new one', (t) => {
  const fillOnly = encrypted({ version: 2, permissions: -3904 | (1 << 8) });
  const pdf = classicPdf(richForm(), fillOnly);
  t.regex(refusalOf(pdf), /^pdf.change-forbidden: .*already/);
  t.is(refusalOf(pdf, 'approval'), '');
  t.regex(
    refusalOf(classicPdf(richForm(), encrypted({ version: 2, permissions: -3904 })), 'approval'),
    /forbid/,
  );
});

test('a document with encrypted attachments alone is signed without their password', (t) => {
  const crypt = '/CF << /StdCF << /CFM /AESV2 /AuthEvent /EFOpen >> >> /EFF /StdCF';
  const words = `/O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}>`;
  const trailer = (more: string) =>
    `/Encrypt << /Filter /Standard /V 4 /R 4 /Length 128 /P -4 ${crypt} ${words} ${more} >>`;
  t.true(judge(sign(put(classicPdf(documentObjects(), { trailer: trailer('') })))).ok);
  for (const more of ['/StmF /StdCF', '/StrF /StdCF']) {
    t.regex(refusalOf(classicPdf(documentObjects(), { trailer: trailer(more) })), /password/);
  }
});
