/**
 * File replies: a whole file or one range, sent at the client's pace with bounded memory.
 *
 * Source: RFC 9110 §13 (conditions) and §14 (ranges); RFC 6266 (Content-Disposition).
 */
import { shortFileName } from '../../actors/shared/files/output-names.ts';
import { Refusal } from '../../machines/refusals.ts';
import {
  type ByteSource,
  type EmptyReply,
  endHead,
  type FileReply,
  type ReplyContext,
  type ReplyHeaders,
  redirect,
  writeHead,
} from './reply.ts';
import type { Exchange } from './transport/exchange.ts';

/** Thrown for a range outside the file: the reply carries `Content-Range`, which a `Refusal` cannot. */
export class RangeRefused extends Refusal {
  readonly headers: ReplyHeaders;
  constructor(length: number) {
    super('range.not-satisfiable', `The file has ${length} bytes.`);
    this.headers = [['Content-Range', `bytes */${length}`]];
  }
}

/** A file whose length is known once it is open. */
export interface OpenFile extends ByteSource {
  stat(): Promise<{ readonly size: number }>;
}

export interface FileToSend {
  readonly open: () => Promise<OpenFile>;
  /** Undefined: the browser shows the file and saves it under no name. */
  readonly fileName: string | undefined;
  /** Strong entity tag, quoted. */
  readonly etag: string;
  readonly contentType: string;
  /** Headers beyond those of every file. @default [] */
  readonly headers?: ReplyHeaders;
  /** Makes the address where the client reads the file instead. @default none: it is sent */
  readonly link?: (() => Promise<string>) | undefined;
  /** Thrown when the file does not exist. */
  isRemoved(): Error;
}

/** Request headers that select the reply; empty when absent. */
export interface FileConditions {
  readonly range: string;
  readonly ifRange: string;
  readonly ifNoneMatch: string;
}

const PIECE_BYTES = 256 * 1024;

/** Opens the file and selects 200, 206, 302 or 304. Throws `RangeRefused`, or the result of `isRemoved`. */
export async function fileReply(
  source: FileToSend,
  conditions: FileConditions,
): Promise<FileReply | EmptyReply> {
  const { etag, fileName, link } = source;
  const known: EmptyReply = { kind: 'empty', status: 304, headers: [['ETag', etag]] };
  const isKnown = namesEtag(conditions.ifNoneMatch, etag);
  if (link !== undefined) return isKnown ? known : redirect(302, await link());
  let file: OpenFile;
  try {
    file = await source.open();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw source.isRemoved();
    throw error;
  }
  try {
    if (isKnown) {
      await file.close();
      return known;
    }
    const { size } = await file.stat();
    const headers: (readonly [name: string, value: string])[] = [
      ['Content-Type', source.contentType],
      ['Content-Disposition', fileName === undefined ? 'inline' : contentDisposition(fileName)],
      ['ETag', etag],
      ['Accept-Ranges', 'bytes'],
      ...(source.headers ?? []),
    ];
    // RFC 9110 §13.1.5: with If-Range, a range applies only to the same representation.
    const applies = conditions.ifRange === '' || conditions.ifRange === etag;
    const range = applies ? parseRange(conditions.range, size) : 'whole';
    if (range === 'outside') throw new RangeRefused(size);
    if (range === 'whole') return { kind: 'file', status: 200, headers, file, from: 0, length: size };
    headers.push(['Content-Range', `bytes ${range.first}-${range.last}/${size}`]);
    return {
      kind: 'file',
      status: 206,
      headers,
      file,
      from: range.first,
      length: range.last - range.first + 1,
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * One byte range of a file of `size` bytes. Several ranges, other units and malformed headers count as none
 * (RFC 9110 §14.2 lets a server ignore the header).
 */
export function parseRange(
  header: string,
  size: number,
): 'whole' | 'outside' | { readonly first: number; readonly last: number } {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header);
  if (match === null) return 'whole';
  const [, from = '', to = ''] = match;
  if (from === '') {
    if (to === '') return 'whole';
    const suffix = Number(to);
    if (suffix === 0 || size === 0) return 'outside';
    return { first: Math.max(0, size - suffix), last: size - 1 };
  }
  const first = Number(from);
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < first) return 'whole';
  return first >= size ? 'outside' : { first, last };
}

/** Both forms of the name: plain ASCII for old clients, UTF-8 for the rest. */
export function contentDisposition(name: string): string {
  // Clients fail to save a longer name.
  const fileName = shortFileName(name);
  const plain = fileName.replace(/[^\x20-\x7e]/gu, '_').replace(/["\\]/g, '\\$&');
  // A lone half of a surrogate pair cannot be encoded.
  const whole = encodeURIComponent(fileName.replace(/\p{Surrogate}/gu, '\uFFFD')).replace(/['()*]/g, percent);
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}

/** Sends the file and closes it in every case. Resolves when the transfer has ended. */
export async function sendFile(exchange: Exchange, reply: FileReply, context: ReplyContext): Promise<void> {
  const { file, length } = reply;
  try {
    if (context.headOnly || length === 0) {
      exchange.finish((response) => {
        writeHead(response, reply, context);
        endHead(response, length, context);
      });
      return;
    }
    const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, length));
    let sent = 0;
    while (sent < length && exchange.open) {
      const byteCount = Math.min(buffer.length, length - sent);
      const { bytesRead } = await file.read(buffer, 0, byteCount, reply.from + sent);
      if (bytesRead === 0) throw new Error('The file became shorter while it was sent.');
      const head = sent === 0 ? writeHead : undefined;
      await exchange.push(buffer.subarray(0, bytesRead), length, (response) =>
        head?.(response, reply, context),
      );
      sent += bytesRead;
    }
  } finally {
    await file.close();
  }
}

function namesEtag(header: string, etag: string): boolean {
  if (header === '') return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
