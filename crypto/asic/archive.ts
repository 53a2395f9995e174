/**
 * Time-stamps over whole containers that keep CAdES signatures in ASiC-E checkable (EN 319 162-1 §4.4.4 and Annex A.7): a
 * manifest lists everything there is, and a time-stamp covers the manifest.
 */
import { createHash } from 'node:crypto';
import type { EvidenceSource, SigningServices, TimestampAuthority } from '../authorities.ts';
import { amendSignedData } from '../cms/amend.ts';
import type { Source } from '../files/source.ts';
import { readTimestampToken } from '../timestamps/read.ts';
import { CryptoError, type DigestName } from '../types.ts';
import type { Container } from './container.ts';
import { freeName, NAMES } from './container-kinds.ts';
import { readManifest } from './manifest-read.ts';
import { type ListedMember, manifestText } from './manifest-text.ts';
import { digestOf } from './measured-source.ts';
import { type AddedMember, bytesMember, type ContainerEdit, textMember } from './write-container.ts';
import { nameOfUri } from './zip-names.ts';

const TOKEN_TYPE = 'application/vnd.etsi.timestamp-token';

export interface ArchiveRequest {
  /** Of the listed digests and of the imprint. */
  readonly digest: DigestName;
  /** Now, milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Adds the archive manifest over all that a container has after an edit, and its time-stamp. The newest one there is so
 * far gets a number, and the evidence for its time-stamp, and is the root of the new one.
 * @throws {CryptoError} `request.invalid` when a service is not there, those of the services; `asic.malformed`
 */
export async function archived(
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
  const token = await stamped(Buffer.from(text), request.digest, timestamps);
  const added = [textMember(NAMES.archiveManifest, text), bytesMember(proof, token)];
  return { dropped: before.edit.dropped, added: [...before.edit.added, ...added] };
}

function stamped(bytes: Buffer, digest: DigestName, authority: TimestampAuthority): Promise<Buffer> {
  return authority.stamp(createHash(digest).update(bytes).digest(), digest);
}

function named({ path }: AddedMember): { readonly name: string } {
  return { name: path };
}

/** The newest archive manifest under a number, and its time-stamp with the evidence for it. */
async function numbered(
  container: Container,
  edit: ContainerEdit,
  evidence: EvidenceSource,
  at: number,
): Promise<{ readonly edit: ContainerEdit; readonly root: string }> {
  const bytes = container.bytes(NAMES.archiveManifest);
  const manifest = readManifest(bytes);
  const proof = 'because' in manifest ? undefined : nameOfUri(manifest.proof);
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

/** All members but folders and the media type. */
function membersAfter(container: Container | undefined, { dropped, added }: ContainerEdit): Source[] {
  const roles = ['data', 'xades', 'cades', 'manifest', 'archive-manifest', 'timestamp'] as const;
  const kept = container?.named(...roles).filter((name) => !dropped.has(name)) ?? [];
  const sources = kept.flatMap((name) => container?.member(name) ?? []);
  return [...sources, ...added.filter(({ path }) => path !== 'mimetype')];
}

/** Everything that archive manifests list, which therefore can't change any more. @throws {CryptoError} `asic.malformed` */
export function archivedNames(container: Container): Set<string> {
  const names = new Set<string>();
  for (const manifestName of container.named('archive-manifest')) {
    const manifest = readManifest(container.bytes(manifestName));
    if ('because' in manifest)
      throw new CryptoError('asic.malformed', `${manifestName}: ${manifest.because}.`);
    for (const { uri } of manifest.references) names.add(nameOfUri(uri) ?? '');
  }
  return names;
}
