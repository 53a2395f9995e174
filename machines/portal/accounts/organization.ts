/**
 * An organization of the portal with its applications and their secrets.
 *
 * | from   | message         | to     | effects |                                                          |
 * |--------|-----------------|--------|---------|----------------------------------------------------------|
 * | Active | ADD_APPLICATION | Active |         | with a unique name, up to 100 applications               |
 * | Active | ADD_SECRET      | Active |         | at most two; a configured third retires the oldest       |
 * | Active | REVOKE_SECRET   | Active |         | of an existing secret                                    |
 * | Active | CONFIGURE       | Active |         |                                                          |
 * | Active | USED            | Active |         | with an existing secret                                  |
 * | Active | PUT_PROVIDER    | Active |         | changes the one of that id, or adds one, up to 10        |
 * | Active | REMOVE_PROVIDER | Active |         | that exists                                              |
 * | Active | RECORD          | Active |         |                                                          |
 *
 * The runtime ensures that names are unique over all organizations.
 *
 * Source: docs/portal-values.md §0; two live secrets per application are ours.
 */
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { ApplicationRole, KeyLimits } from '../../../contracts/portal/organizations.ts';
import type { ReminderSchedule } from '../../../contracts/portal/reminders.ts';
import type { Language, QualificationDemand } from '../../../contracts/portal/words.ts';
import type { ApplicationId, Millis } from '../../ids.ts';
import { recordMachine } from '../../record.ts';

/** The organization whose applications may monitor and administer. Source: "Authentication" 4. */
export const SYSTEM_ORGANIZATION = 'Sys Admin';

/** Maximum number of applications of one organization. */
export const MAX_APPLICATIONS = 100;
/** Valid secrets of one application at a time, so that one can be replaced without interruption. */
export const LIVE_SECRETS = 2;

export interface ApplicationSecret extends KeyLimits {
  readonly id: string;
  /** First eight characters, to identify the secret. */
  readonly prefix: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly createdAt: Millis;
  /** Rounded to the hour. */
  readonly lastUsedAt: Millis | null;
  /** Absent: the command line, the settings, or an earlier version. */
  readonly createdBy?: Principal;
}

export interface Application {
  readonly id: ApplicationId;
  readonly name: string;
  readonly role: ApplicationRole;
  readonly createdAt: Millis;
  /** Oldest first. */
  readonly secrets: readonly ApplicationSecret[];
}

/** Settings of an organization that can be changed. */
export interface OrganizationSettings {
  readonly identifier: string | null;
  /** Origins that may frame the pages of its documents; empty = any. */
  readonly embedOrigins: readonly string[];
  /** Of its mails. */
  readonly language: Language;
  /** Reply-to address of its mails; null = the sender's. */
  readonly replyTo: string | null;
  /** That address as the settings gave it last; absent = they gave none. Another one is written once, at the next start. */
  readonly configuredReplyTo?: string;
  /** True: an envelope of signed files is refused. False: the signed files become its attachments. */
  readonly refuseSignedEnvelopeFiles: boolean;
  /** Reminders of documents that are created without a schedule; absent or null = none. */
  readonly reminders?: ReminderSchedule | null;
  /** Least qualification of signatures of participants; absent or null = any. */
  readonly requiredQualification?: QualificationDemand | null;
  /** Users need a second factor to sign in by a mailed link. @default false */
  readonly requireSecondFactor?: boolean;
  /** Nobody acts as deputy on its documents. @default false */
  readonly refuseDeputies?: boolean;
}

/** Signing providers of one organization. */
const MAX_PROVIDERS = 10;

/** A remote signing service at which people sign the documents of the organization. */
export interface StoredProvider {
  readonly id: string;
  readonly title: string;
  readonly address: string;
  readonly authorization: string | null;
  readonly clientId: string;
  /** Encrypted. */
  readonly clientSecret: string;
}

export interface OrganizationContext extends OrganizationSettings {
  readonly name: string;
  readonly createdAt: Millis;
  readonly applications: readonly Application[];
  /** Absent = none. */
  readonly signingProviders?: readonly StoredProvider[];
}

export const NO_SETTINGS: OrganizationSettings = {
  identifier: null,
  embedOrigins: [],
  language: 'en',
  replyTo: null,
  refuseSignedEnvelopeFiles: false,
};

type NewSecret = Pick<ApplicationSecret, 'id' | 'prefix' | 'sha256' | 'createdBy' | keyof KeyLimits>;

/** `by`: the caller; absent = the service itself, or the command line. */
export type OrganizationMessage = { readonly at: Millis; readonly by?: string | undefined } & (
  | {
      readonly type: 'ADD_APPLICATION';
      readonly id: ApplicationId;
      readonly name: string;
      readonly role: ApplicationRole;
      /** An application created with the organization. */
      readonly secret: NewSecret | null;
    }
  | ({
      readonly type: 'ADD_SECRET';
      readonly applicationId: ApplicationId;
      /** A third secret removes the oldest one; otherwise it is not accepted. Expired secrets do not count. */
      readonly retiresOldest: boolean;
    } & NewSecret)
  | { readonly type: 'REVOKE_SECRET'; readonly applicationId: ApplicationId; readonly id: string }
  | { readonly type: 'CONFIGURE'; readonly settings: Partial<OrganizationSettings> }
  | { readonly type: 'PUT_PROVIDER'; readonly provider: StoredProvider; readonly isNew: boolean }
  | { readonly type: 'REMOVE_PROVIDER'; readonly id: string }
  | { readonly type: 'USED'; readonly applicationId: ApplicationId; readonly id: string }
  /** Adds a line to the journal, for actions that change no actor. */
  | {
      readonly type: 'RECORD';
      readonly note: string;
      readonly data?: Readonly<Record<string, string | null>>;
    }
);

/** True for equal names. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function hasSecret({ applications }: OrganizationContext, applicationId: string, secretId: string): boolean {
  return applications.some(
    ({ id, secrets }) => id === applicationId && secrets.some((secret) => secret.id === secretId),
  );
}

/** Returns the applications with one of them changed. */
function changed(
  { applications }: OrganizationContext,
  applicationId: string,
  change: (secrets: readonly ApplicationSecret[]) => readonly ApplicationSecret[],
): readonly Application[] {
  return applications.map((application) =>
    application.id === applicationId ? { ...application, secrets: change(application.secrets) } : application,
  );
}

export const organizationMachine = recordMachine<OrganizationContext, OrganizationMessage>({
  id: 'organization',
  state: 'Active',
  context: (input) => input,
  created: 'Created.',
  changes: {
    ADD_APPLICATION: ({ applications }, { id, name, role, secret, at }) => {
      const isTaken = applications.some((other) => foldedName(other.name) === foldedName(name));
      if (isTaken || applications.length >= MAX_APPLICATIONS) return undefined;
      const added = { id, name, role, createdAt: at, secrets: secret ? [live(secret, at)] : [] };
      return {
        context: { applications: [...applications, added] },
        note: `Application "${name}" added as ${role}.`,
      };
    },
    ADD_SECRET: (organization, message) => {
      const { applicationId, retiresOldest, prefix, at } = message;
      const application = organization.applications.find(({ id }) => id === applicationId);
      if (application === undefined) return undefined;
      const unexpired = application.secrets.filter(({ expiresAt }) => (expiresAt ?? Infinity) > at);
      if (unexpired.length >= LIVE_SECRETS && !retiresOldest) return undefined;
      const applications = changed(organization, applicationId, () =>
        [...unexpired, live(message, at)].slice(-LIVE_SECRETS),
      );
      return { context: { applications }, note: `Secret ${prefix}... added.` };
    },
    REVOKE_SECRET: (organization, { applicationId, id }) => {
      if (!hasSecret(organization, applicationId, id)) return undefined;
      const applications = changed(organization, applicationId, (secrets) =>
        secrets.filter((secret) => secret.id !== id),
      );
      return { context: { applications }, note: `Secret ${id} revoked.` };
    },
    CONFIGURE: (_, { settings }) => ({
      context: settings,
      note: `Settings changed: ${Object.keys(settings).join(', ')}.`,
    }),
    USED: (organization, { applicationId, id, at }) => {
      if (!hasSecret(organization, applicationId, id)) return undefined;
      const applications = changed(organization, applicationId, (secrets) =>
        secrets.map((secret) => (secret.id === id ? { ...secret, lastUsedAt: at } : secret)),
      );
      return { context: { applications } };
    },
    PUT_PROVIDER: ({ signingProviders = [] }, { provider, isNew }) => {
      const isKnown = signingProviders.some(({ id }) => id === provider.id);
      if (isNew === isKnown || (isNew && signingProviders.length >= MAX_PROVIDERS)) return undefined;
      const others = signingProviders.map((one) => (one.id === provider.id ? provider : one));
      return {
        context: { signingProviders: isNew ? [...signingProviders, provider] : others },
        note: `Signing provider ${provider.title} (${[provider.address, provider.authorization].filter(Boolean).join(', ')}) ${isNew ? 'added' : 'changed'}.`,
      };
    },
    REMOVE_PROVIDER: ({ signingProviders = [] }, { id }) => {
      const removed = signingProviders.find((one) => one.id === id);
      return (
        removed && {
          context: { signingProviders: signingProviders.filter((one) => one !== removed) },
          note: `Signing provider ${removed.title} (${removed.address}) removed.`,
        }
      );
    },
    RECORD: (_, { note, data }) => ({ context: {}, note, ...(data !== undefined && { data }) }),
  },
});

function live(
  { id, prefix, sha256, scopes, expiresAt, folders, createdBy }: NewSecret,
  at: Millis,
): ApplicationSecret {
  return {
    ...(createdBy !== undefined && { createdBy }),
    id,
    prefix,
    sha256,
    createdAt: at,
    lastUsedAt: null,
    ...(scopes !== undefined && { scopes }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(folders !== undefined && { folders }),
  };
}
