import type { ProfileView } from '../../contracts/batch/statistics.ts';
import type { Profile, Profiles } from '../shared/signing/profiles.ts';

/** API views of the signing profiles. Source: docs/batch-values.md §15. */
export class ProfileViews {
  constructor(private readonly profiles: Profiles) {}

  /** In the order of the configuration. */
  list(): readonly ProfileView[] {
    const unnamed = this.profiles.find(undefined)?.name;
    return this.profiles.all.map((profile) => ({
      name: profile.name,
      format: profile.format ?? null,
      method: profile.method,
      verify: profile.verify,
      encrypt: profile.encrypt,
      validateCertificate: profile.method === 'Local' && profile.validateCertificate === true,
      certificate: certificateOf(profile),
      default: profile.name === unnamed,
    }));
  }
}

/** The certificate of a local profile; null for a remote one, whose participants bring their own. */
function certificateOf(profile: Profile): ProfileView['certificate'] {
  if (profile.method !== 'Local' || profile.facts === undefined) return null;
  const { source, subject, thumbprint, notAfter } = profile.facts;
  return { source, subject, thumbprint, notAfter };
}
