/** Quick check of CAdES files just made, read from disk in bounded memory (EN 319 122-1 §6.3). */

import { openSource, type Source } from '../core/files.ts';
import type { Check, InputFile, VerificationReport, VerifyFileRequest } from '../core/types.ts';
import { inspectSignedData } from '../validation/signed-data/verify-signed-data.ts';
import { type ContentDigests, readSignatureFile, type SignatureFile } from './signed-content.ts';

/**
 * Verifies one CAdES file, in DER or PEM, enveloping or detached. Malformed bytes are a failed check,
 * never an exception.
 *
 * Checks: structure; enveloping, or detached when the request names the content; content (when the request gives its
 * digest); and those of `verifySignedData`.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function verifyCades(request: VerifyFileRequest<InputFile>): VerificationReport {
  const { path, contentPath } = request;
  const sources: Source[] = [];
  const open = (name: InputFile): Source => {
    const source = openSource(name);
    sources.push(source);
    return source;
  };
  try {
    const source = open(path);
    const read = readSignatureFile(source, contentPath === undefined ? undefined : open(contentPath));
    const report =
      'reason' in read
        ? unreadable(read.reason)
        : read.bytesAfter > 0
          ? unreadable('there are bytes after the end.')
          : reportOn(read, request);
    for (const one of sources) one.assertUnchanged();
    return report;
  } finally {
    for (const one of sources) one.close();
  }
}

function unreadable(reason: string): VerificationReport {
  const structure = { name: 'structure', ok: false, detail: `Can't be read: ${reason}` };
  return { ok: false, signatures: 0, checks: [structure] };
}

function reportOn(
  { der, content }: SignatureFile,
  request: VerifyFileRequest<InputFile>,
): VerificationReport {
  const { at, anchors, signer } = request;
  const { checks: found, signers } = inspectSignedData(der, {
    contentDigest: (digest) => content.of(digest),
    at,
    signingTime: 'present',
    ...(anchors === undefined ? {} : { anchors }),
    ...(signer === undefined ? {} : { expectedSigner: signer }),
  });
  const checks: Check[] = [
    placeOf(content, request.contentPath !== undefined),
    ...found.filter(({ name }) => name !== 'detached'),
  ];
  if (request.content !== undefined) checks.push(sameContent(content, request.content));
  return {
    ok: signers.length > 0 && checks.every(({ ok }) => ok),
    signatures: signers.length,
    checks,
  };
}

function placeOf({ inside }: ContentDigests, beside: boolean): Check {
  if (beside) {
    const detail = inside === undefined ? 'The content is beside the signature.' : 'Other content is inside.';
    return { name: 'detached', ok: inside === undefined, detail };
  }
  return {
    name: 'enveloping',
    ok: inside !== undefined,
    detail: inside === undefined ? 'The content is not inside.' : `${inside.length} bytes of content inside.`,
  };
}

function sameContent(
  content: ContentDigests,
  expected: { readonly sha256: string; readonly length: number },
): Check {
  const ok = content.length === expected.length && content.of('sha256')?.toString('hex') === expected.sha256;
  return {
    name: 'content',
    ok,
    detail: ok ? 'The content is what was to be signed.' : 'The content is not what was to be signed.',
  };
}
