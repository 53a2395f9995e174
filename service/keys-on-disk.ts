/**
 * Says when the key of a profile could not be loaded again: its file was removed, replaced by a broken one, or by one whose
 * certificate has expired. The service works with the key that it loaded; its next start would not.
 *
 * Source: docs/decisions/0318-keys-that-the-next-start-cannot-load.md.
 */
import { statSync } from 'node:fs';
import { type Clock, describeFailure } from '@sealwright/runtime/core';
import { loadSigner } from '@sealwright/signatures';
import type { CertificateSource } from './certificate-sources.ts';

/** Time for which an answer counts, milliseconds: balancers ask often. */
const VERDICT_MAX_AGE_MS = 5_000;

/** Undefined: the next start can load the key, as far as files tell; tokens are not asked. */
export type KeyOnDisk = () => Promise<string | undefined>;

/** Judges the keys of a certificate that was loaded just now. */
export function keyOnDisk(
  { keys, files }: CertificateSource,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): KeyOnDisk {
  const paths =
    keys.source === 'Pfx' ? [keys.path] : keys.source === 'Pem' ? [keys.certificatePath, keys.keyPath] : [];
  // What is at a service is probed by its circuit.
  if ('place' in keys) return () => Promise.resolve(undefined);
  const stamp = () => stampOf(paths.filter((path) => typeof path === 'string'));
  let judged = stamp();
  let verdict: Promise<string | undefined> = Promise.resolve(undefined);
  let at = Number.NEGATIVE_INFINITY;
  const judge = async () => {
    try {
      const { notAfter } = await loadSigner(keys, () => clock.now());
      if (notAfter >= clock.now()) return undefined;
      return sentence(files, `The certificate expired on ${new Date(notAfter).toISOString()}.`);
    } catch (error) {
      return sentence(files, describeFailure(error).message);
    }
  };
  return () => {
    if (clock.elapsed() - at < VERDICT_MAX_AGE_MS) return verdict;
    at = clock.elapsed();
    const now = stamp();
    if (now !== judged) verdict = judge();
    judged = now;
    return verdict;
  };
}

function sentence(files: string, reason: string): string {
  return `signs with the key of its start, but the next start cannot use ${files}: ${reason} Put a good file there`;
}

/** Differs for files that were replaced, changed or removed. */
function stampOf(paths: readonly string[]): string {
  const stamps = paths.map((path) => {
    try {
      const { ino, size, mtimeMs } = statSync(path);
      return [ino, size, mtimeMs];
    } catch (error) {
      return describeFailure(error).code;
    }
  });
  return JSON.stringify(stamps);
}
