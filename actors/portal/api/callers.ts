/** Who calls the portal: the tenant an application's key stands for. */
import type { ApplicationId, OrganizationId } from '../../../machines/ids.ts';

export type ApplicationRole = 'Normal' | 'Monitor' | 'Administrator';

/** The application a key stands for. */
export interface Tenant {
  readonly organization: {
    readonly id: OrganizationId;
    readonly name: string;
    /** Its registration number; absent = it has none. */
    readonly identifier?: string | undefined;
  };
  readonly application: {
    readonly id: ApplicationId;
    readonly name: string;
    readonly role: ApplicationRole;
  };
}

export interface Tenants {
  /** The tenant of an `X-Api-Key` value, in constant time for known applications; undefined = 401. */
  identify(key: string): Promise<Tenant | undefined>;
  /** Origins that may frame the pages of an organization's documents; empty = any. */
  embedOrigins(organization: OrganizationId): Promise<readonly string[]>;
}
