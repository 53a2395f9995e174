/**
 * Enveloped XAdES-B-B signatures of whole XML documents (EN 319 132-1): the original bytes stay as they are, and the
 * signature is spliced in as the last child of the root element.
 */
import { createHash, type Hash } from 'node:crypto';
import { openSource } from '../files/source.ts';
import { createTarget } from '../files/target.ts';
import {
  CryptoError,
  type DigestName,
  type SignedFile,
  type Signer,
  type SignFileRequest,
} from '../types.ts';
import {
  type DecodedXml,
  decodeXml,
  ExclusiveCanonicalizer,
  MAX_DOCUMENT_LENGTH,
  Names,
  type RootPlace,
  readXml,
} from '../xml/index.ts';
import { readDocument } from './read-document.ts';
import { signatureText } from './signature-text.ts';
import { ID_PREFIX, SigningSurvey } from './survey.ts';

export interface SignXmlOptions {
  readonly signer: Signer;
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
  /** @default 'sha256' */
  readonly digest?: DigestName;
}

/** A signed document as three ranges; `before` and `after` are views of the original. */
export interface SignedXml {
  readonly before: Buffer;
  readonly inserted: Buffer;
  readonly after: Buffer;
}

/**
 * Signs a document in memory. For a root written as an empty-element tag, `inserted` takes the place of its `/>`
 * and holds the end tag as well; otherwise nothing of the original is left out.
 *
 * The identifiers in the signature follow from document, time and signer, so the same request gives the same text.
 * @throws CryptoError `xml.malformed`, `xml.dtd`, `xml.encoding`, `xml.too-deep`, `xml.existing-signature`.
 */
export function signXml(document: Buffer, options: SignXmlOptions): SignedXml {
  const { signer, at, digest = 'sha256' } = options;
  const decoded = decodeXml(document);
  const { utf8 } = decoded;
  const hash = createHash(digest);
  const names = new Names();
  const canonicalizer = new ExclusiveCanonicalizer(utf8, hash);
  const survey = new SigningSurvey(utf8, names, canonicalizer);
  const root = readXml(utf8, survey, names);
  canonicalizer.finish();
  if (survey.broken !== undefined) {
    throw new CryptoError('xml.existing-signature', `The XML cannot be signed as a whole: ${survey.broken}.`);
  }
  const documentDigest = hash.digest();
  const id = freeId(
    survey,
    createHash('sha256').update(documentDigest).update(`${at} ${signer.fingerprint}`),
  );
  return splice(document, decoded, root, signatureText({ signer, digest, id, documentDigest, at }));
}

function freeId(survey: SigningSurvey, seed: Hash): string {
  const base = ID_PREFIX + seed.digest('hex').slice(0, 32);
  if (survey.isFree(base)) return base;
  for (let number = 2; ; number++) {
    const id = `${base}.${number}`;
    if (survey.isFree(id)) return id;
  }
}

function splice(document: Buffer, decoded: DecodedXml, root: RootPlace, signature: string): SignedXml {
  if (!root.empty) {
    const at = decoded.toOriginal(root.contentEnd);
    return {
      before: document.subarray(0, at),
      inserted: decoded.encode(signature),
      after: document.subarray(at),
    };
  }
  return {
    before: document.subarray(0, decoded.toOriginal(root.end - 2)),
    inserted: decoded.encode(`>${signature}</${root.name}>`),
    after: document.subarray(decoded.toOriginal(root.end)),
  };
}

/**
 * Signs one file. The input is read once; the output is hashed while it is written, and synced.
 * @throws CryptoError of `signXml`, of reading (`input.unreadable`, `input.changed`, `input.empty`,
 *   `input.too-large`) and of writing (`output.exists`, `output.unwritable`). No output is left then.
 */
export function signXades(request: SignFileRequest): SignedFile {
  const source = openSource(request.input);
  try {
    const document = readDocument(source, MAX_DOCUMENT_LENGTH);
    const signed = signXml(document, request);
    source.assertUnchanged();
    const output = createHash('sha256').update(signed.before);
    const input = output.copy().update(document.subarray(signed.before.length)).digest('hex');
    output.update(signed.inserted).update(signed.after);
    return {
      input: { sha256: input, length: source.size, mtimeMs: source.mtimeMs, inode: source.inode },
      output: { sha256: output.digest('hex'), length: write(request, signed) },
    };
  } finally {
    source.close();
  }
}

function write(request: SignFileRequest, { before, inserted, after }: SignedXml): number {
  const target = createTarget(request.output);
  try {
    target.write(before, inserted, after);
    if (request.sync ?? true) target.sync();
    target.close();
    return target.length;
  } catch (error) {
    target.discard();
    throw error;
  }
}
