/** Encrypts a signed file in its working folder. Source: docs/batch-values.md §9. */
import { renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { encryptFile } from '@sealwright/signatures';
import type { FileDigest } from '../../../machines/batch/job-context.ts';
import { fileDigest } from './digest.ts';
import { statIfPresent } from './directories.ts';
import { ENVELOPE_EXTENSION } from './output-names.ts';

/** Path of a job's encrypted output; named after the job, so that clients cannot choose it. */
export function envelopePath(folder: string): string {
  return join(folder, `${basename(folder)}${ENVELOPE_EXTENSION}`);
}

/**
 * Encrypts `signed` to a file next to it and syncs it. Reuses the result of an earlier attempt, which may be published
 * already.
 * @throws {CryptoError}
 */
export function encryptOutput(
  signed: string,
  key: Uint8Array,
  nonce: () => Uint8Array,
): FileDigest & { readonly path: string } {
  const path = envelopePath(dirname(signed));
  if (statIfPresent(path) !== undefined) {
    return { path, sha256: fileDigest(path), length: statSync(path).size };
  }
  const part = `${path}.part`;
  rmSync(part, { force: true });
  const digest = encryptFile({ input: signed, output: part, key, nonce: nonce() });
  renameSync(part, path);
  return { path, ...digest };
}
