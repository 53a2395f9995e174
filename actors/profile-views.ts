/** What clients learn about the signing profiles. Source: batch-gaps §15, "Profiles". */
import type { ProfileList, ProfileView } from './api.ts';
import type { Profile, Profiles } from './profiles.ts';

export class ProfileViews implements ProfileList {
  readonly #profiles: Profiles;

  constructor(profiles: Profiles) {
    this.#profiles = profiles;
  }

  list(): readonly ProfileView[] {
    const unnamed = this.#profiles.find(undefined)?.name;
    return this.#profiles.all.map((profile) => ({
      name: profile.name,
      format: profile.format ?? null,
      method: profile.method,
      verify: profile.verify,
      encrypt: profile.encrypt,
      validateCertificate: profile.method === 'Local' && profile.validateCertificate === true,
      certificate: certificateOf(profile),
      isDefault: profile.name === unnamed,
    }));
  }
}

/** None of a remote profile: the portal's participant signs with one that is not known here. */
function certificateOf(profile: Profile): ProfileView['certificate'] {
  if (profile.method !== 'Local' || profile.facts === undefined) return null;
  const { source, subject, thumbprint, notAfter } = profile.facts;
  return { source, subject, thumbprint, notAfter };
}
