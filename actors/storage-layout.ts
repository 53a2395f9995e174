/** Where files live under `Storage:Root`. Source: Batch Signing Service API, "What the service does" 4; batch-gaps §7. */
import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';

export interface StorageLayout {
  readonly root: string;
  /** Uploads land here, watched or not. */
  readonly input: string;
  readonly processing: string;
  readonly output: string;
  readonly error: string;
  readonly db: string;
  readonly keys: string;
  readonly logs: string;
}

/** `root` must be absolute. */
export function storageLayout(root: string): StorageLayout {
  return {
    root,
    input: join(root, 'input'),
    processing: join(root, 'processing'),
    output: join(root, 'output'),
    error: join(root, 'error'),
    db: join(root, 'db'),
    keys: join(root, 'keys'),
    logs: join(root, 'logs'),
  };
}

/** Longest stored path, in UTF-16 units. Source: batch-gaps §3, `job.path-too-long`. */
export const PATH_LIMIT = 850;

/** The name an upload is written under before its job exists: watchers ignore a leading dot and `.part`. */
export function uploadName(path: string): string {
  return join(dirname(path), `.${basename(path)}.part`);
}

/** The final path behind an upload's temporary name; undefined for any other name. */
export function pathOfUpload(folder: string, name: string): string | undefined {
  const match = /^\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[^/]*)\.part$/.exec(name);
  return match?.[1] === undefined ? undefined : join(folder, match[1]);
}

/** A short key of fixed length for a path of any length. */
export function pathKey(path: string): string {
  return createHash('sha256').update(path).digest('base64url');
}
