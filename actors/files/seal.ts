/** The encryption envelope of a signed file, made in its working folder. Source: batch-gaps §9. */
import { renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sealFile } from '../../crypto/index.ts';
import type { FileDigest } from '../../machines/job-context.ts';
import { ENVELOPE_EXTENSION } from '../file-names.ts';
import { fileDigest } from './digest.ts';
import { statIfPresent } from './directories.ts';

/** Where the envelope of a job stands; called after the job, so that no client chooses the name. */
export function envelopePath(folder: string): string {
  return join(folder, `${basename(folder)}${ENVELOPE_EXTENSION}`);
}

/**
 * Puts `signed` into an envelope beside it, synced to the disk. One that an earlier try finished is taken as it is: it
 * may be published already.
 * @throws {CryptoError}
 */
export function sealed(
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
  const digest = sealFile({ input: signed, output: part, key, nonce: nonce() });
  renameSync(part, path);
  return { path, ...digest };
}
