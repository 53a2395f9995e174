/** Time-stamps of a SignerInfo in the order of proof (EN 319 122-1 §5.2.8, §5.3, §5.5.3). */
import { createHash } from 'node:crypto';
import { OID } from '../../asn1/oids.ts';
import { Asn1Error, type Element, encoded } from '../../asn1/read.ts';
import {
  archiveImprintData,
  coveredElements,
  type HashIndex,
  indexFault,
  readHashIndex,
} from '../../cms/archive-imprint.ts';
import type { SignedData, SignerInfo } from '../../cms/parse.ts';
import type { Finding } from '../../core/validation-report.ts';
import { checkToken } from '../../evidence/timestamp-checks.ts';
import { imprintOf, type TimestampToken } from '../../evidence/timestamp-reader.ts';
import { type HashName, hashNamed } from '../../x509/algorithm-identifier.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { readTimestampInfo, type TimestampInfo, timestampInfo } from '../signature-info.ts';

interface TimestampedSigner {
  readonly data: SignedData;
  readonly signer: SignerInfo;
  /** Computes the digest of the content; undefined when it is not available. */
  readonly contentDigest: (hash: HashName) => Buffer | undefined;
  readonly certificates: readonly Certificate[];
}

/** Limit of time-stamps of one signature; each costs a public-key operation. Renewed archives have a handful. */
const MAX_TIMESTAMPS = 32;

/** Older kinds, which the report names without using them as proof. */
const OUTDATED: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.9.16.2.25', 'a time-stamp over references (CAdES-C)'],
  ['1.2.840.113549.1.9.16.2.26', 'a time-stamp over references (CAdES-X)'],
  ['1.2.840.113549.1.9.16.2.27', 'an archive time-stamp of the first form'],
  ['1.2.840.113549.1.9.16.2.48', 'an archive time-stamp of the second form'],
]);

interface FoundTimestamps {
  /** Oldest first: an archive time-stamp covers only earlier data, and not necessarily all of it. */
  readonly timestamps: readonly TimestampInfo[];
  readonly findings: readonly Finding[];
}

export function timestampsOf(stamped: TimestampedSigner): FoundTimestamps {
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
    timestampInfo('content', encoded(value), (name) => digestNamed(name, contentDigest), certificates),
  );
  const signature = plain.map((value) =>
    timestampInfo('signature', encoded(value), imprintOf(signer.signature), certificates),
  );
  const archives = archived
    .map((value) => archiveTimestampInfo(value, stamped))
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

function archiveTimestampInfo(value: Element, stamped: TimestampedSigner): TimestampInfo {
  let index: HashIndex | undefined;
  const facts = readTimestampInfo('archive', encoded(value), (token) => {
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

/** Tests if the archive hash index names the bytes; computed on demand. */
function covering(
  index: HashIndex | undefined,
  { data, signer }: TimestampedSigner,
): NonNullable<TimestampInfo['covers']> {
  let parts: readonly Buffer[] | undefined;
  return (der) => {
    if (index === undefined) return false;
    parts ??= coveredElements(index, data, signer);
    return parts.some((part) => part.includes(der));
  };
}

function indexIn(
  token: TimestampToken,
  { data, signer }: TimestampedSigner,
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

function archiveDigest(name: string, index: HashIndex, stamped: TimestampedSigner): Buffer | undefined {
  const hash = hashNamed(name);
  const content = hash === undefined ? undefined : stamped.contentDigest(hash);
  if (hash === undefined || content === undefined) return undefined;
  const data = archiveImprintData(stamped.data, stamped.signer, content, index.encoding);
  return createHash(hash).update(data).digest();
}

/** Orders the time-stamps; one that no archive time-stamp covers was added after all of them. */
function inOrderOfProof(
  plain: readonly TimestampInfo[],
  archives: readonly TimestampInfo[],
): TimestampInfo[] {
  const ordered: TimestampInfo[] = [];
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

function timeOf({ token }: TimestampInfo): number {
  return token?.genTime ?? 0;
}
