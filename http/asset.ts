/**
 * Scripts and stylesheets of our own pages, held in memory and named by their content.
 */
import { hash } from 'node:crypto';
import type { AssetReply, EmptyReply } from './reply.ts';

export interface Asset {
  /** E.g. `text/css; charset=utf-8`. */
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** Quoted, as the header holds it. */
  readonly etag: string;
}

export function asset(contentType: string, body: string | Uint8Array): Asset {
  return { contentType, body, etag: `"${hash('sha256', body, 'hex').slice(0, 32)}"` };
}

/** 200, or 304 to a browser that has this content already; `ifNoneMatch` is its header, empty when absent. */
export function assetReply(wanted: Asset, ifNoneMatch: string): AssetReply | EmptyReply {
  const { contentType, body, etag } = wanted;
  const known = ifNoneMatch.split(',').some((name) => name.trim().replace(/^W\//, '') === etag);
  if (known) return { kind: 'empty', status: 304, headers: [['ETag', etag]] };
  return { kind: 'asset', status: 200, contentType, body, headers: [['ETag', etag]] };
}
