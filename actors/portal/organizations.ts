/**
 * The actors of organizations, and where they are found: by name, and by the names of their applications.
 *
 * Views: `organizations` [createdAt, id] → { id, name } · `applications` [name's key] → { organizationId, id };
 * counter `organizations`.
 */
import { createHash } from 'node:crypto';
import type { ApplicationId, OrganizationId } from '../../machines/ids.ts';
import { foldedName, type OrganizationContext, organizationMachine } from '../../machines/organization.ts';
import type { ActorDefinition, ActorView, Row } from '../../runtime/index.ts';

export const ORGANIZATION = 'organization';
export const ORGANIZATIONS_COUNTER = 'organizations';

/** What the row of an application says. */
export interface ApplicationRow {
  readonly organizationId: OrganizationId;
  readonly id: ApplicationId;
}

/** What the row of an organization says. */
export interface OrganizationRow {
  readonly id: OrganizationId;
  readonly name: string;
}

/** A key of fixed length for a name of any length and spelling. */
export function nameKey(name: string): string {
  return createHash('sha256').update(foldedName(name)).digest('base64url');
}

/** The runtime's unique name of an organization. */
export function organizationName(name: string): string {
  return `organization:${nameKey(name)}`;
}

function applicationName(name: string): string {
  return `application:${nameKey(name)}`;
}

function organizationRows({ id, context }: ActorView): readonly Row[] {
  const { name, createdAt, applications } = context as OrganizationContext;
  return [
    { view: 'organizations', key: [createdAt, id], value: { id, name } },
    ...applications.map((application) => ({
      view: 'applications',
      key: [nameKey(application.name)],
      value: { organizationId: id, id: application.id },
    })),
  ];
}

function organizationNames({ context }: ActorView): readonly string[] {
  const { name, applications } = context as OrganizationContext;
  return [organizationName(name), ...applications.map((application) => applicationName(application.name))];
}

export const organizationDefinition: ActorDefinition = {
  kind: ORGANIZATION,
  machine: organizationMachine,
  version: 1,
  rows: organizationRows,
  names: organizationNames,
  counters: () => ({ [ORGANIZATIONS_COUNTER]: 1 }),
};
