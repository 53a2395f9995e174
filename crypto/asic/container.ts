/** An existing container: its members and their roles. */
import { hashSource } from '../cades/content-digests.ts';
import type { Source } from '../files/source.ts';
import { readDirectory, type ZipDirectory, type ZipEntry } from '../zip/zip-directory.ts';
import { ZipError } from '../zip/zip-error.ts';
import { memberSource } from '../zip/zip-member.ts';
import { printableName } from '../zip/zip-names.ts';
import { type AsicKind, kindOf, type MemberRole, MIME_TYPE_MEMBER, roleOf } from './container-kinds.ts';

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
