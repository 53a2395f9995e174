import { appendFileSync, readFileSync } from 'node:fs';
import { validateFile } from '@sealwright/signatures';
import test from 'ava';
import { signatureSource, textEncoding } from '#crypto/cades/armor-reader.js';
import { signCades } from '#crypto/cades/sign.js';
import { ArmorWriter } from '#crypto/cades/signature-files.js';
import { openSource } from '#crypto/core/files.js';
import { pki } from '../../pki/pki.ts';
import { bytes, codeOf, file } from './cades-harness.ts';

function armored(content: Buffer, { width = 64, ending = '\n', label = 'PKCS7' } = {}): string {
  const lines = content.toString('base64').replace(new RegExp(`.{1,${width}}`, 'g'), `$&${ending}`);
  return `-----BEGIN ${label}-----${ending}${lines}-----END ${label}-----${ending}`;
}

function readAll(path: string): Buffer {
  const source = signatureSource(openSource(path));
  try {
    const whole = Buffer.concat([...source.chunks()].map((piece) => Buffer.from(piece)));
    if (whole.length !== source.size) throw new Error('the size is not the length');
    return whole;
  } finally {
    source.close();
  }
}

test('PEM of any line length, line end and usual label is read as the bytes inside', (t) => {
  for (const size of [1, 2, 3, 47, 48, 49, 1000, 70_000]) {
    const content = bytes(size);
    for (const form of [
      {},
      { width: 76 },
      { width: 61 },
      { ending: '\r\n' },
      { label: 'CMS' },
      { label: 'PKCS #7 SIGNED DATA' },
      { width: 1_000_000 },
    ]) {
      t.true(readAll(file(armored(content, form))).equals(content), `${size} ${JSON.stringify(form)}`);
    }
    t.true(readAll(file(`\n  ${armored(content)}\n\n`)).equals(content));
  }
});

test('the writer writes the same text for chunks of any size', (t) => {
  const content = bytes(10_007);
  for (const step of [1, 47, 48, 100, 4096]) {
    const writer = new ArmorWriter();
    const parts: Buffer[] = [];
    for (let at = 0; at < content.length; at += step)
      parts.push(writer.lines(content.subarray(at, at + step)));
    parts.push(writer.end());
    t.is(Buffer.concat(parts).toString('latin1'), armored(content), `in steps of ${step}`);
  }
});

test('a large PEM file is read at any position without decoding all of it', (t) => {
  const content = bytes(4_000_001);
  for (const form of [{}, { width: 76, ending: '\r\n' }]) {
    const source = signatureSource(openSource(file(armored(content, form))));
    t.is(source.size, content.length);
    for (const [from, length] of [
      [0, 10],
      [47, 2],
      [48, 48],
      [1_000_003, 200_000],
      [3_999_990, 100],
      [20_000_000, 5],
      [-5, 10],
    ] as const) {
      const start = Math.max(from, 0);
      t.true(source.read(from, length).equals(content.subarray(start, start + length)), `${from}+${length}`);
    }
    const pieces = Array.from(source.chunks(777, 3_000_000), (piece) => Buffer.from(piece));
    t.true(Buffer.concat(pieces).equals(content.subarray(777, 3_000_000)));
    source.close();
  }
});

test('large PEM with lines of different lengths, or characters that are not Base64, is refused', async (t) => {
  const text = armored(bytes(4_000_001));
  const spoilt = (change: (lines: string[]) => void) => {
    const lines = text.split('\n');
    change(lines);
    return file(lines.join('\n'));
  };
  const paths = [
    spoilt((lines) => lines.splice(1000, 1, (lines[1000] ?? '').slice(0, 60))),
    spoilt((lines) => lines.splice(1000, 1, `${lines[1000]}AAAA`)),
    spoilt((lines) => lines.splice(1000, 1, '*'.repeat(64))),
    spoilt((lines) => lines.splice(1000, 0, '')),
  ];
  for (const path of paths) t.is(await codeOf(() => readAll(path)), 'cms.malformed');
});

test('a file that begins like PEM but is not PEM is refused with a code', async (t) => {
  const good = armored(bytes(100));
  for (const text of [
    '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
    '-----BEGIN PKCS7-----\n',
    '-----BEGIN PKCS7-----\n-----END PKCS7-----',
    '-----BEGIN ',
    good.replace('AB', 'A*'),
    good.replace(/-----END.*/, ''),
    `${good}more`,
    good + good,
  ]) {
    const path = file(text);
    const code = await codeOf(() => readAll(path));
    t.true(
      code === 'cms.malformed' || (code === 'none' && text.length < 50),
      `${code}: ${text.slice(0, 40)}`,
    );
  }
  const plain = file(bytes(300));
  t.is(textEncoding(openSource(plain)), undefined);
  appendFileSync(plain, good);
  t.is(textEncoding(openSource(plain)), undefined);
});

test('what follows a signature in PEM is warned of, and a second signature leaves the file open', async (t) => {
  const output = file();
  const input = file(bytes(100));
  const signer = pki().signer('p-256');
  signCades({ format: 'Cades', input, output, signer, at: Date.now(), cades: { armor: 'pem' } });
  const pem = readFileSync(output, 'latin1');
  const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
  for (const [text, verdict, type] of [
    [pem, 'TOTAL-PASSED', undefined],
    [
      `${pem}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
      'TOTAL-PASSED',
      'structure.trailing',
    ],
    [`${pem}Sent by mail`, 'TOTAL-PASSED', 'structure.trailing'],
    [pem + pem, 'INDETERMINATE', 'file.unsupported'],
    [`${pem}-----BEGIN CMS-----\nAAAA`, 'INDETERMINATE', 'file.unsupported'],
  ] as const) {
    const report = await validateFile({ format: 'Cades', path: file(text), trust, at: Date.now() });
    t.is(report.indication, verdict);
    if (type !== undefined) t.true(JSON.stringify(report).includes(type), type);
  }
});

test('the report about unreadable text does not name the path, which is one of the server', async (t) => {
  const path = file('-----BEGIN PKCS7-----\n!!!!\n-----END PKCS7-----\n');
  const trust = { anchors: [], intermediates: [], revocation: 'none' } as const;
  const { results } = await validateFile({ format: 'Cades', path, trust, at: 0 });
  t.regex(results.errors[0]?.message ?? '', /it is not Base64/);
  t.false(JSON.stringify(results).includes(path));
});
