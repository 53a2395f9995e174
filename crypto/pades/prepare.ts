/**
 * The incremental update that adds a signature to a PDF, complete but for the signature value
 * (ETSI EN 319 142-1, clauses 5 and 6.3; ISO 32000-2, 12.7.5.5 and 12.8.1).
 */
import { timeText } from '../asn1/time.ts';
import { maxSignedDataLength } from '../cms/build.ts';
import {
  asName,
  asReference,
  assertSignable,
  type ByteSource,
  type PdfDict,
  type PdfDocument,
  sourceText,
  withPdf,
} from '../pdf/index.ts';
import type { DigestName, PadesForm, SignatureParameters, SignerIdentity } from '../types.ts';
import { Draft, referenceText } from './draft.ts';
import { updateField } from './field-update.ts';
import { surveyForm, targetField } from './form-survey.ts';
import { assertSigningAllowed } from './limits.ts';
import { assertSeedValue, FILTER, SUB_FILTER } from './seed-value.ts';
import { type PreparedUpdate, signatureValue, writeUpdate } from './signature-dictionary.ts';
import { textString } from './text-string.ts';

export interface PadesOptions extends Pick<SignatureParameters, 'padding' | 'includeChain' | 'policy'> {
  readonly signer: SignerIdentity;
  /** Claimed signing time, milliseconds since the epoch; it goes into /M. */
  readonly at: number;
  readonly digest: DigestName;
  readonly form?: PadesForm;
  /** Bytes kept free for unsigned attributes; 0 when there will be none. @default 0 */
  readonly unsignedLength?: number;
}

const INVISIBLE: PadesForm = {};

/**
 * Reads what signing needs to know of a PDF and lays out the update.
 * @throws {CryptoError} `pdf.malformed`, `pdf.encrypted`, `pdf.no-pages`, `pdf.change-forbidden`, `input.too-large`,
 *   `request.invalid`
 */
export function preparePades(source: ByteSource, options: PadesOptions): PreparedUpdate {
  return withPdf(source, (pdf) => layOut(source, pdf, options));
}

function layOut(source: ByteSource, pdf: PdfDocument, options: PadesOptions): PreparedUpdate {
  const { form = INVISIBLE, signer, unsignedLength = 0 } = options;
  const survey = surveyForm(pdf, form);
  const target = targetField(pdf, survey, form);
  assertSigningAllowed(pdf, survey, target, form);
  assertSignable(pdf, target.kind);
  const field = target.kind === 'empty' ? target.found.field.dict : undefined;
  if (field !== undefined) {
    assertSeedValue(pdf, field, { signer, digest: options.digest, form, timestamped: unsignedLength > 0 });
  }
  const draft = new Draft(pdf);
  const reference = draft.reserve();
  if (form.certification !== undefined) {
    draft.catalog.child('Perms').set('DocMDP', referenceText(reference));
  }
  updateField(draft, target, reference, {
    appearance: form.appearance,
    isSigned: survey.signed.length > 0,
  });
  const value = signatureValue(
    source.size,
    `/Type/Sig/Filter/${FILTER}/SubFilter/${SUB_FILTER}`,
    maxSignedDataLength(signer, options, { unsignedLength }),
    `/M(${pdfTime(options.at)})${words(form)}${references(pdf, form, field)}`,
  );
  const lastByte = source.read(source.size - 1, 1)[0];
  const seed = `${options.at} ${signer.fingerprint}`;
  return writeUpdate({ pdf, size: source.size, lastByte, seed }, draft, { ...value, reference });
}

/** A date as in 7.9.4, in UTC. */
function pdfTime(at: number): string {
  return `D:${timeText(at)}`;
}

/** Table 255. */
function words({ name, reason, location, contactInfo }: PadesForm): string {
  let text = '';
  if (name !== undefined) text += `/Name${textString(name)}`;
  if (reason !== undefined) text += `/Reason${textString(reason)}`;
  if (location !== undefined) text += `/Location${textString(location)}`;
  if (contactInfo !== undefined) text += `/ContactInfo${textString(contactInfo)}`;
  return text;
}

/** Signature reference dictionaries (table 256): a certification, and the lock of the field that is signed. */
function references(pdf: PdfDocument, { certification }: PadesForm, field: PdfDict | undefined): string {
  const found: string[] = [];
  if (certification !== undefined) found.push(transform('DocMDP', `/P ${certification}`, ''));
  const lock = pdf.dict(field?.get('Lock'));
  const action = lock && asName(pdf.resolve(lock.get('Action')));
  if (lock !== undefined && (action === 'All' || action === 'Include' || action === 'Exclude')) {
    const names = action === 'All' ? '' : `/Fields ${sourceText(pdf.resolve(lock.get('Fields')))}`;
    const root = asReference(pdf.xref.trailer.get('Root'));
    const data = root === undefined ? '' : `/Data ${referenceText(root)}`;
    found.push(transform('FieldMDP', `/Action/${action}${names}`, data));
  }
  return found.length === 0 ? '' : `/Reference[${found.join('')}]`;
}

function transform(method: string, parameters: string, data: string): string {
  return (
    `<</Type/SigRef/TransformMethod/${method}${data}` +
    `/TransformParams<</Type/TransformParams/V/1.2${parameters}>>>>`
  );
}
