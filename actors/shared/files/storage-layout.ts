/** Paths under `Storage:Root`. Source: docs/batch-values.md §0 (4), §7. */
import { hash } from 'node:crypto';
import { join } from 'node:path';

export interface StorageLayout {
  readonly root: string;
  /** Folder of uploads, watched or not. */
  readonly input: string;
  /** Working folders of this process. */
  readonly processing: string;
  /** Folder with those of all nodes; undefined: there is one process. */
  readonly allProcessing?: string;
  readonly output: string;
  readonly error: string;
  readonly db: string;
  readonly keys: string;
  readonly logs: string;
}

/**
 * `root` must be absolute. `node`: name of this process, where several share the root.
 */
export function storageLayout(root: string, node?: string): StorageLayout {
  const processing = join(root, 'processing');
  return {
    root,
    input: join(root, 'input'),
    ...(node === undefined
      ? { processing }
      : { processing: join(processing, nodeFolderName(node)), allProcessing: processing }),
    output: join(root, 'output'),
    error: join(root, 'error'),
    db: join(root, 'db'),
    keys: join(root, 'keys'),
    logs: join(root, 'logs'),
  };
}

/** Name of a node as the name of a folder. */
export function nodeFolderName(node: string): string {
  return encodeURIComponent(node).replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length));
}

/** Created by the file system at the root of a volume, which a work folder may be; ignored. */
export const VOLUME_FOLDER = 'lost+found';

/** Longest stored path, in UTF-16 units. Source: docs/batch-values.md §3, `job.path-too-long`. */
export const PATH_LIMIT = 850;

/** Mode of an upload's file: its owner writes, its group reads. */
export const UPLOAD_MODE = 0o640;

/** Temporary name of an upload before its job exists: watchers ignore a leading dot and `.part`. */
export function uploadName(path: string): string {
  const at = path.lastIndexOf('/') + 1;
  return `${path.slice(0, at)}.${path.slice(at)}.part`;
}

/** The final path of an upload's temporary name; undefined for any other name. */
export function pathOfUpload(folder: string, name: string): string | undefined {
  const match = /^\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[^/]*)\.part$/.exec(name);
  return match?.[1] === undefined ? undefined : join(folder, match[1]);
}

/** Fixed-length key of a path. */
export function pathKey(path: string): string {
  return hash('sha256', path, 'base64url');
}
