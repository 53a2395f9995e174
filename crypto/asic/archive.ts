/**
 * Archive time-stamps that keep CAdES signatures in ASiC-E verifiable (EN 319 162-1 §4.4.4 and Annex A.7): a manifest
 * lists all members, and a time-stamp covers the manifest.
 */
import { createHash } from 'node:crypto';
import { amendSignedData } from '../cms/amend.ts';
import type { Source } from '../core/files.ts';
import { CryptoError, type DigestName } from '../core/types.ts';
import type { EvidenceSource, SigningServices, TimestampAuthority } from '../evidence/authorities.ts';
import { readTimestampToken } from '../evidence/timestamp-reader.ts';
import { nameOfUri } from '../zip/zip-names.ts';
import { type Container, freeName, NAMES } from './container.ts';
import { digestOf } from './hashing-source.ts';
import { type ListedMember, manifestText, readManifest } from './manifest.ts';
import { type AddedMember, bytesMember, type ContainerEdit, textMember } from './write-container.ts';

const TOKEN_TYPE = 'application/vnd.etsi.timestamp-token';

interface ArchiveRequest {
  /** Digest algorithm of the listed members and of the message imprint. */
  readonly digest: DigestName;
  /** Current time, milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Adds an archive manifest over all members after an edit, and its time-stamp. The newest existing manifest is
 * renamed with a number, gets the evidence for its time-stamp, and becomes the root of the new one.
 * @throws {CryptoError} `request.invalid` when a service is not configured, errors of the services; `asic.malformed`
 */
export async function withArchiveManifest(
  container: Container | undefined,
  edit: ContainerEdit,
  request: ArchiveRequest,
  services: SigningServices,
): Promise<ContainerEdit> {
  const { timestamps, evidence } = services;
  if (timestamps === undefined || evidence === undefined) {
    throw new CryptoError(
      'request.invalid',
      'Level LTA needs a time-stamp authority and revocation answers.',
    );
  }
  const before = container?.has(NAMES.archiveManifest)
    ? await numbered(container, edit, evidence, request.at)
    : { edit, root: undefined };
  const members = membersAfter(container, before.edit);
  const listed = members.map(
    (source): ListedMember => ({
      name: source.path,
      digest: digestOf(source, request.digest),
      isRoot: source.path === before.root,
    }),
  );
  const taken = new Set(
    [...(container?.directory.entries ?? []), ...edit.added.map(named)].map(({ name }) => name),
  );
  const proof = freeName('timestamp', 'tst', (name) => taken.has(name));
  const text = manifestText({
    proof: { name: proof, mimeType: TOKEN_TYPE },
    digest: request.digest,
    members: listed,
  });
  const token = await withTimestamp(Buffer.from(text), request.digest, timestamps);
  const added = [textMember(NAMES.archiveManifest, text), bytesMember(proof, token)];
  return { dropped: before.edit.dropped, added: [...before.edit.added, ...added] };
}

function withTimestamp(bytes: Buffer, digest: DigestName, authority: TimestampAuthority): Promise<Buffer> {
  return authority.stamp(createHash(digest).update(bytes).digest(), digest);
}

function named({ path }: AddedMember): { readonly name: string } {
  return { name: path };
}

/** Numbers the newest archive manifest, and its time-stamp with the evidence for it. */
async function numbered(
  container: Container,
  edit: ContainerEdit,
  evidence: EvidenceSource,
  at: number,
): Promise<{ readonly edit: ContainerEdit; readonly root: string }> {
  const bytes = container.bytes(NAMES.archiveManifest);
  const manifest = readManifest(bytes);
  const proof = 'reason' in manifest ? undefined : nameOfUri(manifest.proof);
  if (proof === undefined || !container.has(proof)) {
    throw new CryptoError('asic.malformed', 'The archive manifest names no time-stamp.');
  }
  const token = container.bytes(proof);
  const { certificate, certificates } = readTimestampToken(token);
  if (certificate === undefined) {
    throw new CryptoError('revocation.missing', "A time-stamp's signer can't be found in it.");
  }
  const found = await evidence.collect(
    [certificate.der],
    certificates.map(({ der }) => der),
    at,
  );
  const root = freeName('ASiCArchiveManifest', 'xml', (name) => container.has(name));
  const added = [bytesMember(root, bytes), bytesMember(proof, amendSignedData(token, found))];
  return {
    root,
    edit: {
      dropped: new Set([...edit.dropped, NAMES.archiveManifest, proof]),
      added: [...edit.added, ...added],
    },
  };
}

/** Lists all members except folders and `mimetype`. */
function membersAfter(container: Container | undefined, { dropped, added }: ContainerEdit): Source[] {
  const roles = ['data', 'xades', 'cades', 'manifest', 'archive-manifest', 'timestamp'] as const;
  const kept = container?.named(...roles).filter((name) => !dropped.has(name)) ?? [];
  const sources = kept.flatMap((name) => container?.member(name) ?? []);
  return [...sources, ...added.filter(({ path }) => path !== 'mimetype')];
}

/** Names of members that archive manifests list; they can no longer change. @throws {CryptoError} `asic.malformed` */
export function archivedNames(container: Container): Set<string> {
  const names = new Set<string>();
  for (const manifestName of container.named('archive-manifest')) {
    const manifest = readManifest(container.bytes(manifestName));
    if ('reason' in manifest) throw new CryptoError('asic.malformed', `${manifestName}: ${manifest.reason}.`);
    for (const { uri } of manifest.references) names.add(nameOfUri(uri) ?? '');
  }
  return names;
}
