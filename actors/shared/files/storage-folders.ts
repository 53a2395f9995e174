/** Creates the folders of the service. Source: docs/batch-values.md §7. */
import { readdirSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { Fatal } from '@sealwright/runtime/core';
import { makeDirectories } from './directories.ts';
import type { StorageLayout } from './storage-layout.ts';

/** For the service and its group. */
const SHARED = 0o750;
/** For the service alone. */
const PRIVATE = 0o700;

/**
 * Creates the missing root, work folders, and input folders under the root. Does not create other input folders: an
 * unmounted share must not be shadowed. Keeps modes of existing folders.
 * @param inputs absolute paths
 * @throws {Fatal} `folder.unusable`
 */
export function createStorageFolders(layout: StorageLayout, inputs: readonly string[]): void {
  const { root, input, processing, output, error, db, keys } = layout;
  // The root first: created as a parent of another folder, it would get the mode of that folder.
  for (const path of [root, input, layout.allProcessing ?? processing, processing, output, error, db])
    makeFolder(path, SHARED);
  makeFolder(keys, PRIVATE);
  for (const path of inputs) {
    if (relative(root, path).split(sep)[0] !== '..') makeFolder(path, SHARED);
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    makeDirectories(path, mode);
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code ?? 'unknown');
    throw new Fatal('folder.unusable', `${path} cannot be used as a folder of the service (${code}).`);
  }
}

/** Files in which earlier versions kept the filter fields of lists over a start: names of people, also of deleted documents. */
const FORMER_TABLE = /\.table(\.[0-9a-f-]+\.part)?$/;

/** Removes them. What cannot be removed stays: nothing reads it. */
export function removeFormerTables({ root }: Pick<StorageLayout, 'root'>): void {
  for (const folder of [join(root, 'lists'), join(root, 'portal', 'lists')])
    try {
      for (const name of readdirSync(folder)) if (FORMER_TABLE.test(name)) rmSync(join(folder, name));
    } catch {
      // No such folder, or not ours to change.
    }
}
