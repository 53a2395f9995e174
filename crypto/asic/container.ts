/** A container that is there: its members, and what they are. */
import { hashSource } from '../cades/content-digests.ts';
import type { Source } from '../files/source.ts';
import { type AsicKind, kindOf, type MemberRole, MIME_TYPE_MEMBER, roleOf } from './container-kinds.ts';
import { readDirectory, type ZipDirectory, type ZipEntry } from './zip-directory.ts';
import { ZipFault } from './zip-fault.ts';
import { memberSource } from './zip-member.ts';
import { shownName } from './zip-names.ts';

/** Bytes of a signature file, a manifest or a token. */
const MAX_META = 64 << 20;

export class Container {
  readonly source: Source;
  readonly directory: ZipDirectory;
  readonly #byName: ReadonlyMap<string, ZipEntry>;
  readonly #sources = new Map<string, Source>();

  /** @throws {ZipFault} @throws {CryptoError} `input.unreadable`, `input.changed` */
  constructor(source: Source) {
    this.source = source;
    this.directory = readDirectory(source);
    this.#byName = new Map(this.directory.entries.map((entry) => [entry.name, entry]));
  }

  /** Names of the members with that role, in the order of the file. */
  named(...roles: readonly MemberRole[]): string[] {
    return this.directory.entries.map(({ name }) => name).filter((name) => roles.includes(roleOf(name)));
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** The same source for each asking; undefined when there is no such member. */
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

  /** The whole of a member about signatures. @throws {ZipFault} when it is too large for one, or not there */
  bytes(name: string, limit = MAX_META): Buffer {
    const source = this.member(name);
    if (source === undefined) throw new ZipFault('malformed', `There is no "${shownName(name)}".`);
    if (source.size > limit) {
      throw new ZipFault(
        'too-large',
        `"${shownName(name)}" has ${source.size} bytes, which is more than is read.`,
      );
    }
    return Buffer.from(source.read(0, source.size));
  }

  /** Lower-case hex, of the whole file. */
  get sha256(): string {
    return hashSource(this.source, []).sha256;
  }

  /** The media type it gives itself; undefined when there is no `mimetype`. */
  get mimeType(): string | undefined {
    const source = this.member(MIME_TYPE_MEMBER);
    return source?.read(0, 256).toString('latin1');
  }

  /** By its media type; without a known one, by what it holds. */
  get kind(): AsicKind {
    const { mimeType } = this;
    const named = mimeType === undefined ? undefined : kindOf(mimeType);
    if (named !== undefined) return named;
    const single = this.named('data').length === 1 && this.named('manifest').length === 0;
    return mimeType === undefined && single ? 'S' : 'E';
  }
}
