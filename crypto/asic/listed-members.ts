/** Comparison of a manifest's entries with the members. */
import { createHash } from 'node:crypto';
import { type AlgorithmUse, type Finding, failed, passed, warned } from '../core/validation-report.ts';
import type { HashName } from '../x509/signature-algorithms.ts';
import { nameOfUri, printableName } from '../zip/zip-names.ts';
import type { Container } from './container.ts';
import { MAX_MANIFEST, type Manifest, readManifest } from './manifest.ts';
import type { SignedTypes } from './media-types.ts';

export interface ListedMembers {
  readonly manifestName: string;
  /** Bytes of the manifest, which a signature or time-stamp covers. */
  readonly bytes: Buffer;
  /** Member with the signature or time-stamp of the manifest; undefined when the manifest can't be read. */
  readonly proof: string | undefined;
  /** Names of the listed members. */
  readonly names: ReadonlySet<string>;
  /** Listed members with the listed digest. */
  readonly good: ReadonlySet<string>;
  /** Media types that the manifest states. */
  readonly types: SignedTypes;
  readonly findings: readonly Finding[];
  readonly algorithms: readonly AlgorithmUse[];
}

/** Digests of members, each computed once. */
export class MemberDigests {
  readonly #container: Container;
  readonly #digests = new Map<string, Buffer>();

  constructor(container: Container) {
    this.#container = container;
  }

  /** Digest of a member; undefined when there is no such member. */
  of(name: string, hash: HashName): Buffer | undefined {
    const key = `${hash} ${name}`;
    const source = this.#container.member(name);
    if (source === undefined) return undefined;
    let digest = this.#digests.get(key);
    if (digest === undefined) {
      const made = createHash(hash);
      for (const piece of source.chunks()) made.update(piece);
      digest = made.digest();
      this.#digests.set(key, digest);
    }
    return digest;
  }
}

/** Compares each entry with its member. Findings: `structure.manifest`, `digest.member`, `algorithm.digest`. */
export function listedMembers(
  container: Container,
  manifestName: string,
  digests: MemberDigests,
): ListedMembers {
  const bytes = container.bytes(manifestName, MAX_MANIFEST);
  const manifest = readManifest(bytes);
  const named = printableName(manifestName);
  if ('reason' in manifest) {
    const message = `The manifest ${named} is not of the accepted form: ${manifest.reason}.`;
    const finding = failed('structure.manifest', message, manifest.subIndication);
    return {
      manifestName,
      bytes,
      proof: undefined,
      names: new Set(),
      good: new Set(),
      types: [],
      findings: [finding],
      algorithms: [],
    };
  }
  const good = new Set<string>();
  const findings = manifest.references.flatMap((reference) => {
    const finding = fault(reference, digests);
    const name = nameOfUri(reference.uri);
    if (finding === undefined && name !== undefined) good.add(name);
    return finding ?? [];
  });
  if (findings.length === 0) {
    findings.push(
      passed(
        'digest.member',
        'Every file that the manifest lists is the one that was listed.',
        `${good.size}`,
      ),
    );
  }
  if (manifest.isCut) {
    const message = 'Comments cut digests of the manifest, of which some programs read the first piece only.';
    findings.push(warned('structure.comment', message, named));
  }
  const hashes = new Set(manifest.references.map(({ hash, algorithm }) => hash ?? algorithm));
  const names = new Set(manifest.references.flatMap(({ uri }) => nameOfUri(uri) ?? []));
  const algorithms = [...hashes].map((name) => ({ name, where: 'digests in the manifest' }));
  const types = manifest.references.flatMap(({ uri, mimeType }) => {
    const name = nameOfUri(uri);
    return name === undefined || mimeType === undefined ? [] : [[name, mimeType] as const];
  });
  const proof = nameOfUri(manifest.proof);
  return { manifestName, bytes, proof, names, good, types, findings, algorithms };
}

function fault(
  { uri, hash, algorithm, digest }: Manifest['references'][number],
  digests: MemberDigests,
): Finding | undefined {
  const detail = printableName(uri);
  if (hash === undefined) {
    const message = `The digest algorithm ${printableName(algorithm)} is not known.`;
    return failed('algorithm.digest', message, 'CRYPTO_CONSTRAINTS_FAILURE', detail);
  }
  const name = nameOfUri(uri);
  const actual = name === undefined ? undefined : digests.of(name, hash);
  if (actual === undefined) {
    const message = 'A file that the manifest lists is not in the container.';
    return failed('digest.member', message, 'SIGNED_DATA_NOT_FOUND', detail);
  }
  if (actual.equals(digest)) return undefined;
  return failed('digest.member', 'A file is not the one that the manifest lists.', 'HASH_FAILURE', detail);
}
