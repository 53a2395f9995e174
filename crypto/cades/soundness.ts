/** What has to be true of an existing CAdES file before anything is added to it. */
import { DIGEST_LENGTH } from '../cms/algorithm-identifier.ts';
import { signedDataFacts } from '../cms/facts.ts';
import type { HashName } from '../cms/hashes.ts';
import type { SignerInfo } from '../cms/parse.ts';
import type { Source } from '../files/source.ts';
import { CryptoError, type DigestName } from '../types.ts';
import { breakIn } from '../validation/soundness.ts';
import type { ExistingSignature } from './existing-signature.ts';

/**
 * Every signature in the file has to be sound: its value and its time-stamps, and its content when that is at hand.
 * @throws {CryptoError} `signature.mismatch`; `request.invalid` when there is none, or for CMS signatures that are not
 *   CAdES
 */
export function assertSound(existing: ExistingSignature, file: Pick<Source, 'path'>): void {
  const { faults } = examined(existing, file);
  const [fault] = faults;
  if (fault !== undefined) throw mismatch(fault, file);
}

/**
 * The signatures that something can be built on; broken ones beside them stay what they are.
 * @throws {CryptoError} `signature.mismatch` when all are broken; `request.invalid` as `assertSound`
 */
export function soundSigners(
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
  const facts = signedDataFacts(data, {
    format: 'Cades',
    scope: { kind: 'content', description: 'the content' },
    contentDigest: (hash) => (isDigestName(hash) ? contentDigest(hash) : undefined),
  });
  const breaks = facts.map((one) =>
    one.certificate === undefined ? 'the certificate of its signer is not inside' : breakIn(one),
  );
  return {
    sound: data.signers.filter((_, index) => breaks[index] === undefined),
    faults: breaks.flatMap((fault) => fault ?? []),
  };
}

function isDigestName(hash: HashName): hash is DigestName {
  return Object.hasOwn(DIGEST_LENGTH, hash);
}

/** Archive time-stamps of older forms, and evidence records, cover whole sets that must not grow any more. */
const CLOSING: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.9.16.2.27',
  '1.2.840.113549.1.9.16.2.48',
  '0.4.0.1733.2.2',
  '1.2.840.113549.1.9.16.2.49',
  '1.2.840.113549.1.9.16.2.50',
]);

/** @throws {CryptoError} `request.invalid` when something in the file would break if anything were added */
export function assertOpen({ data }: ExistingSignature, { path }: Pick<Source, 'path'>): void {
  const types = data.signers.flatMap(({ unsignedAttributes }) => unsignedAttributes?.types ?? []);
  if (!types.some((type) => CLOSING.has(type))) return;
  const message = `${path} has an archive time-stamp of an older form, which covers what would be added to.`;
  throw new CryptoError('request.invalid', message);
}
