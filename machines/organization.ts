/**
 * An organization of the portal with its applications and their secrets.
 *
 * | from   | event           | to     | effects |                                                          |
 * |--------|-----------------|--------|---------|----------------------------------------------------------|
 * | Active | ADD_APPLICATION | Active |         | under a name no other of its applications has, up to 100 |
 * | Active | ADD_SECRET      | Active |         | a third one retires the oldest                           |
 * | Active | REVOKE_SECRET   | Active |         | that is there                                            |
 * | Active | CONFIGURE       | Active |         |                                                          |
 * | Active | USED            | Active |         | by a secret that is there                                |
 *
 * That names are unique over all organizations is the runtime's to see to.
 *
 * Source: Document Signing Portal API, "Authentication" 1-4; two live secrets per application are ours.
 */
import { assign, setup } from 'xstate';
import type { ApplicationId, Millis } from './ids.ts';

export type ApplicationRole = 'Normal' | 'Monitor' | 'Administrator';
export const APPLICATION_ROLES: readonly ApplicationRole[] = ['Normal', 'Monitor', 'Administrator'];

/** The organization whose applications may monitor and administer. Source: "Authentication" 4. */
export const SYSTEM_ORGANIZATION = 'Sys Admin';

/** Applications one organization may have. */
export const MOST_APPLICATIONS = 100;
/** Secrets of one application that are good at a time, so that one can be exchanged without a gap. */
export const LIVE_SECRETS = 2;

export interface ApplicationSecret {
  readonly id: string;
  /** First eight characters, to tell secrets apart. */
  readonly prefix: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly createdAt: Millis;
  /** To the hour. */
  readonly lastUsedAt: Millis | null;
}

export interface Application {
  readonly id: ApplicationId;
  readonly name: string;
  readonly role: ApplicationRole;
  readonly createdAt: Millis;
  /** Oldest first. */
  readonly secrets: readonly ApplicationSecret[];
}

/** The language of an organization's mails. */
export type Language = 'en' | 'pt' | 'es';
export const LANGUAGES: readonly Language[] = ['en', 'pt', 'es'];

/** What may be changed of an organization. */
export interface OrganizationSettings {
  readonly identifier: string | null;
  /** Origins that may frame the pages of its documents; empty = any. */
  readonly embedOrigins: readonly string[];
  readonly language: Language;
  /** Address that answers to mails go to; null = that of the sender. */
  readonly replyTo: string | null;
}

export interface OrganizationContext extends OrganizationSettings {
  readonly name: string;
  readonly createdAt: Millis;
  readonly applications: readonly Application[];
}

export const NO_SETTINGS: OrganizationSettings = {
  identifier: null,
  embedOrigins: [],
  language: 'en',
  replyTo: null,
};

export type NewSecret = Pick<ApplicationSecret, 'id' | 'prefix' | 'sha256'>;

export type OrganizationEvent = { readonly at: Millis } & (
  | {
      readonly type: 'ADD_APPLICATION';
      readonly id: ApplicationId;
      readonly name: string;
      readonly role: ApplicationRole;
      /** One it has from the beginning. */
      readonly secret: NewSecret | null;
    }
  | ({ readonly type: 'ADD_SECRET'; readonly applicationId: ApplicationId } & NewSecret)
  | { readonly type: 'REVOKE_SECRET'; readonly applicationId: ApplicationId; readonly id: string }
  | { readonly type: 'CONFIGURE'; readonly settings: Partial<OrganizationSettings> }
  | { readonly type: 'USED'; readonly applicationId: ApplicationId; readonly id: string }
);

type Named<Type extends OrganizationEvent['type']> = Extract<OrganizationEvent, { readonly type: Type }>;

/** Two names that are the same name. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function holds({ applications }: OrganizationContext, applicationId: string, secretId: string): boolean {
  return applications.some(
    ({ id, secrets }) => id === applicationId && secrets.some((secret) => secret.id === secretId),
  );
}

/** The applications with one of them changed. */
function changed(
  { applications }: OrganizationContext,
  applicationId: string,
  change: (secrets: readonly ApplicationSecret[]) => readonly ApplicationSecret[],
): readonly Application[] {
  return applications.map((application) =>
    application.id === applicationId ? { ...application, secrets: change(application.secrets) } : application,
  );
}

export const organizationMachine = setup({
  types: {
    context: {} as OrganizationContext,
    input: {} as OrganizationContext,
    events: {} as OrganizationEvent,
  },
  actions: { note: (_, _line: { readonly message: string }) => {} },
}).createMachine({
  id: 'organization',
  context: ({ input }) => input,
  initial: 'Active',
  states: {
    Active: {
      on: {
        ADD_APPLICATION: {
          guard: ({ context: { applications }, event }) =>
            applications.length < MOST_APPLICATIONS &&
            applications.every(({ name }) => foldedName(name) !== foldedName(event.name)),
          actions: [
            assign(({ context: { applications }, event: { id, name, role, secret, at } }) => ({
              applications: [
                ...applications,
                { id, name, role, createdAt: at, secrets: secret ? [live(secret, at)] : [] },
              ],
            })),
            {
              type: 'note',
              params: ({ event }) => ({ message: `Application "${event.name}" added as ${event.role}.` }),
            },
          ],
        },
        ADD_SECRET: {
          guard: ({ context, event }) => context.applications.some(({ id }) => id === event.applicationId),
          actions: [
            assign(({ context, event }) => ({ applications: withSecret(context, event) })),
            { type: 'note', params: ({ event }) => ({ message: `Secret ${event.prefix}... added.` }) },
          ],
        },
        REVOKE_SECRET: {
          guard: ({ context, event }) => holds(context, event.applicationId, event.id),
          actions: [
            assign(({ context, event }) => ({
              applications: changed(context, event.applicationId, (secrets) =>
                secrets.filter(({ id }) => id !== event.id),
              ),
            })),
            { type: 'note', params: ({ event }) => ({ message: `Secret ${event.id} revoked.` }) },
          ],
        },
        CONFIGURE: { actions: assign(({ event }) => event.settings) },
        USED: {
          guard: ({ context, event }) => holds(context, event.applicationId, event.id),
          actions: assign(({ context, event }) => ({ applications: withUse(context, event) })),
        },
      },
    },
  },
});

function live({ id, prefix, sha256 }: NewSecret, at: Millis): ApplicationSecret {
  return { id, prefix, sha256, createdAt: at, lastUsedAt: null };
}

function withSecret(context: OrganizationContext, event: Named<'ADD_SECRET'>): readonly Application[] {
  return changed(context, event.applicationId, (secrets) =>
    [...secrets, live(event, event.at)].slice(-LIVE_SECRETS),
  );
}

function withUse(
  context: OrganizationContext,
  { applicationId, id, at }: Named<'USED'>,
): readonly Application[] {
  return changed(context, applicationId, (secrets) =>
    secrets.map((secret) => (secret.id === id ? { ...secret, lastUsedAt: at } : secret)),
  );
}
