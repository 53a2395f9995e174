/**
 * Loads the roots and intermediates of `Signing:Trust` once, at start.
 * Source: docs/batch-values.md §6.5.
 */
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describeFailure } from '@sealwright/runtime/core';
import { anchorOf, certificatesInBundle } from '@sealwright/signatures';
import type { ListOptions, TrustOptions } from '../actors/index.ts';
import type { Settings } from '../settings.ts';

/** Reads the trusted certificates; every file without a certificate is a sentence in `faults`. */
export function readTrust({ signing, storage }: Pick<Settings, 'signing' | 'storage'>): {
  readonly trust: TrustOptions;
  /** Undefined: no trusted lists are configured. */
  readonly lists: ListOptions | undefined;
  readonly faults: readonly string[];
} {
  const {
    roots,
    useSystemRoots,
    intermediates,
    allowAia,
    aiaHosts,
    allowPrivate,
    revocation,
    revocationTimeoutSeconds,
    cacheMinutes,
  } = signing.trust;
  const faults: string[] = [];
  const read = (key: string, paths: readonly string[]) =>
    paths.flatMap((path, index) => certificatesAt(path, `Signing:Trust:${key}:${index}`, faults));
  const anchors = read('Roots', roots);
  const system = useSystemRoots ? rootCertificates.map((pem) => new X509Certificate(pem).raw) : [];
  const lists = listOptions({ signing, storage }, faults);
  return {
    trust: {
      roots: [...anchors, ...system],
      intermediates: read('Intermediates', intermediates),
      issuerHosts: allowAia ? aiaHosts : [],
      allowPrivate,
      revocation: REVOCATION[revocation],
      revocationTimeoutMs: revocationTimeoutSeconds * 1000,
      cacheMinutes,
      ...(lists && { lists: lists.place }),
    },
    lists,
    faults,
  };
}

/** Options of the lists; a folder of anchors that cannot be read is a sentence in `faults`. */
function listOptions(
  { signing, storage }: Pick<Settings, 'signing' | 'storage'>,
  faults: string[],
): ListOptions | undefined {
  const { allowAia, aiaHosts, allowPrivate, lists } = signing.trust;
  const { folder, refresh, refreshHours, timeoutSeconds, ...anchor } = lists;
  if (folder === undefined && !refresh) return undefined;
  try {
    return {
      place: { folder: join(storage.root, 'trust-lists'), anchor: anchorOf(anchor) },
      source: folder,
      everyMs: refreshHours * 3_600_000,
      ...(refresh && {
        network: {
          allowPrivate,
          issuerHosts: allowAia ? aiaHosts : [],
          timeoutMs: timeoutSeconds * 1000,
        },
      }),
    };
  } catch (error) {
    faults.push(`Signing:Trust:Lists:Anchors: ${describeFailure(error).message}`);
    return undefined;
  }
}

const REVOCATION = { None: 'none', Soft: 'soft', Hard: 'hard' } as const;

/** Reads a file, or every file of a folder; in a folder, files of other types are skipped. */
function certificatesAt(path: string, key: string, faults: string[]): readonly Buffer[] {
  try {
    const folder = statSync(path).isDirectory();
    const files = folder ? filesIn(path) : [path];
    const found = files.flatMap((file) => certificatesInBundle(readFileSync(file)));
    if (found.length === 0) faults.push(`${key}: ${path} holds no certificate that can be read.`);
    return found;
  } catch (error) {
    faults.push(
      `${key}: ${path} can't be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}.`,
    );
    return [];
  }
}

/** Links whose files were removed are passed over: folders of systems have them. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}
