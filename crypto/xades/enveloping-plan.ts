/**
 * Enveloping signatures (EN 319 132-1 §6.3): the signed content is inside the signature, an XML document unchanged,
 * any other file in Base64.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Source } from '../core/source.ts';
import { CryptoError } from '../core/types.ts';
import { type ByteSink, decodeXml, MAX_DEPTH, MAX_DOCUMENT_LENGTH, Names, readXml } from '../xml/index.ts';
import { BASE64, DS, EXCLUSIVE_C14N, OBJECT_TYPE } from './elements/identifiers.ts';
import { SignatureSurvey } from './elements/signature-survey.ts';
import { mimeTypeOf, mimeTypeText, transformText } from './elements/signature-text.ts';
import { ObjectContent } from './object-content.ts';
import { ALONE, base64Of, idFor, type PlanRequest, type SigningPlan } from './plan.ts';

/**
 * Plans an enveloping signature. XML that can't be embedded in another document is encoded in Base64 like every other
 * file: not well-formed, with a document type definition, too deeply nested, or with signatures inside, which a
 * surrounding document could invalidate.
 * @param document the bytes of `source` when it may be XML
 * @throws {CryptoError} `request.invalid` for an invalid media type; `input.unreadable`, `input.changed`
 */
export function planEnveloping(
  source: Source,
  document: Buffer | undefined,
  request: PlanRequest,
): SigningPlan {
  const plan = document === undefined ? undefined : planXml(document, request);
  return plan ?? planBase64(source, request);
}

/** True when the file may be XML, by its length and first bytes. */
export function mayBeXml(source: Source): boolean {
  if (source.size > MAX_DOCUMENT_LENGTH) return false;
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\0?[ \t\r\n\0]*</.test(source.read(0, 64).toString('latin1'));
}

function planXml(document: Buffer, request: PlanRequest): SigningPlan | undefined {
  try {
    return planVerbatim(document, request);
  } catch (error) {
    if (error instanceof CryptoError && error.code.startsWith('xml.')) return undefined;
    throw error;
  }
}

function planVerbatim(document: Buffer, request: PlanRequest): SigningPlan | undefined {
  const decoded = decodeXml(document);
  const { utf8 } = decoded;
  const id = idFor(createHash('sha256').update(document).digest(), request);
  const { mimeType: given } = request.form;
  const mimeType = given === undefined ? 'application/xml' : mimeTypeText(given);
  const object = { id: `${id}-object`, mimeType };
  const start = declarationEnd(utf8);
  const canonicalize = (sink: ByteSink): { readonly isPlain: boolean } => {
    const names = new Names();
    const content = new ObjectContent(utf8, names, start, object, sink);
    const survey = new SignatureSurvey(utf8, names, content);
    content.finish(readXml(utf8, survey, names).end);
    return { isPlain: survey.signatures === 0 && content.depth <= MAX_DEPTH && survey.isFree(id) };
  };
  const signed = createHash(request.algorithm.digest);
  if (!canonicalize(signed).isPlain) return undefined;
  return {
    ...referring(id, signed, mimeType, EXCLUSIVE_C14N),
    frame: {
      cut: decoded.toOriginal(start),
      resume: document.length,
      lead: '',
      trail: '',
      object: { open: `<ds:Object Id="${object.id}" MimeType="${mimeType}">`, content: 'verbatim' },
      encode: (text) => decoded.encode(text),
    },
    writeObjects: (sink) => void canonicalize(sink),
  };
}

/** Offset after the XML declaration, which must stay at the start of the file. */
function declarationEnd(utf8: Buffer): number {
  return /^<\?xml\s/.test(utf8.toString('latin1', 0, 6)) ? utf8.indexOf('?>') + 2 : 0;
}

function planBase64(source: Source, request: PlanRequest): SigningPlan {
  const signed = createHash(request.algorithm.digest);
  for (const chunk of source.chunks()) signed.update(chunk);
  const id = idFor(signed.copy().digest(), request);
  const { mimeType: given } = request.form;
  const mimeType = given === undefined ? mimeTypeOf(source.path) : mimeTypeText(given);
  const attributes = `Encoding="${BASE64}" Id="${id}-object" MimeType="${mimeType}"`;
  return {
    ...referring(id, signed, mimeType, BASE64),
    frame: {
      ...ALONE,
      cut: 0,
      resume: source.size,
      object: { open: `<ds:Object ${attributes}>`, content: 'base64' },
    },
    writeObjects: (sink) => {
      sink.update(Buffer.from(`<ds:Object xmlns:ds="${DS}" ${attributes}>`));
      for (const text of base64Of(source)) sink.update(Buffer.from(text));
      sink.update(Buffer.from('</ds:Object>'));
    },
  };
}

function referring(
  id: string,
  signed: Hash,
  mimeType: string,
  transform: string,
): Pick<SigningPlan, 'id' | 'signed' | 'references'> {
  const transforms = transformText(transform);
  const digest = signed.copy().digest();
  return {
    id,
    signed,
    references: [{ uri: `#${id}-object`, type: OBJECT_TYPE, transforms, digest, mimeType }],
  };
}
