/** What a manifest says of the members it lists, compared with the members. */
import { createHash } from 'node:crypto';
import type { HashName } from '../cms/hashes.ts';
import type { AlgorithmUse, Finding } from '../validation/facts.ts';
import type { Container } from './container.ts';
import { MAX_MANIFEST, type Manifest, readManifest } from './manifest-read.ts';
import { nameOfUri, shownName } from './zip-names.ts';

export interface ListedMembers {
  readonly manifestName: string;
  /** The manifest as it is; what signs or time-stamps it is over these bytes. */
  readonly bytes: Buffer;
  /** Member that signs or time-stamps it; undefined when it can't be read. */
  readonly proof: string | undefined;
  /** Members that are listed. */
  readonly names: ReadonlySet<string>;
  /** Those of them that are what was listed. */
  readonly good: ReadonlySet<string>;
  readonly findings: readonly Finding[];
  readonly algorithms: readonly AlgorithmUse[];
}

/** Digests of members, each computed once. */
export class MemberDigests {
  readonly #container: Container;
  readonly #known = new Map<string, Buffer>();

  constructor(container: Container) {
    this.#container = container;
  }

  /** Undefined when there is no such member. */
  of(name: string, hash: HashName): Buffer | undefined {
    const key = `${hash} ${name}`;
    const source = this.#container.member(name);
    if (source === undefined) return undefined;
    let digest = this.#known.get(key);
    if (digest === undefined) {
      const made = createHash(hash);
      for (const piece of source.chunks()) made.update(piece);
      digest = made.digest();
      this.#known.set(key, digest);
    }
    return digest;
  }
}

/** Findings: `structure.manifest`, `digest.member`, `algorithm.digest`. */
export function listedMembers(
  container: Container,
  manifestName: string,
  digests: MemberDigests,
): ListedMembers {
  const bytes = container.bytes(manifestName, MAX_MANIFEST);
  const manifest = readManifest(bytes);
  const named = shownName(manifestName);
  if ('because' in manifest) {
    const message = `The manifest ${named} is not of the accepted form: ${manifest.because}.`;
    const finding = {
      status: 'failed',
      type: 'structure.manifest',
      message,
      subIndication: 'FORMAT_FAILURE',
    } as const;
    return {
      manifestName,
      bytes,
      proof: undefined,
      names: new Set(),
      good: new Set(),
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
    findings.push({
      status: 'passed',
      type: 'digest.member',
      message: 'Every file that the manifest lists is the one that was listed.',
      detail: `${good.size}`,
    });
  }
  const hashes = new Set(manifest.references.map(({ hash, algorithm }) => hash ?? algorithm));
  const names = new Set(manifest.references.flatMap(({ uri }) => nameOfUri(uri) ?? []));
  const algorithms = [...hashes].map((name) => ({ name, where: 'digests in the manifest' }));
  return { manifestName, bytes, proof: nameOfUri(manifest.proof), names, good, findings, algorithms };
}

function fault(
  { uri, hash, algorithm, digest }: Manifest['references'][number],
  digests: MemberDigests,
): Finding | undefined {
  const detail = shownName(uri);
  if (hash === undefined) {
    const message = `The digest algorithm ${shownName(algorithm)} is not known.`;
    return {
      status: 'failed',
      type: 'algorithm.digest',
      message,
      detail,
      subIndication: 'CRYPTO_CONSTRAINTS_FAILURE',
    };
  }
  const name = nameOfUri(uri);
  const actual = name === undefined ? undefined : digests.of(name, hash);
  if (actual === undefined) {
    const message = 'A file that the manifest lists is not in the container.';
    return {
      status: 'failed',
      type: 'digest.member',
      message,
      detail,
      subIndication: 'SIGNED_DATA_NOT_FOUND',
    };
  }
  if (actual.equals(digest)) return undefined;
  const message = 'A file is not the one that the manifest lists.';
  return { status: 'failed', type: 'digest.member', message, detail, subIndication: 'HASH_FAILURE' };
}
