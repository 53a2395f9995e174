/** Checks an existing CAdES file before anything is added to it. */
import { DIGEST_LENGTH } from '../algorithms/algorithm-identifier.ts';
import type { HashName } from '../algorithms/hashes.ts';
import type { SignerInfo } from '../cms/parse.ts';
import { CryptoError, type DigestName } from '../core/types.ts';
import type { Source } from '../files/source.ts';
import { inspectParsedSignedData } from '../validation/signed-data/signed-data-report.ts';
import { integrityFailure } from '../validation/soundness.ts';
import type { ExistingSignature } from './existing-signature.ts';

/**
 * Checks every signature in the file: its value, its time-stamps, and its content when that is available.
 * @throws {CryptoError} `signature.mismatch`; `request.invalid` when there is none, or for CMS signatures that are
 * not CAdES
 */
export function assertIntact(existing: ExistingSignature, file: Pick<Source, 'path'>): void {
  const { faults } = examined(existing, file);
  const [fault] = faults;
  if (fault !== undefined) throw mismatch(fault, file);
}

/**
 * Returns the signatures that can be augmented; invalid ones beside them stay unchanged.
 * @throws {CryptoError} `signature.mismatch` when all are invalid; `request.invalid` as `assertIntact`
 */
export function intactSigners(
  existing: ExistingSignature,
  file: Pick<Source, 'path'>,
): readonly [SignerInfo, ...SignerInfo[]] {
  const { sound, faults } = examined(existing, file);
  const [first, ...more] = sound;
  if (first === undefined) throw mismatch(faults[0] ?? 'it can not be read', file);
  return [first, ...more];
}

function mismatch(fault: string, { path }: Pick<Source, 'path'>): CryptoError {
  return new CryptoError('signature.mismatch', `A signature in ${path} is broken: ${fault}.`);
}

function examined(
  { data, contentDigest }: ExistingSignature,
  { path }: Pick<Source, 'path'>,
): { readonly sound: readonly SignerInfo[]; readonly faults: readonly string[] } {
  if (data.signers.length === 0) throw new CryptoError('request.invalid', `${path} has no signature in it.`);
  if (data.signers.some(({ attributes }) => attributes === undefined)) {
    throw new CryptoError('request.invalid', 'A signature without signed attributes is none of CAdES.');
  }
  const facts = inspectParsedSignedData(data, {
    format: 'Cades',
    scope: { kind: 'content', description: 'the content' },
    contentDigest: (hash) => (isDigestName(hash) ? contentDigest(hash) : undefined),
  });
  const breaks = facts.map((one) =>
    one.certificate === undefined ? 'the certificate of its signer is not inside' : integrityFailure(one),
  );
  return {
    sound: data.signers.filter((_, index) => breaks[index] === undefined),
    faults: breaks.flatMap((fault) => fault ?? []),
  };
}

function isDigestName(hash: HashName): hash is DigestName {
  return Object.hasOwn(DIGEST_LENGTH, hash);
}

/** Archive time-stamps of older forms, and evidence records, cover whole sets, to which nothing may be added. */
const CLOSING_ATTRIBUTES: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.9.16.2.27',
  '1.2.840.113549.1.9.16.2.48',
  '0.4.0.1733.2.2',
  '1.2.840.113549.1.9.16.2.49',
  '1.2.840.113549.1.9.16.2.50',
]);

/** Checks that additions break nothing in the file. @throws {CryptoError} `request.invalid` */
export function assertExtensible({ data }: ExistingSignature, { path }: Pick<Source, 'path'>): void {
  const types = data.signers.flatMap(({ unsignedAttributes }) => unsignedAttributes?.types ?? []);
  if (!types.some((type) => CLOSING_ATTRIBUTES.has(type))) return;
  const message = `${path} has an archive time-stamp of an older form, which covers what would be added to.`;
  throw new CryptoError('request.invalid', message);
}
