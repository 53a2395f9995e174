/** Signs a PDF: PAdES baseline B-B (ETSI EN 319 142-1) by an incremental update; no byte of the original changes. */
import { timeText } from '../asn1/time.ts';
import { buildSignedData, maxSignedDataLength } from '../cms/build.ts';
import {
  type BeginSigningRequest,
  CryptoError,
  type DigestName,
  type InputFile,
  type OutputFile,
  type PadesFormat,
  type PageContent,
  type SignAtLevelRequest,
  type SignatureParameters,
  type SignedFile,
  type Signer,
  type SignerIdentity,
  type SignFileRequest,
} from '../core/types.ts';
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
import { textString } from '../pdf/syntax/strings.ts';
import { IncrementalUpdate, referenceText } from '../pdf/update/incremental-update.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { addPageContent } from './content/page-content.ts';
import { needsAppearances, showsAllValues } from './content/settled-appearances.ts';
import {
  type FormSurvey,
  type SignedField,
  surveyForm,
  type TargetField,
  targetField,
  updateField,
} from './fields/field-update.ts';
import { assertSeedValue, FILTER, SUB_FILTER } from './fields/seed-value.ts';
import { fillPlaceholder, type PreparedUpdate, signatureValue, writeUpdate } from './fields/signatures.ts';
import { IncrementalFile, openIncrementalFile } from './incremental-file.ts';
import { drawnTexts, letterWarnings, signingWarnings } from './signing-warnings.ts';
import { policyOf } from './validation/change-policy.ts';

/**
 * Builds the incremental update that adds a signature to a PDF, complete except for the signature value
 * (ETSI EN 319 142-1, clauses 5 and 6.3; ISO 32000-2, 12.7.5.5 and 12.8.1).
 */
export interface PadesOptions
  extends Pick<SignatureParameters, 'padding' | 'includeChain' | 'policy' | 'claimedRole'> {
  readonly signer: SignerIdentity;
  /** Claimed signing time, milliseconds since the epoch; it goes into /M. */
  readonly at: number;
  readonly digest: DigestName;
  readonly form?: PadesFormat;
  /** Bytes reserved for unsigned attributes; 0 without any. @default 0 */
  readonly unsignedLength?: number;
}

const INVISIBLE: PadesFormat = {};
const NO_CONTENT: PageContent = { stamps: [], fields: [] };

/**
 * Reads the PDF and lays out the update.
 * @throws {CryptoError} `pdf.malformed`, `pdf.encrypted`, `pdf.no-pages`, `pdf.change-forbidden`, `input.too-large`,
 *   `request.invalid`
 */
export function preparePades(source: ByteSource, options: PadesOptions): PreparedUpdate {
  return withPdf(source, (pdf) => layOut(source, pdf, options));
}

/** Prepares the first update of a file; `signing` is that part of a result that says what its signers may not see. */
export function prepareFirst(
  source: ByteSource,
  options: PadesOptions,
): { readonly prepared: PreparedUpdate; readonly signing: Pick<SignedFile, 'warnings'> } {
  return withPdf(source, (pdf) => {
    const prepared = layOut(source, pdf, options);
    const warnings = [...signingWarnings(pdf), ...letterWarnings(drawnTexts(options.form ?? INVISIBLE))];
    return { prepared, signing: warnings.length === 0 ? NO_WARNINGS : { warnings } };
  });
}

const NO_WARNINGS = {};

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
  const update = new IncrementalUpdate(pdf);
  const reference = update.reserve();
  if (form.certification !== undefined) {
    update.catalog.child('Perms').set('DocMDP', referenceText(reference));
  }
  const isSigned = survey.signed.length > 0;
  // Viewers that draw the fields of the form hide the appearance of the signature.
  const hides = form.appearance !== undefined && needsAppearances(pdf);
  if (form.content !== undefined || (hides && !isSigned))
    addPageContent(update, form.content ?? NO_CONTENT, isSigned);
  // In a signed file the appearances of other fields stay as they are.
  if (hides && isSigned && showsAllValues(pdf))
    update.catalog.child('AcroForm').set('NeedAppearances', 'false');
  updateField(update, target, reference, {
    appearance: form.appearance,
    isSigned,
  });
  const value = signatureValue(
    source.size,
    `/Type/Sig/Filter/${FILTER}/SubFilter/${SUB_FILTER}`,
    maxSignedDataLength(signer, options, { unsignedLength }),
    `/M(${pdfTime(options.at)})${textEntries(form)}${references(pdf, form, field)}`,
  );
  const lastByte = source.read(source.size - 1, 1)[0];
  const seed = `${options.at} ${signer.fingerprint}`;
  return writeUpdate({ pdf, size: source.size, lastByte, seed }, update, { reference, ...value });
}

/** Formats a date (7.9.4) in UTC. */
function pdfTime(at: number): string {
  return `D:${timeText(at)}`;
}

/** Table 255. */
function textEntries({ name, reason, location, contactInfo }: PadesFormat): string {
  let text = '';
  if (name !== undefined) text += `/Name${textString(name)}`;
  if (reason !== undefined) text += `/Reason${textString(reason)}`;
  if (location !== undefined) text += `/Location${textString(location)}`;
  if (contactInfo !== undefined) text += `/ContactInfo${textString(contactInfo)}`;
  return text;
}

/** Builds signature reference dictionaries (table 256): a certification, and the lock of the signed field. */
function references(pdf: PdfDocument, { certification }: PadesFormat, field: PdfDict | undefined): string {
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

// Checks that earlier signatures and the field itself permit another signature (ISO 32000-2, 12.8.2.2, 12.8.2.4 and
// 12.7.5.5). All of them permit document time-stamps and a document security store (12.8.2.2.1).

/** DocMDP level that permits no change; adding a signature needs 2 or more. */
const NO_CHANGES = 1;

/**
 * @param target the field to be signed
 * @throws {CryptoError} `pdf.change-forbidden`
 */
function assertSigningAllowed(
  pdf: PdfDocument,
  survey: FormSurvey,
  target: TargetField,
  form: PadesFormat,
): void {
  const certification = pdf.dict(pdf.dict(pdf.catalog.get('Perms'))?.get('DocMDP'));
  if (certification !== undefined && policyOf(pdf, certification, undefined).level === NO_CHANGES) {
    throw forbidden('The PDF is certified and its author allows no further changes.');
  }
  if (certification !== undefined && target.kind === 'new' && form.appearance !== undefined) {
    // A new visible field could cover certified content, so validators reject it.
    throw forbidden('The PDF is certified, so only a field its author made can show a signature.');
  }
  if (form.certification !== undefined && (certification !== undefined || survey.signed.length > 0)) {
    throw forbidden(
      certification === undefined
        ? 'The PDF has signatures, and only the first one can certify it.'
        : 'The PDF is certified already.',
    );
  }
  for (const signed of survey.signed) assertSignatureAllows(pdf, signed, target);
}

function assertSignatureAllows(
  pdf: PdfDocument,
  { name, dict, signature }: SignedField,
  target: TargetField,
): void {
  const policy = policyOf(pdf, signature, dict);
  if (policy.level === NO_CHANGES) {
    throw forbidden(`The signature in field ${name} allows no further changes.`);
  }
  if (policy.locks(target.name, target.kind === 'new')) {
    throw forbidden(`The signature in field ${name} locked the field ${target.name}.`);
  }
}

function forbidden(message: string): CryptoError {
  return new CryptoError('pdf.change-forbidden', message);
}

/**
 * Signs the file `input` into the new file `output` at level B. The output is on disk (unless `sync` is false) when this
 * returns and removed when it throws. The input is read once; memory does not grow with its size.
 * @throws {CryptoError} `input.*`, `pdf.*`, `output.*`, `key.*`, `request.invalid`
 */
export function signPades(request: SignFileRequest<InputFile, OutputFile>): SignedFile {
  const source = openIncrementalFile(request.input, request.password);
  try {
    const options = { ...padesOptions(request), signer: request.signer };
    const { prepared, signing } = prepareFirst(source, options);
    const file = new IncrementalFile(source, request.output, [options.digest]);
    try {
      complete(prepared, file.digestAround(prepared, options.digest), options);
      file.append(prepared.update);
      return { ...file.finish(request.sync ?? true), ...signing };
    } catch (error) {
      file.discard();
      throw error;
    }
  } finally {
    source.close();
  }
}

/** Resolves the defaults of a request that the layout depends on. */
export function padesOptions(
  request: SignAtLevelRequest<InputFile, OutputFile> | BeginSigningRequest<InputFile>,
): PadesOptions {
  const { signer, at, padding, includeChain, policy, claimedRole, pades } = request;
  return {
    signer,
    at,
    digest: algorithmOf(signer, request).digest,
    ...(padding === undefined ? {} : { padding }),
    ...(includeChain === undefined ? {} : { includeChain }),
    ...(policy === undefined ? {} : { policy }),
    ...(claimedRole === undefined ? {} : { claimedRole }),
    ...(pades === undefined ? {} : { form: pades }),
  };
}

/**
 * Fills the placeholder with the signature.
 * @param messageDigest of all bytes except the placeholder, made with `options.digest`
 * @throws {CryptoError} `key.*`
 */
function complete(
  prepared: PreparedUpdate,
  messageDigest: Buffer,
  options: PadesOptions & { readonly signer: Signer },
): void {
  if (!fillPlaceholder(prepared, buildSignedData({ messageDigest, ...options }))) {
    throw longerThanComputed();
  }
}

export function longerThanComputed(): CryptoError {
  return new CryptoError('key.unsupported', 'The signature is longer than was computed beforehand.');
}
