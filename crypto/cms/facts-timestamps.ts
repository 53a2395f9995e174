/** The time-stamps a SignerInfo carries, in the order in which they prove each other (EN 319 122-1 §5.2.8, §5.3, §5.5.3). */
import { createHash } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import { type Element, encoded } from '../asn1/read.ts';
import type { Certificate } from '../certificates/certificate.ts';
import { checkToken } from '../timestamps/check.ts';
import { imprintOf } from '../timestamps/imprint.ts';
import type { TimestampToken } from '../timestamps/token.ts';
import type { Finding, TimestampFacts } from '../validation/facts.ts';
import { readTimestampFacts, timestampFacts } from '../validation/timestamp-facts.ts';
import {
  archiveImprintData,
  coveredParts,
  type HashIndex,
  indexFault,
  readHashIndex,
} from './archive-imprint.ts';
import { type HashName, hashNamed } from './hashes.ts';
import type { SignedData, SignerInfo } from './parse.ts';

export interface StampedSigner {
  readonly data: SignedData;
  readonly signer: SignerInfo;
  /** Digest of the content; undefined when it is not at hand. */
  readonly contentDigest: (hash: HashName) => Buffer | undefined;
  readonly certificates: readonly Certificate[];
}

/** Time-stamps of one signature; each costs a public-key operation. Renewed archives have a handful. */
const MAX_TIMESTAMPS = 32;

/** Older kinds, which are named in the report and prove nothing here. */
const OUTDATED: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.9.16.2.25', 'a time-stamp over references (CAdES-C)'],
  ['1.2.840.113549.1.9.16.2.26', 'a time-stamp over references (CAdES-X)'],
  ['1.2.840.113549.1.9.16.2.27', 'an archive time-stamp of the first form'],
  ['1.2.840.113549.1.9.16.2.48', 'an archive time-stamp of the second form'],
]);

export interface FoundTimestamps {
  /** Oldest first: whatever an archive time-stamp covers stands before it; what stands before it need not be covered. */
  readonly timestamps: readonly TimestampFacts[];
  readonly findings: readonly Finding[];
}

export function timestampsOf(stamped: StampedSigner): FoundTimestamps {
  const { signer, contentDigest, certificates } = stamped;
  const signed = valuesOf(signer.attributes?.values, OID.contentTimestamp);
  const plain = valuesOf(signer.unsignedAttributes?.values, OID.signatureTimestamp);
  const archived = valuesOf(signer.unsignedAttributes?.values, OID.archiveTimestampV3);
  const findings = outdated(signer);
  if (signed.length + plain.length + archived.length > MAX_TIMESTAMPS) {
    const message = `More than ${MAX_TIMESTAMPS} time-stamps are not looked at.`;
    return {
      timestamps: [],
      findings: [...findings, { status: 'warning', type: 'timestamp.count', message }],
    };
  }
  const content = signed.map((value) =>
    timestampFacts('content', encoded(value), (name) => digestNamed(name, contentDigest), certificates),
  );
  const signature = plain.map((value) =>
    timestampFacts('signature', encoded(value), imprintOf(signer.signature), certificates),
  );
  const archives = archived
    .map((value) => archiveFacts(value, stamped))
    .sort((left, right) => timeOf(left) - timeOf(right));
  return { timestamps: [...content, ...inOrderOfProof(signature, archives)], findings };
}

function valuesOf(
  values: ReadonlyMap<string, readonly Element[]> | undefined,
  type: string,
): readonly Element[] {
  return values?.get(type) ?? [];
}

function outdated({ unsignedAttributes }: SignerInfo): Finding[] {
  if (unsignedAttributes === undefined) return [];
  return [...new Set(unsignedAttributes.types)].flatMap((type) => {
    const kind = OUTDATED.get(type);
    if (kind === undefined) return [];
    const message = `It has ${kind}, which is not looked at.`;
    return [{ status: 'warning' as const, type: 'timestamp.outdated', message }];
  });
}

function digestNamed(
  name: string,
  contentDigest: (hash: HashName) => Buffer | undefined,
): Buffer | undefined {
  const hash = hashNamed(name);
  return hash === undefined ? undefined : contentDigest(hash);
}

function archiveFacts(value: Element, stamped: StampedSigner): TimestampFacts {
  let index: HashIndex | undefined;
  const facts = readTimestampFacts('archive', encoded(value), (token) => {
    const found = indexIn(token, stamped);
    if ('fault' in found) {
      const message = `What the time-stamp covers is not what is there: ${found.fault}.`;
      const subIndication = 'HASH_FAILURE';
      return [{ status: 'failed', type: 'timestamp.index', message, subIndication }];
    }
    index = found;
    return checkToken(token, (name) => archiveDigest(name, found, stamped), stamped.certificates);
  });
  return { ...facts, covers: covering(index, stamped) };
}

/** By whether the bytes stand in something that the index names; worked out when it is asked for. */
function covering(
  index: HashIndex | undefined,
  { data, signer }: StampedSigner,
): NonNullable<TimestampFacts['covers']> {
  let parts: readonly Buffer[] | undefined;
  return (der) => {
    if (index === undefined) return false;
    parts ??= coveredParts(index, data, signer);
    return parts.some((part) => part.includes(der));
  };
}

function indexIn(
  token: TimestampToken,
  { data, signer }: StampedSigner,
): HashIndex | { readonly fault: string } {
  try {
    const index = readHashIndex(token.signedData);
    const fault = indexFault(index, data, signer);
    return fault === undefined ? index : { fault };
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    return { fault: error.message };
  }
}

function archiveDigest(name: string, index: HashIndex, stamped: StampedSigner): Buffer | undefined {
  const hash = hashNamed(name);
  const content = hash === undefined ? undefined : stamped.contentDigest(hash);
  if (hash === undefined || content === undefined) return undefined;
  const data = archiveImprintData(stamped.data, stamped.signer, content, index.encoding);
  return createHash(hash).update(data).digest();
}

/** A time-stamp that no archive time-stamp covers was added after all of them. */
function inOrderOfProof(
  plain: readonly TimestampFacts[],
  archives: readonly TimestampFacts[],
): TimestampFacts[] {
  const ordered: TimestampFacts[] = [];
  const left = new Set(plain);
  for (const archive of archives) {
    for (const stamp of left) {
      if (stamp.token === undefined || archive.covers?.(stamp.token.der) !== true) continue;
      ordered.push(stamp);
      left.delete(stamp);
    }
    ordered.push(archive);
  }
  return [...ordered, ...left];
}

function timeOf({ token }: TimestampFacts): number {
  return token?.genTime ?? 0;
}
