/**
 * Makes ZIP files and combined PDFs of the files of several documents; the pool writes them.
 *
 * Source: docs/decisions/0128-files-of-several-documents.md.
 */

import { open, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '@sealwright/runtime';
import type { DownloadType } from '../../../contracts/portal/words.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { SigningPool } from '../../pool/pool.ts';
import { cutToBytes, NAME_LIMIT, shortFileName } from '../../shared/files/output-names.ts';
import type { Tenant } from '../api/callers.ts';
import { ConcurrencyLimit } from '../shared/concurrency-limit.ts';
import { poolRefusal } from '../shared/pool-refusal.ts';
import type { Blobs, StoredFile } from '../uploads/blobs.ts';
import type { DocumentService } from './documents.ts';

/** Bytes of all files together; below what a ZIP file without extensions holds. */
const MAX_BYTES = 1024 ** 3;
/** Files of one organization that are made or sent at once: they take space until they are sent. */
const MAX_AT_ONCE = 2;

const PDF = 'application/pdf';

/** A file on this machine that goes into a package. */
interface PackagedFile extends Pick<StoredFile, 'fileName' | 'contentType'> {
  readonly path: string;
}

/** A file that is made for one download. */
export interface TemporaryFile extends StoredFile {
  /** Removes it; call in every case. */
  remove(): Promise<void>;
}

export class DocumentPackages {
  readonly #limit = new ConcurrencyLimit(MAX_AT_ONCE, 'downloads of several documents');

  constructor(
    private readonly documents: DocumentService,
    private readonly pool: SigningPool,
    private readonly blobs: Blobs,
    private readonly clock: Clock,
  ) {}

  /** ZIP of the files. Refusals: those of `content` for any document, `LimitExceeded`, `TooManyRequests`. */
  archive(tenant: Tenant, ids: readonly DocumentId[], type: DownloadType): Promise<TemporaryFile> {
    return this.#make(tenant, ids, {
      type,
      made: { fileName: 'documents.zip', contentType: 'application/zip' },
      taskOf: (files) => ({
        task: 'portal.zip',
        members: memberNames(files).map((name, index) => ({ name, path: files[index]?.path ?? '' })),
        at: this.clock.now(),
      }),
    });
  }

  /**
   * One PDF of their pages, without their signatures. Refusals: as `archive`, `EnvelopeRequiresPdf`,
   * `DocumentUnreadable`.
   */
  combine(tenant: Tenant, ids: readonly DocumentId[], type: DownloadType): Promise<TemporaryFile> {
    return this.#make(tenant, ids, {
      type,
      made: { fileName: 'documents.pdf', contentType: PDF },
      taskOf: (files) => {
        if (files.some(({ contentType }) => contentType !== PDF))
          throw new PortalRefusal('EnvelopeRequiresPdf', 'Only PDF files can be combined.');
        return {
          task: 'portal.merge',
          files: files.map(({ path, fileName }) => ({ path, title: fileName })),
          title: 'Documents',
          at: this.clock.now(),
          maxBytes: MAX_BYTES,
        };
      },
    });
  }

  async #make(
    tenant: Tenant,
    ids: readonly DocumentId[],
    {
      type,
      made,
      taskOf,
    }: {
      readonly type: DownloadType;
      readonly made: Pick<StoredFile, 'fileName' | 'contentType'>;
      readonly taskOf: (files: readonly PackagedFile[]) => PackageTask;
    },
  ): Promise<TemporaryFile> {
    const release = this.#limit.acquire(tenant.organization.id);
    const path = this.blobs.temporaryPath();
    const remove = async () => {
      release();
      await rm(path, { force: true });
    };
    try {
      const found: StoredFile[] = [];
      let bytes = 0;
      for (const id of ids) {
        const file = await this.documents.content(tenant, id, type);
        bytes += file.length;
        if (bytes > MAX_BYTES)
          throw new PortalRefusal('LimitExceeded', `The files have more than ${MAX_BYTES} bytes together.`);
        found.push(file);
      }
      const files = await Promise.all(
        found.map(async ({ fileName, contentType, bring }) => ({
          fileName,
          contentType,
          path: await bring(),
        })),
      );
      const task = { ...taskOf(files), documentId: ids[0] ?? '', output: path };
      const answer = await this.pool.run(task, { organization: tenant.organization.id, bytes });
      if (!answer.ok) throw refusalOf(answer.code);
      const { size: length } = await stat(path);
      const file = { path, bring: async () => path, open: () => open(path, 'r') };
      return { ...made, ...file, length, etag: `"${basename(path)}"`, remove };
    } catch (error) {
      await remove();
      throw error;
    }
  }
}

type WithoutOutput<Task> = Task extends unknown ? Omit<Task, 'documentId' | 'output'> : never;
type PackageTask = WithoutOutput<
  Extract<Parameters<SigningPool['run']>[0], { readonly task: 'portal.zip' | 'portal.merge' }>
>;

function refusalOf(code: string): PortalRefusal {
  if (code === 'document.unreadable')
    return new PortalRefusal(
      'DocumentUnreadable',
      'One of the files is encrypted or damaged and cannot be combined.',
    );
  if (code === 'document.too-large')
    return new PortalRefusal('LimitExceeded', 'The combined file is too large.');
  return poolRefusal({ code });
}

/** Names that no file may have on some file systems, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\s*(?:\.|$))/i;

/**
 * Makes a name that every common file system takes, with `-` for what it refuses: reserved characters and names of
 * devices, marks of direction, and dots or spaces at the end.
 */
export function safeFileName(name: string): string {
  const plain = name.replace(/[/\\:*?"<>|\p{Cc}\p{Bidi_Control}]/gu, '-').replace(/(?<![. ])[. ]+$/, '-');
  return plain.replace(DEVICE, '$&-');
}

/** File names, each once, safe on common file systems and of at most 255 bytes. */
export function memberNames(files: readonly Pick<StoredFile, 'fileName'>[]): readonly string[] {
  const taken = new Set<string>();
  return files.map(({ fileName }) => {
    const whole = safeFileName(fileName);
    const [, base = whole, extension = ''] = /^(.+?)(\.[^.]{1,10})?$/.exec(whole) ?? [];
    let name = shortFileName(whole);
    for (let count = 2; taken.has(name.toLowerCase()); count += 1) {
      const end = ` (${count})${extension}`;
      name = `${cutToBytes(base, NAME_LIMIT - Buffer.byteLength(end))}${end}`;
    }
    taken.add(name.toLowerCase());
    return name;
  });
}
