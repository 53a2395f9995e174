import { existsSync, readFileSync } from 'node:fs';
import test from 'ava';
import type { CryptoError } from '#crypto/core/types.js';
import { signPades } from '#crypto/pades/sign.js';
import { pki } from '../../../pki/pki.ts';
import { classicPdf, documentObjects } from '../../pdf/build.ts';
import { freshPath, judge, put, sign } from './verdicts.ts';

/** A document whose author certified it with a permission; the value of that signature plays no part. */
function certified(permission: string): Buffer {
  const objects = documentObjects({ form: 'direct', catalog: '/Perms << /DocMDP 40 0 R >>' });
  const parameters = `/TransformParams << /Type /TransformParams /V /1.2 ${permission} >>`;
  objects.set(
    40,
    `<< /Type /Sig /Filter /Adobe.PPKLite /Reference [ << /TransformMethod /DocMDP ${parameters} >> ] >>`,
  );
  return classicPdf(objects);
}

function codeOf(input: string): string | undefined {
  const output = freshPath('out.pdf');
  const error = (() => {
    try {
      signPades({ format: 'Pades', input, output, signer: pki().signer('rsa-2048'), at: Date.now() });
      return undefined;
    } catch (caught) {
      return caught as CryptoError;
    }
  })();
  if (error !== undefined && existsSync(output)) throw new Error('a failed signing left its output');
  return error?.code;
}

test('a certification that allows no changes forbids signing', (t) => {
  // One that is no permission allows nothing, as validation reads it.
  for (const level of ['/P 1', '/P 0', '/P (2)'])
    t.is(codeOf(put(certified(level))), 'pdf.change-forbidden', level);
});

test('a certification that allows filling in forms allows signing', (t) => {
  for (const permission of ['/P 2', '/P 3', '']) t.true(judge(sign(put(certified(permission)))).ok);
});

test('a signature whose field locked the document forbids signing', (t) => {
  for (const [lock, code] of [
    ['/Lock << /Type /SigFieldLock /Action /All /P 1 >>', 'pdf.change-forbidden'],
    ['/Lock << /Type /SigFieldLock /Action /All /P 0 >>', 'pdf.change-forbidden'],
    ['/Lock << /Type /SigFieldLock /Action /All /P 2 >>', undefined],
    ['', undefined],
  ] as const) {
    const objects = documentObjects({ form: 'indirect', fields: 'indirect', formText: '/SigFlags 3' });
    objects.set(7, `<< /FT /Sig /T (Approval) /V 40 0 R ${lock} >>`);
    objects.set(40, '<< /Type /Sig /SubFilter /ETSI.RFC3161 >>');
    t.is(codeOf(put(classicPdf(objects))), code);
  }
});

test('an encrypted PDF is refused with its own code', (t) => {
  const objects = documentObjects();
  objects.set(40, '<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O (x) /U (y) >>');
  t.is(codeOf(put(classicPdf(objects, { trailer: '/Encrypt 40 0 R' }))), 'pdf.encrypted');
  t.is(codeOf(put(classicPdf(objects, { trailer: '/Encrypt 40 0 R', startxrefOff: 1e6 }))), 'pdf.encrypted');
});

test('a PDF without pages is refused with its own code', (t) => {
  for (const pages of [
    '<< /Type /Pages /Count 0 /Kids [] >>',
    'null',
    '<< /Type /Pages /Kids [2 0 R 99 0 R] >>',
  ]) {
    const objects = documentObjects();
    objects.set(2, pages);
    t.is(codeOf(put(classicPdf(objects))), 'pdf.no-pages', pages);
  }
});

test('the new field has a unique name', (t) => {
  const objects = documentObjects({ form: 'direct' });
  const names = ['(Signature1)', '<5369676E617475726532>', '<FEFF005300690067006E006100740075007200650033>'];
  objects.set(1, (objects.get(1) ?? '').replace('[7 0 R]', '[40 0 R 41 0 R 42 0 R]'));
  for (const [index, name] of names.entries()) objects.set(40 + index, `<< /FT /Tx /T ${name} >>`);
  const signed = sign(put(classicPdf(objects)));
  const report = judge(signed);
  t.true(report.ok);
  t.is(report.signatures, 1);
  t.regex(readFileSync(signed.output, 'latin1'), /\/T\(Signature4\)/);
});
