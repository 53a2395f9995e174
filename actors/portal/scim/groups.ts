/**
 * Groups of identity services, and the roles that they give.
 *
 * Views: `user-groups` [organization, createdAt, id] → null · `unsettled-groups` [id] → null; counter
 * `user-groups/<organization>`.
 *
 * Source: docs/decisions/0278-provisioning.md.
 */
import { hash } from 'node:crypto';
import { type ActorView, defineActor, type Row } from '@sealwright/runtime';
import type { OrganizationId } from '../../../machines/ids.ts';
import { accessOf } from '../../../machines/portal/accounts/portal-user.ts';
import {
  foldedGroupName,
  GROUP_REMOVED,
  GROUP_ROLES,
  type GroupContext,
  userGroupMachine,
} from '../../../machines/portal/accounts/user-group.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { PORTAL_USER } from '../accounts/users.ts';

export const GROUP_VIEW = 'user-groups';
const UNSETTLED_VIEW = 'unsettled-groups';
/** Records of users changed at a time. */
const BATCH = 32;
/** Rounds of grants while groups change; after them the rest is left to the next change, or to the next start. */
const MAX_ROUNDS = 5;

export function groupCounter(organization: string): string {
  return `${GROUP_VIEW}/${organization}`;
}

/** The runtime's unique name of a group. */
export function groupName(organization: string, displayName: string): string {
  return `user-group:${organization}:${hash('sha256', foldedGroupName(displayName), 'base64url')}`;
}

export const USER_GROUP = defineActor('user-group', {
  machine: userGroupMachine,
  version: 1,
  ends: ({ state }) => state === GROUP_REMOVED,
  rows: ({ id, context }: ActorView<GroupContext>): readonly Row[] => [
    { view: GROUP_VIEW, key: [context.organizationId, context.createdAt, id], value: null },
    ...(context.unsettled.length > 0 ? [{ view: UNSETTLED_VIEW, key: [id], value: null }] : []),
  ],
  names: ({ context: { organizationId, displayName } }) => [groupName(organizationId, displayName)],
  counters: ({ context }) => ({ [groupCounter(context.organizationId)]: 1 }),
});

type Runtime = Pick<ServiceRuntime, 'actors' | 'store' | 'clock'>;

/** Gives the users whose role a change of the group affects their role. A crash in between leaves the rest to the next start. */
export async function settleGroup({ actors, store }: Runtime, id: string): Promise<void> {
  const group = await actors.read(USER_GROUP, id);
  if (group === undefined) return;
  const { organizationId, unsettled, revision } = group.context;
  if (unsettled.length === 0) return;
  let givers = await groupsWithRoles({ actors, store }, organizationId);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    for (let from = 0; from < unsettled.length; from += BATCH)
      await Promise.all(
        unsettled.slice(from, from + BATCH).map((userId) => {
          const role = givers.find(({ members }) => members.has(userId))?.role;
          const accessProfile = accessOf(role);
          const grant = {
            type: 'GRANT',
            organizationId,
            accessProfile,
            userId,
            by: 'the identity service',
          } as const;
          return actors.send(PORTAL_USER, userId, grant);
        }),
      );
    // What a group gave that has changed meanwhile may have been granted after what it gives now.
    const now = await groupsWithRoles({ actors, store }, organizationId);
    if (now.every(({ version }, place) => version === givers[place]?.version)) {
      await actors.send(USER_GROUP, id, { type: 'SETTLED', revision });
      return;
    }
    givers = now;
  }
}

/** For the start of the service. */
export async function settleGroups(runtime: Runtime): Promise<void> {
  for (const { key } of await runtime.store.rows({ view: UNSETTLED_VIEW, limit: 1_000 }))
    await settleGroup(runtime, String(key[0]));
}

/** In the order of the roles. */
async function groupsWithRoles(
  { actors, store }: Pick<Runtime, 'actors' | 'store'>,
  organization: OrganizationId,
) {
  const found = await Promise.all(
    GROUP_ROLES.map(async ({ group, role }) => {
      const holder = await store.holder(groupName(organization, group));
      const actor = holder && (await actors.read(USER_GROUP, holder.id));
      const version = actor && `${actor.id} ${actor.context.revision}`;
      return { role, version, members: new Set(actor?.context.members) };
    }),
  );
  return found;
}
