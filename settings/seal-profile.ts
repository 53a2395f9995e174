/** Names the signing profile that seals the documents of the portal, and at which level. Source: docs/configuration.md. */
import type { Settings } from './table.ts';

/** Returns the signing profile that seals; undefined: the built-in one, without time-stamps. */
export function sealProfileSettings({ portal, signing }: Settings) {
  const local = signing.profiles.filter(({ method }) => method === 'Local');
  return local.find(({ name }) => name === portal.sealProfile) ?? local[0];
}

/**
 * Returns the level of the portal's signatures. Without `Level` it is LTA where an authority and its root are configured: documents
 * must stay valid after the certificate ends, unlike files that are signed in bulk.
 */
export function sealLevel(settings: Settings): 'B' | 'T' | 'LT' | 'LTA' {
  const profile = sealProfileSettings(settings);
  const { roots, useSystemRoots } = settings.signing.trust;
  if (profile?.level !== undefined) return profile.level;
  return profile?.timestamp.url !== undefined && (roots.length > 0 || useSystemRoots) ? 'LTA' : 'B';
}
