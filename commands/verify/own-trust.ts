/** Trust of this installation, for `verify` without `--trust`. */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { certificatesIn } from '@sealwright/signatures';
import type { OwnTrust } from '@sealwright/signatures/command-line';
import { DEVELOPMENT_CA_FILE } from '../../service/certificate-sources.ts';
import { readTrust } from '../../service/signing-trust.ts';
import type { LoadedSettings } from '../../settings.ts';

/**
 * Reads the roots of `Signing:Trust` and the development authority that a start without a certificate makes. Undefined
 * when there are none, or when the configuration is refused.
 */
export function readOwnTrust(loaded: LoadedSettings): OwnTrust | undefined {
  if (!loaded.ok) return undefined;
  const { settings } = loaded;
  const { trust } = readTrust(settings);
  const path = join(settings.storage.keysPath, DEVELOPMENT_CA_FILE);
  const development = existsSync(path) ? certificatesIn(readFileSync(path)) : [];
  const roots = [...trust.roots, ...development];
  if (roots.length === 0) return undefined;
  const names = [
    ...(trust.roots.length > 0 ? ['the roots of Signing:Trust'] : []),
    ...(development.length > 0
      ? [
          `the development authority of this installation (${relative(process.cwd(), path)}), which nobody else trusts`,
        ]
      : []),
  ];
  return { roots, intermediates: trust.intermediates, names };
}

/** Hosts that this installation fetches missing issuers from. */
export function ownIssuerHosts(loaded: LoadedSettings): readonly string[] {
  if (!loaded.ok) return [];
  const { allowAia, aiaHosts } = loaded.settings.signing.trust;
  return allowAia ? aiaHosts : [];
}
