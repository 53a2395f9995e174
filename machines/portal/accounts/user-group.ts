/**
 * A group of users, as the identity service of an organization keeps it.
 *
 * | from  | message | to      | effects |                                                                  |
 * |-------|---------|---------|---------|------------------------------------------------------------------|
 * | Known | CHANGE  | Known   |         | of the expected revision                                         |
 * | Known | SETTLED | Known   |         | of the current revision                                          |
 * | Known | REMOVE  | Removed |         |                                                                  |
 *
 * A group whose name stands in `GROUP_ROLES` gives its members a role. The members whose role a change affects stay in
 * `unsettled` until their records have it. Removed is not stored: the actor ends.
 *
 * Source: docs/decisions/0278-provisioning.md.
 */
import type { Millis, OrganizationId } from '../../ids.ts';
import { type RecordMessage, recordMachine } from '../../record.ts';
import { USER_ROLES, type UserRole } from './portal-user.ts';

export const GROUP_REMOVED = 'Removed';

/** Members of one group. */
export const MAX_GROUP_MEMBERS = 5_000;

/** Names of the groups that give a role, in lower case; of several roles a person has the first. */
export const GROUP_ROLES: readonly { readonly group: string; readonly role: UserRole }[] = USER_ROLES.map(
  (role) => ({ group: `sealwright-${role}s`, role }),
);

interface GroupDescription {
  readonly displayName: string;
  /** Its id at the identity service; null = none. */
  readonly externalId: string | null;
  /** Ids of users. */
  readonly members: readonly string[];
}

export interface GroupContext extends GroupDescription {
  readonly organizationId: OrganizationId;
  readonly createdAt: Millis;
  readonly changedAt: Millis;
  /** Raised by each change. */
  readonly revision: number;
  /** Users whose role is to be decided anew. */
  readonly unsettled: readonly string[];
}

export type NewGroup = GroupDescription & Pick<GroupContext, 'organizationId' | 'createdAt'>;

export type GroupMessage = RecordMessage &
  (
    | ({
        readonly type: 'CHANGE';
        /** The revision that the change was computed from. */
        readonly revision: number;
      } & GroupDescription)
    | { readonly type: 'SETTLED'; readonly revision: number }
    | { readonly type: 'REMOVE' }
  );

/** Equal for names that name the same group. */
export function foldedGroupName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function givesRole({ displayName }: GroupDescription): boolean {
  return GROUP_ROLES.some(({ group }) => group === foldedGroupName(displayName));
}

/** Users whose role may differ between the two. */
function affected(before: GroupDescription, after: GroupDescription): readonly string[] {
  const had = givesRole(before) ? before.members : [];
  const has = givesRole(after) ? after.members : [];
  if (foldedGroupName(before.displayName) !== foldedGroupName(after.displayName)) return [...had, ...has];
  const old = new Set(had);
  const current = new Set(has);
  return [...had.filter((id) => !current.has(id)), ...has.filter((id) => !old.has(id))];
}

export const userGroupMachine = recordMachine<GroupContext, GroupMessage, NewGroup>({
  id: 'user-group',
  state: 'Known',
  context: (input) => ({
    ...input,
    changedAt: input.createdAt,
    revision: 1,
    unsettled: affected({ displayName: '', externalId: null, members: [] }, input),
  }),
  created: 'Created by the identity service.',
  changes: {
    CHANGE: (group, { revision, displayName, externalId, members, at }) => {
      if (revision !== group.revision) return undefined;
      const after = { displayName, externalId, members };
      const unsettled = [...new Set([...group.unsettled, ...affected(group, after)])];
      return {
        context: { ...after, unsettled, revision: revision + 1, changedAt: at },
        note: `Changed by the identity service: ${members.length} members.`,
      };
    },
    SETTLED: (group, { revision }) =>
      revision === group.revision ? { context: { unsettled: [] } } : undefined,
  },
  end: { state: GROUP_REMOVED, endedBy: ['REMOVE'] },
});
