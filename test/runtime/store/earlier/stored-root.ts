/**
 * A whole `Storage:Root` in one small file, so that what a program of some day has stored can be opened by every later
 * one: gzipped JSON of its files and of what was true then.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** Everything that clients of the recorded service had received. */
export interface KeptInfo {
  /** The commit that wrote it. */
  readonly commit: string;
  readonly documents: readonly { readonly id: string; readonly key: string; readonly status: string }[];
  readonly jobs: readonly { readonly id: string; readonly status: string }[];
  /** Webhook calls without an answer: the same id must arrive again with the same body. */
  readonly untold: readonly { readonly id: string; readonly sha256: string }[];
  /** Mails written, at least. */
  readonly mails: number;
  /** The call of a visitor of a link for anybody; absent in roots of earlier programs. */
  readonly visit?: { readonly request: object; readonly documentId: string };
}

interface Packed {
  readonly facts: KeptInfo;
  readonly files: { readonly [path: string]: { readonly mode: number; readonly base64: string } };
}

/**
 * What belongs to a process, not to what it stored; and inputs of failed jobs, which would be new files to the watched
 * folder once they are unpacked.
 */
const LEFT_OUT = /(^|\/)(owner\.|lock\.mdb|.*\.sock$)|^(logs|input)\//;

export function packRoot(root: string, facts: KeptInfo): Buffer {
  const files: { [path: string]: { mode: number; base64: string } } = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    if (!entry.isFile() || LEFT_OUT.test(name)) continue;
    files[name] = { mode: statSync(path).mode & 0o777, base64: readFileSync(path).toString('base64') };
  }
  const packed: Packed = { facts, files };
  return gzipSync(JSON.stringify(packed), { level: 9 });
}

/** Writes the files into an empty folder. */
export function unpackRoot(packed: Uint8Array, root: string): KeptInfo {
  const { facts, files } = JSON.parse(gunzipSync(packed).toString('utf8')) as Packed;
  for (const [name, { mode, base64 }] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from(base64, 'base64'));
    chmodSync(path, mode);
  }
  return facts;
}
