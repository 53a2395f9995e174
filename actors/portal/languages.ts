/** The language an organization's documents and mails are in. */
import type { OrganizationId } from '../../machines/ids.ts';
import type { Language, OrganizationContext } from '../../machines/organization.ts';
import type { ActorSystem } from '../../runtime/index.ts';
import { ORGANIZATION } from './organizations.ts';

/** English for an organization that is gone, and where nobody says which it is. */
export type LanguageOf = (organization: OrganizationId | undefined) => Promise<Language>;

export function languagesOf(system: () => Pick<ActorSystem, 'read'>): LanguageOf {
  return async (id) => {
    if (id === undefined) return 'en';
    const organization = await system().read({ kind: ORGANIZATION, id });
    return (organization?.context as OrganizationContext | undefined)?.language ?? 'en';
  };
}
