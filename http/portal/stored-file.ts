/**
 * Replies with stored files: bytes, bytes in Base64, and inline bytes.
 *
 * Source: docs/portal-values.md §13.
 */
import type { StoredFile } from '../../actors/portal/api.ts';
import { type FileConditions, fileReply, type OpenFile } from '../core/file-reply.ts';
import type { ByteSource, EmptyReply, FileReply, ReplyHeaders } from '../core/reply.ts';

/** A multiple of three, so that only the last chunk is padded. */
const CHUNK_BYTES = 192 * 1024 * 3;

/**
 * `before` + the file in Base64 + `after`; read in order, from the start. Encoded while it is sent: a file of a hundred
 * megabytes needs a few hundred KiB of memory.
 */
class Base64File implements ByteSource {
  readonly length: number;
  readonly #file: OpenFile;
  readonly #fileLength: number;
  readonly #after: string;
  #ready: Buffer;
  #consumed = 0;
  #read = 0;
  #finished = false;

  constructor(file: OpenFile, fileLength: number, before: string, after: string) {
    this.#file = file;
    this.#fileLength = fileLength;
    this.#ready = Buffer.from(before);
    this.#after = after;
    this.length = Buffer.byteLength(before) + 4 * Math.ceil(fileLength / 3) + Buffer.byteLength(after);
  }

  async read(into: Buffer, offset: number, length: number): Promise<{ readonly bytesRead: number }> {
    if (this.#consumed === this.#ready.length) await this.#refill();
    const bytesRead = this.#ready.copy(into, offset, this.#consumed, this.#consumed + length);
    this.#consumed += bytesRead;
    return { bytesRead };
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #refill(): Promise<void> {
    this.#consumed = 0;
    const byteCount = Math.min(CHUNK_BYTES, this.#fileLength - this.#read);
    if (byteCount === 0) {
      this.#ready = Buffer.from(this.#finished ? '' : this.#after);
      this.#finished = true;
      return;
    }
    const chunk = Buffer.allocUnsafe(byteCount);
    let filled = 0;
    while (filled < byteCount) {
      const { bytesRead } = await this.#file.read(chunk, filled, byteCount - filled, this.#read + filled);
      if (bytesRead === 0) throw new Error('The file became shorter while it was sent.');
      filled += bytesRead;
    }
    this.#read += byteCount;
    this.#ready = Buffer.from(chunk.toString('base64'), 'latin1');
  }
}

/** Types that browsers show without running scripts. */
const HARMLESS = /^(?:application\/pdf|image\/(?:png|jpeg|gif|webp|bmp)|text\/plain)$/;

/** Clients show previews in frames; previews have no controls that a frame could hijack. */
const FRAMEABLE: ReplyHeaders = [
  ['X-Frame-Options', ''],
  ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'"],
];
/** Other uploaded types run no scripts, and have another origin than the portal. */
const SANDBOXED: ReplyHeaders = [
  ['X-Frame-Options', ''],
  ['Content-Security-Policy', "sandbox; default-src 'none'; style-src 'unsafe-inline'"],
];

/** @param inline shows the file without a file name, instead of saving it */
export function storedFileReply(
  stored: StoredFile,
  header: (name: string) => string,
  inline: boolean = false,
): Promise<FileReply | EmptyReply> {
  const contentType = cleanType(stored.contentType);
  const conditions: FileConditions = {
    range: header('range'),
    ifRange: header('if-range'),
    ifNoneMatch: header('if-none-match'),
  };
  const framing = HARMLESS.test(contentType) ? FRAMEABLE : SANDBOXED;
  return fileReply(
    {
      open: stored.open,
      fileName: inline ? undefined : stored.fileName,
      etag: stored.etag,
      contentType,
      headers: inline ? framing : [],
      isRemoved: () => new Error(`A stored file is missing: ${stored.etag}`),
    },
    conditions,
  );
}

/** `{bytes, name, contentType}`, encoded while it is sent. */
export async function base64Reply(stored: StoredFile): Promise<FileReply> {
  const file = await stored.open();
  try {
    const { size } = await file.stat();
    const rest = JSON.stringify({ name: stored.fileName, contentType: stored.contentType });
    const source = new Base64File(file, size, '{"bytes":"', `",${rest.slice(1)}`);
    const headers: ReplyHeaders = [['Content-Type', 'application/json; charset=utf-8']];
    return { kind: 'file', status: 200, headers, file: source, from: 0, length: source.length };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The uploader's content type, if it is a valid header value. */
function cleanType(given: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(given) ? given.toLowerCase() : 'application/octet-stream';
}
