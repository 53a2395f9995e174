/** An existing container: its members and their roles. */
import { hashSource } from '../cades/content-digests.ts';
import { openSource, type Source } from '../core/files.ts';
import { CryptoError, type InputFile } from '../core/types.ts';
import { readDirectory, type ZipDirectory, type ZipEntry } from '../zip/zip-directory.ts';
import { ZipError } from '../zip/zip-error.ts';
import { memberSource } from '../zip/zip-member.ts';
import { printableName } from '../zip/zip-names.ts';

/** Size limit of a signature file, a manifest or a token. */
const MAX_META = 64 << 20;

export class Container {
  readonly source: Source;
  readonly directory: ZipDirectory;
  readonly #byName: ReadonlyMap<string, ZipEntry>;
  readonly #sources = new Map<string, Source>();

  /** @throws {ZipError} @throws {CryptoError} `input.unreadable`, `input.changed` */
  constructor(source: Source) {
    this.source = source;
    this.directory = readDirectory(source);
    this.#byName = new Map(this.directory.entries.map((entry) => [entry.name, entry]));
  }

  /** Names of the members with these roles, in file order. */
  named(...roles: readonly MemberRole[]): string[] {
    return this.directory.entries.map(({ name }) => name).filter((name) => roles.includes(roleOf(name)));
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** Returns the same source at each call; undefined when there is no such member. */
  member(name: string): Source | undefined {
    const entry = this.#byName.get(name);
    if (entry === undefined) return undefined;
    let source = this.#sources.get(name);
    if (source === undefined) {
      source = memberSource(this.source, entry);
      this.#sources.set(name, source);
    }
    return source;
  }

  /** Reads a META-INF member whole. @throws {ZipError} when it exceeds the limit or does not exist */
  bytes(name: string, limit = MAX_META): Buffer {
    const source = this.member(name);
    if (source === undefined) throw new ZipError('malformed', `There is no "${printableName(name)}".`);
    if (source.size > limit) {
      throw new ZipError(
        'too-large',
        `"${printableName(name)}" has ${source.size} bytes, which is more than is read.`,
      );
    }
    return Buffer.from(source.read(0, source.size));
  }

  /** SHA-256 of the whole file, lower-case hex. */
  get sha256(): string {
    return hashSource(this.source, []).sha256;
  }

  /** Declared media type; undefined when there is no `mimetype`. */
  get mimeType(): string | undefined {
    const source = this.member(MIME_TYPE_MEMBER);
    return source?.read(0, 256).toString('latin1');
  }

  /** Kind by media type; without a known one, by the members. */
  get kind(): AsicKind {
    const { mimeType } = this;
    const named = mimeType === undefined ? undefined : kindOf(mimeType.trim());
    if (named !== undefined) return named;
    const single = this.named('data').length === 1 && this.named('manifest').length === 0;
    // In containers of several files, signatures and time-stamps of CMS need a manifest.
    const needsManifest = this.named('cades', 'timestamp').length > 0;
    return single && (mimeType === undefined || needsManifest) ? 'S' : 'E';
  }
}

/** The two kinds of containers and the roles of their members by name (EN 319 162-1 §4.3.3, §4.4.3, Annex A). */
export type AsicKind = 'S' | 'E';

export const MIME_TYPE: { readonly [kind in AsicKind]: string } = {
  S: 'application/vnd.etsi.asic-s+zip',
  E: 'application/vnd.etsi.asic-e+zip',
};

export const MIME_TYPE_MEMBER = 'mimetype';

/** Folder of signatures and manifests. */
const META_INF = 'META-INF/';

/** Fixed names, and prefixes of generated names. */
export const NAMES = {
  /** XAdES in ASiC-S; in ASiC-E with several files, the first one. */
  signatures: `${META_INF}signatures.xml`,
  /** CAdES in ASiC-S. */
  signature: `${META_INF}signature.p7s`,
  /** OpenDocument manifest with the media type of each data object. */
  openDocument: `${META_INF}manifest.xml`,
  /** Newest archive manifest; it is renamed with a number when the next one is added. */
  archiveManifest: `${META_INF}ASiCArchiveManifest.xml`,
} as const;

/** Role of a member. */
export type MemberRole =
  | 'mimetype'
  | 'data'
  | 'folder'
  | 'xades'
  | 'cades'
  | 'manifest'
  | 'archive-manifest'
  | 'timestamp'
  /** An evidence record or its manifest (EN 319 162-1 §4.3.3.2, §4.4.4.2). */
  | 'evidence-record'
  /** Part of the package that needs no signature: the OpenDocument manifest. */
  | 'package'
  /** A member of META-INF with an unknown name. */
  | 'unknown';

/** Roles of the files of META-INF by their names; the first that fits counts. */
const META_NAMES: readonly (readonly [role: MemberRole, name: RegExp])[] = [
  ['archive-manifest', /^ASiCArchiveManifest[^/]*\.xml$/],
  ['evidence-record', /^ASiCEvidenceRecordManifest[^/]*\.xml$/],
  ['evidence-record', /^[^/]*evidencerecord[^/]*\.(ers|xml)$/],
  ['manifest', /^ASiCManifest[^/]*\.xml$/],
  ['xades', /^[^/]*signatures[^/]*\.xml$/],
  ['cades', /^[^/]*signature[^/]*\.p7s$/],
  ['timestamp', /^[^/]*timestamp[^/]*\.tst$/],
  ['package', /^manifest\.xml$/],
];
const META_NAMES_OF_ANY_CASE = META_NAMES.map(([role, name]) => [role, new RegExp(name, 'i')] as const);

/** Returns the role of a member. Names of files in META-INF count in capital and small letters. */
export function roleOf(name: string): MemberRole {
  if (name.endsWith('/')) return 'folder';
  if (name === MIME_TYPE_MEMBER) return 'mimetype';
  if (!name.startsWith(META_INF)) return 'data';
  const file = name.slice(META_INF.length);
  const found = META_NAMES_OF_ANY_CASE.find(([, pattern]) => pattern.test(file));
  return found?.[0] ?? 'unknown';
}

/** True for a name in META-INF that has its role only when capital and small letters are not told apart. */
export function isSpelledOtherwise(name: string): boolean {
  if (!name.startsWith(META_INF) || ['folder', 'unknown'].includes(roleOf(name))) return false;
  return !META_NAMES.some(([, pattern]) => pattern.test(name.slice(META_INF.length)));
}

/** True for names that a lenient reader mistakes for `mimetype` or a folder META-INF. */
export function isLookalike(name: string): boolean {
  const plain = name.normalize('NFKC').toLowerCase();
  if (plain.startsWith('meta-inf/') && !name.startsWith(META_INF)) return true;
  return (plain === MIME_TYPE_MEMBER && name !== MIME_TYPE_MEMBER) || plain === 'meta-inf';
}

/** Returns the kind for the content of `mimetype`. */
export function kindOf(mimeType: string): AsicKind | undefined {
  return mimeType === MIME_TYPE.S ? 'S' : mimeType === MIME_TYPE.E ? 'E' : undefined;
}

/** Returns the first free numbered name: `META-INF/signature001.p7s` and so on. */
export function freeName(stem: string, extension: string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number++) {
    const name = `${META_INF}${stem}${String(number).padStart(3, '0')}.${extension}`;
    if (!isTaken(name)) return name;
  }
}

/** Data objects of a container: its members other than signatures (EN 319 162-1 §4.3, §4.4). */
interface AsicDataObject {
  readonly name: string;
  /** SHA-256 of the uncompressed content, lower-case hex. */
  readonly sha256: string;
  /** Length in bytes. */
  readonly length: number;
}

/**
 * Lists every data object of a container file, in file order.
 * Source: EN 319 162-1 §4.3, §4.4.
 * @throws {CryptoError} `input.unreadable`; `asic.malformed` when the file is no container
 */
export function asicDataObjects(path: InputFile): readonly AsicDataObject[] {
  const source = openSource(path);
  try {
    const container = new Container(source);
    return container.named('data').flatMap((name) => {
      const member = container.member(name);
      return member === undefined
        ? []
        : [{ name, sha256: hashSource(member, []).sha256, length: member.size }];
    });
  } catch (error) {
    if (error instanceof ZipError) throw new CryptoError('asic.malformed', error.message);
    throw error;
  } finally {
    source.close();
  }
}
