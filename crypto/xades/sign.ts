/** XAdES-B-B signatures in the four packagings (EN 319 132-1 §6.3). */
import { openSource, type Source } from '../core/files.ts';
import {
  CryptoError,
  type SignatureAlgorithm,
  type SignatureLevel,
  type SignatureParameters,
  type SignedFile,
  type Signer,
  type SignerIdentity,
  type SignFileRequest,
  type XadesFormat,
} from '../core/types.ts';
import { algorithmOf, concatenatedValue } from '../x509/signature-algorithms.ts';
import { MAX_DOCUMENT_LENGTH } from '../xml/index.ts';
import { planInDocument } from './document-plan.ts';
import { openSignature, type SignatureText, signatureText } from './elements/signature-text.ts';
import { mayBeXml, planEnveloping } from './enveloping-plan.ts';
import { planDetached, type SigningPlan } from './plan.ts';
import { readDocument } from './read-document.ts';
import { assemble, type SignedXml, writeChunks, writeStreamed } from './signed-output.ts';

/** Signature parameters without input and output. */
type XadesParameters = SignatureParameters & { readonly xades?: XadesFormat };

/** A signature before its value is made. */
export interface PlannedSignature {
  readonly plan: SigningPlan;
  readonly text: SignatureText;
  readonly algorithm: SignatureAlgorithm;
  /** As `XadesFormat.completeReferences`. */
  readonly completeReferences?: boolean;
  /** The input, when the packaging needs it in memory. */
  readonly document: Buffer | undefined;
}

/**
 * Reads the input and prepares everything but the signature value.
 * @throws {CryptoError} errors of reading and of the packaging; `key.unsupported`
 */
export function planSignature(
  source: Source,
  signer: SignerIdentity,
  parameters: XadesParameters & { readonly level?: SignatureLevel },
): PlannedSignature {
  const form = parameters.xades ?? {};
  if (source.size === 0) throw new CryptoError('input.empty', `${source.path} is empty.`);
  const { completeReferences = false } = form;
  if (completeReferences && parameters.level !== 'LT' && parameters.level !== 'LTA') {
    throw new CryptoError(
      'request.invalid',
      'References to what validates a signature take level LT or LTA.',
    );
  }
  const detached = form.packaging === 'detached';
  const streamed = detached || (form.packaging === 'enveloping' && !mayBeXml(source));
  const document = streamed ? undefined : readDocument(source, MAX_DOCUMENT_LENGTH);
  const algorithm = algorithmOf(signer, parameters);
  const request = { signer, algorithm, at: parameters.at, form, archived: parameters.level === 'LTA' };
  const plan = detached
    ? planDetached([{ ...form, source }], request)
    : form.packaging === 'enveloping'
      ? planEnveloping(source, document, request)
      : planInDocument(document ?? Buffer.alloc(0), request);
  return { plan, algorithm, completeReferences, document, text: textOf(plan, signer, algorithm, parameters) };
}

/** Builds the text of a planned signature. */
export function textOf(
  { id, references }: SigningPlan,
  signer: SignerIdentity,
  algorithm: SignatureAlgorithm,
  parameters: SignatureParameters,
): SignatureText {
  return signatureText({ ...parameters, signer, algorithm, id, references });
}

/** Signs with the key and encodes the value for XML Signature (1.1 §6.4.3: ECDSA as r and s concatenated). */
export function signValue(
  signer: Signer,
  { signedInfo }: SignatureText,
  algorithm: SignatureAlgorithm,
): Buffer {
  const made = signer.key.sign(Buffer.from(signedInfo), algorithm);
  return signer.keyType === 'ec' ? concatenatedValue(made, signer.keyBits) : made;
}

/** Writes a planned signature, opened by `openSignature`, with its input. @throws {CryptoError} as `writeChunks` */
export function writePlanned(
  source: Source,
  { plan: { frame }, document }: Pick<PlannedSignature, 'plan' | 'document'>,
  opened: string,
  request: Pick<SignFileRequest, 'output' | 'sync'>,
): SignedFile {
  if (document === undefined || frame.object?.content === 'base64') {
    return writeStreamed(source, frame, opened, request);
  }
  const { before, inserted, content, closing, after } = assemble(document, frame, opened);
  return writeChunks(source, document, [before, inserted, content, closing, after], request);
}

/**
 * Signs one file. An XML document is read once as a whole, other files in chunks; the output is hashed while it is
 * written, and synced.
 *
 * The identifiers in the signature derive from content, time and signer: with RSA, equal requests give equal bytes.
 * @throws {CryptoError} errors of the packaging (`xml.malformed`, `xml.dtd`, `xml.encoding`, `xml.too-deep`,
 *   `xml.existing-signature`, `request.invalid`), of the key (`key.unsupported`, `key.unavailable`), of reading
 *   (`input.unreadable`, `input.changed`, `input.empty`, `input.too-large`) and of writing (`output.exists`,
 *   `output.unwritable`). No output is left then.
 */
export function signXades(request: SignFileRequest): SignedFile {
  const source = openSource(request.input);
  try {
    const planned = planSignature(source, request.signer, request);
    const value = signValue(request.signer, planned.text, planned.algorithm);
    return writePlanned(source, planned, openSignature(planned.text, value), request);
  } finally {
    source.close();
  }
}

/**
 * Signs one XML document in memory, with a packaging that places the signature inside it.
 * @throws {CryptoError} errors of the packaging and of the key
 */
export function signXml(document: Buffer, request: XadesParameters & { readonly signer: Signer }): SignedXml {
  const { signer, at, xades: form = {} } = request;
  const algorithm = algorithmOf(signer, request);
  const plan = planInDocument(document, { signer, algorithm, at, form });
  const text = textOf(plan, signer, algorithm, request);
  return assemble(document, plan.frame, openSignature(text, signValue(signer, text, algorithm)));
}
