/**
 * Forged PDFs, made here from scratch, and what validation says of them. Beside each forger stands what honest
 * programs do, so that a test of the one is a test of the other.
 */
import { readFileSync } from 'node:fs';
import { openSource } from '#crypto/core/files.js';
import type { PadesFormat, Signer } from '#crypto/core/types.js';
import type { SignatureRecord, ValidationReport } from '#crypto/core/validation-report.js';
import { signPades } from '#crypto/pades/sign.js';
import { inspectPades } from '#crypto/pades/validate.js';
import type { FileSignatures } from '#crypto/validation/signature-info.js';
import type { TrustSettings } from '#crypto/validation/trust.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import { pki } from '../../../pki/pki.ts';
import { classicPdf, documentObjects, stream } from '../../pdf/build.ts';
import { freshPath, put } from './verdicts.ts';

export function factsOf(bytes: Buffer): FileSignatures {
  const source = openSource(put(bytes, 'validated.pdf'));
  try {
    return inspectPades(source);
  } finally {
    source.close();
  }
}

/** Validates with the test root as trust anchor and without revocation checks. @param levels as of `TrustSettings` */
export function reportOn(bytes: Buffer, levels: TrustSettings['levels'] = 'trusted'): ValidationReport {
  const trust = {
    anchors: [pki().root.certificate],
    intermediates: [pki().issuing.certificate],
    revocation: 'none',
    levels,
  } as const;
  return validateSignatures('Pades', factsOf(bytes), { trust, at: Date.now() });
}

/** `TOTAL-PASSED`, or indication and sub-indication, of each signature; `none` for a file without. */
export function verdicts(bytes: Buffer): readonly string[] {
  const { signatures } = reportOn(bytes);
  if (signatures.length === 0) return ['none'];
  return signatures.map(({ indication, subIndication }) =>
    subIndication === undefined ? indication : `${indication} ${subIndication}`,
  );
}

/** Types of the failed checks of one signature, the first unless said otherwise. */
export function failedTypes(bytes: Buffer, index = 0): readonly string[] {
  return reportOn(bytes).signatures[index]?.results.errors.map(({ type }) => type) ?? [];
}

/** Returns the later changes that the signature forbids. */
export function objections(bytes: Buffer, index = 0): readonly string[] {
  return changesIn(reportOn(bytes).signatures[index], false);
}

/** Returns the later changes that the signature permits. */
export function allowances(bytes: Buffer, index = 0): readonly string[] {
  return changesIn(reportOn(bytes).signatures[index], true);
}

function changesIn(record: SignatureRecord | undefined, permitted: boolean): readonly string[] {
  return (record?.changes ?? [])
    .filter((one) => one.permitted === permitted)
    .map(({ description }) => description);
}

export function signed(pdf: Buffer, pades: PadesFormat = {}, signer: Signer = pki().signer('p-256')): Buffer {
  const output = freshPath('signed.pdf');
  signPades({ format: 'Pades', input: put(pdf), output, signer, at: Date.now(), pades });
  return readFileSync(output);
}

/** A text field that can be filled in, on page 1. */
export const TEXT_FIELD = 7;
/** An empty signature field with a place on page 1, named Approval. */
export const EMPTY_FIELD = 30;
/** Returns the marks of the first page. */
export const CONTENT = 11;
export const PAGE = 10;
export const FONT = 3;
export const CATALOG = 1;
export const FORM = 4;
/** A number no document here uses. */
export const FREE = 150;

/** Two pages, a form with a text field and an empty signature field, and a note. */
export function contract(change: (objects: Map<number, string>) => void = () => {}): Buffer {
  const objects = documentObjects({ form: 'indirect', annots: 'direct', pages: 2, text: 'Pay 100' });
  objects.set(TEXT_FIELD, textField('(x)', 31));
  objects.set(31, appearance('BT /F1 9 Tf 2 2 Td (x) Tj ET'));
  objects.set(
    EMPTY_FIELD,
    '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Approval) /Rect [100 20 180 60] /F 4 /P 10 0 R >>',
  );
  objects.set(FORM, '<< /Fields [7 0 R 30 0 R] /DA (/F1 0 Tf) >>');
  objects.set(PAGE, (objects.get(PAGE) ?? '').replace('7 0 R ]', '7 0 R 30 0 R ]'));
  change(objects);
  return classicPdf(objects);
}

/** Hides the signature field, and gives it a look. */
export function hiddenLook(objects: Map<number, string>): void {
  objects.set(FREE, appearance('BT /F1 9 Tf 2 2 Td (900) Tj ET'));
  const field = objects.get(EMPTY_FIELD) ?? '';
  objects.set(EMPTY_FIELD, field.replace('/F 4', `/F 2 /AP << /N ${FREE} 0 R >>`));
}

export function textField(value: string, look: number): string {
  return `<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /V ${value} /Rect [20 20 90 40] /F 4 /P 10 0 R /DA (/F1 0 Tf) /AP << /N ${look} 0 R >> >>`;
}

/** A form XObject. */
export function appearance(content: string, resources = '/Font << /F1 3 0 R >>'): string {
  return stream(`/Type /XObject /Subtype /Form /BBox [0 0 70 20] /Resources << ${resources} >>`, content);
}

/** Returns the newest value of an object outside of object streams. */
export function bodyOf(pdf: Buffer, number: number): string {
  const text = pdf.toString('latin1');
  const at = text.lastIndexOf(`\n${number} 0 obj\n`);
  if (at < 0) throw new Error(`object ${number} is not there`);
  const from = text.indexOf(' obj\n', at) + 5;
  return text.slice(from, text.indexOf('\nendobj', from));
}

/** Replaces a substring in the newest value of an object. */
export function edited(
  pdf: Buffer,
  number: number,
  from: string | RegExp,
  to: string,
): readonly [number, string] {
  const body = bodyOf(pdf, number);
  const changed = body.replace(from, to);
  if (changed === body) throw new Error(`object ${number} has no ${from}`);
  return [number, changed];
}
