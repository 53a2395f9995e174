/** Inspects a CAdES file: enveloping or detached, in DER, BER or text, of any size (EN 319 122-1). */

import { OID } from '../asn1/oids.ts';
import { parseSignedData } from '../cms/parse.ts';
import type { Source } from '../core/files.ts';
import { HEADER_BYTES, isCmsHeader, unsupportedForm } from '../core/header-format.ts';
import { type Finding, failed, passed, warned } from '../core/validation-report.ts';
import type { FileSignatures } from '../validation/signature-info.ts';
import { inspectCms } from '../validation/signed-data/signed-data-report.ts';
import { type ContentDigests, readSignatureFile, type SignatureFile } from './signed-content.ts';

interface InspectCadesOptions {
  /** Content of a detached signature. */
  readonly content?: Source;
}

/** Most signature files inside each other. */
const MAX_DEPTH = 4;

/**
 * Reads the file once, and its content again only for a digest that the file did not announce. Malformed bytes are
 * findings. Content that is itself a signature follows with its signatures, whose names begin with `content: `.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function inspectCades(file: Source, { content }: InspectCadesOptions = {}): FileSignatures {
  const read = readSignatureFile(file, content);
  if ('reason' in read) {
    const form = unsupportedForm(file.read(0, Math.min(HEADER_BYTES, file.size)));
    return { signatures: [], findings: [form === undefined ? unreadable(read.reason) : unsupported(form)] };
  }
  const inside = signaturesInside(read.content, 1);
  return {
    signatures: [...signaturesOf(read), ...inside.signatures],
    findings: [
      ...(content === undefined ? [] : read.content.compare()),
      ...outside(read),
      ...inside.findings,
    ],
  };
}

function signaturesOf({ der, content }: SignatureFile): FileSignatures['signatures'] {
  return inspectCms(der, {
    format: 'Cades',
    scope: content.scope,
    signingTime: 'present',
    contentDigest: (hash) => content.of(hash),
  });
}

function signaturesInside(content: ContentDigests, depth: number): FileSignatures {
  const { inside } = content;
  if (inside === undefined || !isCmsHeader(inside.start)) return NOTHING;
  if (depth === MAX_DEPTH) return notExamined(`signatures inside each other are examined ${MAX_DEPTH} deep`);
  const file = content.openInside();
  if (file === undefined) return notExamined('it is in pieces and too large to join');
  const read = readSignatureFile(file, undefined);
  if ('reason' in read) return notExamined(`it can't be read: ${read.reason.replace(/\.$/, '')}`);
  if (!isSigned(read)) return NOTHING;
  if (read.content.inside === undefined) return notExamined('what it is over is not inside it');
  const further = signaturesInside(read.content, depth + 1);
  const signatures = [...signaturesOf(read), ...further.signatures];
  return {
    signatures: signatures.map((one) => ({ ...one, name: `content: ${one.name}`, isInContent: true })),
    findings: [
      passed('content.signed', 'The content is itself a signature, which is judged too.'),
      ...outside(read),
      ...further.findings,
    ],
  };
}

/** False for bundles of certificates and for time-stamp tokens. */
function isSigned({ der }: SignatureFile): boolean {
  try {
    const { signers, contentType } = parseSignedData(der);
    return signers.length > 0 && contentType !== OID.timestampInfo;
  } catch {
    // Reported as a signature that can't be read.
    return true;
  }
}

const NOTHING: FileSignatures = { signatures: [], findings: [] };

function notExamined(reason: string): FileSignatures {
  const message = `The content seems to be a signature, which was not examined: ${reason}.`;
  return { signatures: [], findings: [warned('content.signed', message)] };
}

/** Reports what stands before and after the signature in its file. */
function outside({ bytesAfter, hasTextBefore }: SignatureFile): Finding[] {
  const findings: Finding[] = [];
  if (hasTextBefore) {
    findings.push(warned('structure.leading', 'Text stands before the signature, which nothing covers.'));
  }
  if (bytesAfter > 0) {
    const message = 'Bytes follow the end of the signature, which nothing covers.';
    findings.push(warned('structure.trailing', message, `${bytesAfter}`));
  }
  return findings;
}

/** Leaves the file INDETERMINATE: nothing is known against it. */
function unsupported(form: string): Finding {
  return failed('file.unsupported', `This is ${form}, a form that is not supported.`, 'GENERIC');
}

function unreadable(reason: string): Finding {
  return failed('structure.cms', `This is no CMS signature: ${reason}`);
}
