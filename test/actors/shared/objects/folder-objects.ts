/** An object store in a folder, for tests of what uses one: as slow as a disk, and nothing else in common with a server. */
import { createReadStream } from 'node:fs';
import { copyFile, link, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type {
  ByteRange,
  ObjectFile,
  ObjectPage,
  ObjectStore,
  PutOptions,
  StoreTrouble,
} from '../../../../actors/shared/objects/object-store.ts';

export class FolderObjects implements ObjectStore {
  readonly isConditional = true;
  #copies = 0;
  readonly #owners = new Map<string, string | undefined>();

  constructor(
    readonly location: string,
    private readonly clock: { now(): number } = { now: () => Date.now() },
  ) {}

  async put(
    key: string,
    { path }: ObjectFile,
    { replace = false, owner }: PutOptions = {},
  ): Promise<'stored' | 'exists'> {
    const made = join(this.location, `.${++this.#copies}`);
    await mkdir(dirname(this.#path(key)), { recursive: true });
    await copyFile(path, made);
    await this.#date(made);
    try {
      if (!replace) await link(made, this.#path(key));
      else await rename(made, this.#path(key));
      this.#owners.set(key, owner);
      return 'stored';
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
      return 'exists';
    } finally {
      await rm(made, { force: true });
    }
  }

  async get(key: string, { from = 0, to }: Partial<ByteRange> = {}) {
    const found = await this.head(key);
    if (found === undefined) return undefined;
    const stream = createReadStream(this.#path(key), { start: from, ...(to !== undefined && { end: to }) });
    return { stream, length: Math.min(found.length, (to ?? found.length) + 1) - from };
  }

  async head(key: string) {
    const found = await stat(this.#path(key)).catch(() => undefined);
    if (found === undefined) return undefined;
    const owner = this.#owners.get(key);
    return { key, length: found.size, modifiedAt: found.mtimeMs, ...(owner !== undefined && { owner }) };
  }

  async copy(from: string, to: string): Promise<boolean> {
    const found = await this.head(from);
    if (found !== undefined && from !== to)
      await this.put(to, { path: this.#path(from), length: found.length }, { replace: true });
    else if (found !== undefined) await this.#date(this.#path(to));
    return found !== undefined;
  }

  remove(key: string): Promise<void> {
    return rm(this.#path(key), { force: true });
  }

  async list(prefix: string, next = ''): Promise<ObjectPage> {
    const entries = await readdir(this.location, { recursive: true, withFileTypes: true });
    const keys = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(this.location, join(parentPath, name)))
      .filter((key) => key.startsWith(prefix) && key > next)
      .sort();
    const page = keys.slice(0, 2);
    const heads = await Promise.all(page.map((key) => this.head(key)));
    return {
      objects: heads.flatMap((head) => head ?? []),
      next: keys.length > page.length ? page.at(-1) : undefined,
    };
  }

  async removeParts(): Promise<number> {
    return 0;
  }

  async isExclusive(): Promise<boolean> {
    return true;
  }

  async check(): Promise<StoreTrouble | undefined> {
    return undefined;
  }

  #path(key: string): string {
    return join(this.location, key);
  }

  #date(path: string): Promise<void> {
    return utimes(path, this.clock.now() / 1000, this.clock.now() / 1000);
  }
}
