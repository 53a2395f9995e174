/** The folders of the service, made before anything is put into them. Source: batch-gaps §7, "Layout under `Storage:Root`". */
import { mkdirSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { Fatal } from '../runtime/index.ts';
import type { StorageLayout } from './storage-layout.ts';

/** For the service and its group. */
const SHARED = 0o750;
/** For the service alone. */
const PRIVATE = 0o700;

/**
 * Makes the root, the work folders and those input folders that lie under the root, where they are missing. An
 * input folder elsewhere is not made: an unmounted share must not be shadowed. Modes of folders that are there
 * already are left as they are.
 * @param inputs absolute paths
 * @throws {Fatal} `folder.unusable`
 */
export function makeStorageFolders(layout: StorageLayout, inputs: readonly string[]): void {
  const { root, input, processing, output, error, db, keys } = layout;
  // The root by itself first: as a parent made in passing it would get the mode of what is made below it.
  for (const path of [root, input, processing, output, error, db]) makeFolder(path, SHARED);
  makeFolder(keys, PRIVATE);
  for (const path of inputs) {
    if (relative(root, path).split(sep)[0] !== '..') makeFolder(path, SHARED);
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code ?? 'unknown');
    throw new Fatal('folder.unusable', `${path} cannot be used as a folder of the service (${code}).`);
  }
}
