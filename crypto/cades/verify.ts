/** Validates CAdES files that hold their content, reading them afresh and never whole (EN 319 122-1 §6.3). */
import { Asn1Error } from '../asn1/error.ts';
import { inspectSignedData } from '../cms/verify.ts';
import { openSource, type Source } from '../files/source.ts';
import type { Check, VerificationReport, VerifyFileRequest } from '../types.ts';
import { type ContentFacts, type Detached, detachContent } from './detach.ts';

/**
 * Every check on one CAdES file. Bad bytes are a failed check, never an exception.
 *
 * Checks: structure, enveloping, content (when the request says what it was), and those of `verifySignedData`.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function verifyCades(request: VerifyFileRequest): VerificationReport {
  const source = openSource(request.path);
  try {
    const detached = detach(source);
    source.assertUnchanged();
    if ('because' in detached) {
      const structure = { name: 'structure', ok: false, detail: `Can't be read: ${detached.because}` };
      return { ok: false, signatures: 0, checks: [structure] };
    }
    return report(detached, request);
  } finally {
    source.close();
  }
}

function detach(source: Source): Detached | { readonly because: string } {
  try {
    return detachContent(source);
  } catch (error) {
    if (error instanceof Asn1Error) return { because: error.message };
    throw error;
  }
}

function report({ der, content }: Detached, request: VerifyFileRequest): VerificationReport {
  const { at, anchors, signer } = request;
  const { checks: found, signers } = inspectSignedData(der, {
    // A digest the file did not announce was not taken; the empty one fails (RFC 5652 §5.1 allows that).
    contentDigest: (digest) => content?.digests.get(digest) ?? Buffer.alloc(0),
    at,
    signingTime: 'present',
    ...(anchors === undefined ? {} : { anchors }),
    ...(signer === undefined ? {} : { expectedSigner: signer }),
  });
  const checks: Check[] = [enveloping(content), ...found.filter(({ name }) => name !== 'detached')];
  if (request.content !== undefined) checks.push(sameContent(content, request.content));
  return {
    ok: signers.length > 0 && checks.every(({ ok }) => ok),
    signatures: signers.length,
    checks,
  };
}

function enveloping(content: ContentFacts | undefined): Check {
  return {
    name: 'enveloping',
    ok: content !== undefined,
    detail:
      content === undefined ? 'The content is not inside.' : `${content.length} bytes of content inside.`,
  };
}

function sameContent(
  content: ContentFacts | undefined,
  expected: { readonly sha256: string; readonly length: number },
): Check {
  const ok =
    content?.length === expected.length && content.digests.get('sha256')?.toString('hex') === expected.sha256;
  return {
    name: 'content',
    ok,
    detail: ok ? 'The content is what was to be signed.' : 'The content is not what was to be signed.',
  };
}
