/** Organizations, applications and their secrets, for `sealwright keys` and the administration API. */

import type { Page } from '../../../contracts/portal/lists.ts';
import type { ApplicationRole } from '../../../contracts/portal/organizations.ts';
import type { ReminderSchedule } from '../../../contracts/portal/reminders.ts';
import type { ApplicationId, Millis, OrganizationId } from '../../../machines/ids.ts';
import type { KeyScope, OrganizationSettings, SecretLimits } from '../../../machines/portal/organization.ts';

export interface ApplicationView {
  readonly id: ApplicationId;
  readonly name: string;
  readonly role: ApplicationRole;
  /** At most two live at a time. */
  readonly secrets: readonly {
    readonly id: string;
    /** First eight characters. */
    readonly prefix: string;
    readonly createdAt: Millis;
    readonly lastUsedAt: Millis | null;
    /** Null = all that the application may do. */
    readonly scopes: readonly KeyScope[] | null;
    /** Null = never. */
    readonly expiresAt: Millis | null;
    /** `soon`: within 30 days. */
    readonly expiry: 'never' | 'later' | 'soon' | 'over';
    /** Folders whose documents it reaches; null = all documents. */
    readonly folders: readonly string[] | null;
  }[];
}
export interface OrganizationView {
  readonly id: OrganizationId;
  readonly name: string;
  readonly identifier: string | null;
  readonly createdAt: Millis;
  readonly embedOrigins: readonly string[];
  readonly refuseSignedEnvelopeFiles: boolean;
  /** Null = none. */
  readonly reminders: ReminderSchedule | null;
  readonly applications: readonly ApplicationView[];
}

/** For `sealwright keys`, the administration API and the pages. `by`: who asked for it, for the journal. */
export interface PortalAdministration {
  organizations(query: {
    readonly q?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<Page<OrganizationView>>;
  organization(id: OrganizationId): Promise<OrganizationView>;
  createOrganization(input: {
    readonly name: string;
    readonly identifier?: string | undefined;
  }): Promise<OrganizationView>;
  createApplication(
    organization: OrganizationId,
    input: { readonly name: string; readonly role: ApplicationRole },
    secret?: undefined,
    by?: string,
  ): Promise<ApplicationView>;
  /** Changes the given settings. Refusals: `OrganizationNotFound`. */
  configure(
    id: OrganizationId,
    settings: Partial<OrganizationSettings>,
    by?: string,
  ): Promise<OrganizationView>;
  /**
   * The secret is shown this once. `key` = `<application>|<secret>`. Refusals: `KeyLimitReached` for a third one, with
   * the key to revoke; `BadRequest` for an expiry that is over.
   */
  createSecret(
    organization: OrganizationId,
    application: ApplicationId,
    limits?: SecretLimits,
    by?: string,
  ): Promise<{ readonly id: string; readonly key: string }>;
  revokeSecret(
    organization: OrganizationId,
    application: ApplicationId,
    secretId: string,
    by?: string,
  ): Promise<void>;
  /** Adds a line to the journal, for actions that change nothing stored. */
  record(organization: OrganizationId, note: string, by: string): Promise<void>;
}

/** A key of an application, without its secret and its first characters. */
export interface OperatorKey
  extends Pick<
    ApplicationView['secrets'][number],
    'id' | 'createdAt' | 'lastUsedAt' | 'expiresAt' | 'expiry'
  > {
  readonly organization: string;
  readonly application: string;
  readonly role: ApplicationRole;
  /** True when scopes or folders limit it. */
  readonly limited: boolean;
}

/** For operators: keys of all applications. */
export interface OperatorKeys {
  /** Those that expire first come first; `complete`: false when not all organizations or keys are listed. */
  keys(): Promise<{ readonly items: readonly OperatorKey[]; readonly complete: boolean }>;
}
