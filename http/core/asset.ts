/** Scripts and stylesheets of the pages, held in memory and tagged by content. */
import { hash } from 'node:crypto';
import type { AssetReply, EmptyReply } from './reply.ts';

export interface Asset {
  /** E.g. `text/css; charset=utf-8`. */
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** Quoted entity tag, as in the header. */
  readonly etag: string;
}

export function asset(contentType: string, body: string | Uint8Array): Asset {
  return { contentType, body, etag: `"${hash('sha256', body, 'hex').slice(0, 32)}"` };
}

/** Returns 200, or 304 to a browser that holds this content; `ifNoneMatch` is its header, empty when absent. */
export function assetReply(asset: Asset, ifNoneMatch: string): AssetReply | EmptyReply {
  const { contentType, body, etag } = asset;
  const known = ifNoneMatch.split(',').some((name) => name.trim().replace(/^W\//, '') === etag);
  if (known) return { kind: 'empty', status: 304, headers: [['ETag', etag]] };
  return { kind: 'asset', status: 200, contentType, body, headers: [['ETag', etag]] };
}
