/** Comparison of the two implementations' reports on one file, by signature. */
import type { IndependentReport, IndependentSignature } from './types.ts';

/** Members of the engine's report that are compared; the report itself is assignable. */
export interface ComparedSignature {
  readonly isTimestamp: boolean;
  readonly certificate: { readonly thumbprint: string } | undefined;
  readonly results: { readonly errors: readonly { readonly type: string }[] };
}

export type Agreement = 'agrees' | 'disagrees' | 'not-comparable';

export interface Comparison {
  readonly verdict: Agreement;
  /** One sentence for each disagreement and for each signature that could not be compared. */
  readonly details: readonly string[];
}

/** Errors about certificates and times, which the second implementation does not check. */
const OUTSIDE = /^(chain|revocation|certificate|timestamp|time|changes|scope|policy)\b/;
/** Cryptographic errors, which both implementations check. */
const CRYPTOGRAPHIC: ReadonlySet<string> = new Set(['signature.value', 'digest.content']);

/**
 * Compares both reports. Signatures are matched by the signer's certificate. A signature that the engine refuses for
 * its structure, chain or time is not compared.
 */
export function compareReports(
  engine: readonly ComparedSignature[],
  { signatures }: IndependentReport,
): Comparison {
  const own = signatures.filter(({ kind }) => kind !== 'signature-timestamp');
  const nameless = own.filter(({ signer }) => signer === undefined).length;
  const details: string[] = [];
  for (const signer of new Set(engine.map(signerOf))) {
    const ours = engine.filter((one) => signerOf(one) === signer);
    const theirs = own.filter((one) => one.signer === signer);
    const open = nameless + count(theirs, 'not-comparable');
    const intact = ours.filter(isIntact).length;
    const broken = ours.filter(isBroken).length;
    const reasons = theirs.filter(({ verdict }) => verdict === 'invalid').map(({ reason }) => reason);
    if (intact > count(theirs, 'valid') + open)
      details.push(
        `The engine accepts a signature that the second implementation does not: ${reasons[0] ?? 'it finds none by this certificate'}`,
      );
    if (broken > count(theirs, 'invalid') + open)
      details.push('The second implementation accepts a signature whose digest or value the engine refuses.');
  }
  const tokens = signatures.find(
    ({ kind, verdict }) => kind === 'signature-timestamp' && verdict === 'invalid',
  );
  if (tokens && engine.every(({ results }) => results.errors.length === 0))
    details.push(`The engine accepts a time-stamp that the second implementation does not: ${tokens.reason}`);
  if (details.length > 0) return { verdict: 'disagrees', details };
  return unless(signatures);
}

/**
 * Checks the result of one signing operation: every new signature and time-stamp is valid, and one is by the expected
 * signer.
 * @param before Base64 signature values of the file before signing
 * @param signer lower-case hex SHA-256 of the certificate; undefined: any; null: no signature was added (the file was
 *   augmented)
 */
export function judgeAdded(
  { signatures }: IndependentReport,
  before: ReadonlySet<string>,
  signer: string | null | undefined,
): Comparison {
  const added = signatures.filter(({ value }) => value === undefined || !before.has(value));
  const details = added.filter(({ verdict }) => verdict === 'invalid').map(({ reason }) => reason);
  const mayBeIts = (one: IndependentSignature) =>
    one.kind === 'signature' &&
    (signer === undefined ||
      one.signer === signer ||
      (one.signer === undefined && one.verdict === 'not-comparable'));
  if (signer !== null && !added.some(mayBeIts))
    details.push('It finds no new signature by the certificate of the profile.');
  return details.length > 0 ? { verdict: 'disagrees', details } : unless(added);
}

function unless(signatures: readonly IndependentSignature[]): Comparison {
  const open = signatures.filter(({ verdict }) => verdict === 'not-comparable').map(({ reason }) => reason);
  return {
    verdict: open.length > 0 || signatures.length === 0 ? 'not-comparable' : 'agrees',
    details: [...new Set(open)],
  };
}

function count(
  signatures: readonly IndependentSignature[],
  verdict: IndependentSignature['verdict'],
): number {
  return signatures.filter((one) => one.verdict === verdict).length;
}

function signerOf({ certificate }: ComparedSignature): string | undefined {
  return certificate && Buffer.from(certificate.thumbprint, 'base64').toString('hex');
}

function isIntact({ results }: ComparedSignature): boolean {
  return results.errors.every(({ type }) => OUTSIDE.test(type));
}

function isBroken({ results }: ComparedSignature): boolean {
  return results.errors.some(({ type }) => CRYPTOGRAPHIC.has(type));
}
