/**
 * Quick check of the signatures of a PDF: PAdES baseline B-B for the newest one (ETSI EN 319 142-1, clause 6.3),
 * integrity for earlier ones.
 */
import { openSource, type Source } from '../core/files.ts';
import {
  type Check,
  CryptoError,
  type InputFile,
  type VerificationReport,
  type VerifyFileRequest,
} from '../core/types.ts';
import { openIntactPdf, type PdfDocument, PdfSyntaxError, withPdf } from '../pdf/index.ts';
import { verifySignedData } from '../validation/signed-data/verify-signed-data.ts';
import type { HashName } from '../x509/signature-algorithms.ts';
import { type FoundSignature, findSignatures } from './fields/signatures.ts';
import { FileDigests } from './incremental-file.ts';

/** Most signatures checked; each costs a public-key operation. */
const MAX_SIGNATURES = 500;

/**
 * Opens the file and checks all signatures. The newest one must cover the whole file, be of the expected
 * signer and trusted if the request requires it; earlier ones must cover an earlier state of the file and be intact,
 * of any signer.
 *
 * Checks, for the newest signature without a prefix and for earlier ones with `earlier-<n>.`: pdf, signature, only,
 * sub-filter, claimed-time, byte-range, contents, content (the file contains the bytes to be signed), and
 * those of the CMS.
 * @throws {CryptoError} `input.unreadable`, `input.changed`; everything else is a failed check
 */
export function verifyPades(request: VerifyFileRequest<InputFile>): VerificationReport {
  const source = openSource(request.path, request.password);
  try {
    const report = verifySignature(source, request);
    source.assertUnchanged();
    return report;
  } finally {
    source.close();
  }
}

function verifySignature(source: Source, request: VerifyFileRequest<InputFile>): VerificationReport {
  let found: readonly FoundSignature[];
  let hasStore = false;
  const read = (pdf: PdfDocument): readonly FoundSignature[] => {
    hasStore = pdf.catalog.get('DSS') !== undefined;
    return findSignatures(pdf, MAX_SIGNATURES + 1);
  };
  try {
    found = request.only === undefined ? withPdf(source, read) : read(openIntactPdf(source));
  } catch (error) {
    const isOfPdf =
      error instanceof PdfSyntaxError || (error instanceof CryptoError && error.code.startsWith('pdf.'));
    if (!isOfPdf) throw error;
    return { ok: false, signatures: 0, checks: [{ name: 'pdf', ok: false, detail: error.message }] };
  }
  const checks: Check[] = [{ name: 'pdf', ok: true, detail: 'The PDF can be read.' }];
  const newest = found.at(-1);
  checks.push({
    name: 'signature',
    ok: newest !== undefined && found.length <= MAX_SIGNATURES,
    detail: `${found.length} signed signature fields.`,
  });
  if (request.only !== undefined) checks.push(checkOnly(found, request.only, hasStore));
  if (newest !== undefined && found.length <= MAX_SIGNATURES) {
    const digests = new FileDigests(source, found, request.content?.length);
    found.forEach((signature, index) => {
      const end = found[index + 1]?.coverage?.placeholderStart;
      if (signature === newest) {
        checks.push(...checkNewest(signature, source.size, digests.of(signature), request));
        return;
      }
      const results = checkEarlier(signature, end, digests.of(signature));
      checks.push(...results.map((check) => ({ ...check, name: `earlier-${index + 1}.${check.name}` })));
    });
    if (request.content !== undefined) checks.push(checkContent(request.content, newest, digests));
  }
  return { ok: checks.every((check) => check.ok), signatures: found.length, checks };
}

function checkOnly(found: readonly FoundSignature[], field: string, hasStore: boolean): Check {
  const names = found.flatMap((one) => [one.field, ...one.alsoIn]);
  return {
    name: 'only',
    ok: names.length === 1 && names[0] === field && !hasStore,
    detail: hasStore
      ? 'The file holds validation material.'
      : `${names.length} fields have a signature, among them ${names.includes(field) ? '' : 'not '}${field}.`,
  };
}

type ContentDigest = ((digest: HashName) => Buffer) | undefined;

function checkNewest(
  signature: FoundSignature,
  size: number,
  contentDigest: ContentDigest,
  request: VerifyFileRequest<InputFile>,
): readonly Check[] {
  const { subFilter, claimedTime, coverage } = signature;
  const checks: Check[] = [
    {
      name: 'sub-filter',
      ok: subFilter === 'ETSI.CAdES.detached',
      detail: `/SubFilter is ${subFilter ?? 'missing'}.`,
    },
    {
      name: 'claimed-time',
      ok: claimedTime !== undefined && /^D:\d{4}(\d\d){0,5}/.test(claimedTime),
      detail: `/M is ${claimedTime ?? 'missing'}.`,
    },
    {
      name: 'byte-range',
      ok: coverage !== undefined && coverage.end === size,
      detail: signature.coverageFault ?? `It ends at ${coverage?.end ?? 0} of ${size} bytes.`,
    },
    checkContents(signature),
  ];
  if (signature.cms === undefined || contentDigest === undefined) return checks;
  return checks.concat(
    verifySignedData(signature.cms, {
      contentDigest,
      at: request.at,
      signingTime: 'absent',
      ...(request.anchors === undefined ? {} : { anchors: request.anchors }),
      ...(request.signer === undefined ? {} : { expectedSigner: request.signer }),
    }),
  );
}

/** Sub-filters whose integrity can be checked. */
const CMS_FORMS = ['ETSI.CAdES.detached', 'adbe.pkcs7.detached'];

/**
 * Checks of integrity. Trust and validity of an earlier signer's certificate are not evaluated
 * here: they do not affect the added signature.
 */
const INTEGRITY = new Set([
  'structure',
  'detached',
  'signer-certificate',
  'signed-attributes',
  'content-type',
  'message-digest',
  'signing-certificate',
  'signature-value',
]);

function checkEarlier(
  signature: FoundSignature,
  nextHole: number | undefined,
  contentDigest: ContentDigest,
): readonly Check[] {
  const { subFilter = 'missing', coverage } = signature;
  const ok = coverage !== undefined && nextHole !== undefined && coverage.end <= nextHole;
  const checks: Check[] = [
    {
      name: 'byte-range',
      ok,
      detail:
        signature.coverageFault ??
        `It ends at ${coverage?.end ?? 0}, the next signature is at ${nextHole ?? 0}.`,
    },
  ];
  if (!CMS_FORMS.includes(subFilter)) {
    checks.push({
      name: 'sub-filter',
      ok: true,
      detail: `/SubFilter is ${subFilter}: its value is not judged.`,
    });
    return checks;
  }
  checks.push(checkContents(signature));
  if (signature.cms === undefined || contentDigest === undefined) return checks;
  const verdict = verifySignedData(signature.cms, { contentDigest, at: 0, signingCertificate: 'if-present' });
  return checks.concat(verdict.filter(({ name }) => INTEGRITY.has(name)));
}

function checkContents({ cms, contentsFault }: FoundSignature): Check {
  return {
    name: 'contents',
    ok: contentsFault === undefined,
    detail: contentsFault ?? `A structure of ${cms?.length ?? 0} bytes, then zeros only.`,
  };
}

function checkContent(
  content: { readonly sha256: string; readonly length: number },
  newest: FoundSignature,
  digests: FileDigests,
): Check {
  const covered = newest.coverage !== undefined && content.length <= newest.coverage.placeholderStart;
  const ok = covered && digests.prefix().toString('hex') === content.sha256.toLowerCase();
  return {
    name: 'content',
    ok,
    detail: ok
      ? `The file begins with all ${content.length} bytes that were to be signed.`
      : `The file does not begin with the ${content.length} bytes that were to be signed.`,
  };
}
