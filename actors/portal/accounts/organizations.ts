/**
 * The actors of organizations, and where they are found: by name, and by the names of their applications.
 *
 * Views: `organizations` [createdAt, id] → { id, name } · `applications` [name's key] → { organizationId, id };
 * `erasures` [organization, time, id] → null, counters `erasures/<organization>/<running or done>` ·
 * `retention-rules` [organization] → null, of those with rules of retention; counter `organizations`.
 */
import { hash } from 'node:crypto';
import { type ActorView, defineActor, jsonType, type Row } from '@sealwright/runtime';
import type { ApplicationId, OrganizationId } from '../../../machines/ids.ts';
import { erasePeople, erasureMachine } from '../../../machines/portal/accounts/erasure.ts';
import {
  foldedName,
  type OrganizationContext,
  organizationMachine,
} from '../../../machines/portal/accounts/organization.ts';
import { retain, retentionMachine } from '../../../machines/portal/retention.ts';
import type { Tenant } from '../api/callers.ts';

export const ORGANIZATIONS_COUNTER = 'organizations';

/** Row of an application. */
export interface ApplicationRow {
  readonly organizationId: OrganizationId;
  readonly id: ApplicationId;
}

/** Row of an organization. */
export interface OrganizationRow {
  readonly id: OrganizationId;
  readonly name: string;
}

export const APPLICATION_ROW = jsonType<ApplicationRow>();
export const ORGANIZATION_ROW = jsonType<OrganizationRow>();

/** A key of fixed length for a name of any length and spelling. */
export function nameKey(name: string): string {
  return hash('sha256', foldedName(name), 'base64url');
}

/** The runtime's unique name of an organization. */
export function organizationName(name: string): string {
  return `organization:${nameKey(name)}`;
}

function applicationName(name: string): string {
  return `application:${nameKey(name)}`;
}

function organizationRows({ id, context }: ActorView<OrganizationContext>): readonly Row[] {
  const { name, createdAt, applications } = context;
  return [
    { view: 'organizations', key: [createdAt, id], value: { id, name } },
    ...applications.map((application) => ({
      view: 'applications',
      key: [nameKey(application.name)],
      value: { organizationId: id, id: application.id },
    })),
  ];
}

function organizationNames({ context }: ActorView<OrganizationContext>): readonly string[] {
  const { name, applications } = context;
  return [organizationName(name), ...applications.map((application) => applicationName(application.name))];
}

export const ORGANIZATION = defineActor('organization', {
  machine: organizationMachine,
  version: 2,
  migrations: {
    // Version 1 knew no setting for signed files of envelopes.
    1: {
      migrate: ({ state, context }) => ({
        state,
        context: { ...context, refuseSignedEnvelopeFiles: false },
      }),
    },
  },
  rows: organizationRows,
  names: organizationNames,
  counters: () => ({ [ORGANIZATIONS_COUNTER]: 1 }),
});

export const RETENTION_RULES_VIEW = 'retention-rules';

export const RETENTION = defineActor('retention', {
  machine: retentionMachine,
  effects: [retain],
  version: 1,
  rows: ({ id }) => [{ view: RETENTION_RULES_VIEW, key: [id], value: null }],
});

export const ERASURES_VIEW = 'erasures';

export const ERASURE = defineActor('erasure', {
  machine: erasureMachine,
  effects: [erasePeople],
  version: 1,
  rows: ({ id, context: { organizationId, at } }) => [
    { view: ERASURES_VIEW, key: [organizationId, at, id], value: null },
  ],
  counters: ({ state, context }): { readonly [name: string]: number } => ({
    [erasureCounter(context.organizationId, state)]: 1,
  }),
});

export function erasureCounter(organization: OrganizationId, state: string): string {
  return `erasures/${organization}/${state === 'Done' ? 'done' : 'running'}`;
}

/** The organization of a caller. */
export function organizationOf(
  id: OrganizationId,
  { name, identifier }: OrganizationContext,
): Tenant['organization'] {
  return { id, name, ...(identifier !== null && { identifier }) };
}
