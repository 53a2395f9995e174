/**
 * Replies with stored files: bytes, bytes in Base64, and inline bytes.
 *
 * Source: docs/portal-values.md §13.
 */
import { open } from 'node:fs/promises';
import type { StoredFile } from '../../actors/portal/api.ts';
import { type FileConditions, fileReply } from '../core/file-reply.ts';
import type { EmptyReply, FileReply, ReplyHeaders } from '../core/reply.ts';
import { Base64File } from './input/base64-file.ts';

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
      path: stored.path,
      fileName: inline ? undefined : stored.fileName,
      etag: stored.etag,
      contentType,
      headers: inline ? framing : [],
      isRemoved: () => new Error(`A stored file is missing: ${stored.path}`),
    },
    conditions,
  );
}

/** `{bytes, name, contentType}`, encoded while it is sent. */
export async function base64Reply(stored: StoredFile): Promise<FileReply> {
  const file = await open(stored.path, 'r');
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
