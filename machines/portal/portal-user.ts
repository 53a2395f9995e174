/**
 * A person that administrators registered, for directories of clients. Signing does not require one.
 *
 * | from  | event    | to      | effects |                                    |
 * |-------|----------|---------|---------|------------------------------------|
 * | Known | DESCRIBE | Known   |         |                                    |
 * | Known | JOIN     | Known   |         | up to 100 organizations            |
 * | Known | LEAVE    | Known   |         | an organization the person is in   |
 * | Known | REMOVE   | Removed |         |                                    |
 *
 * Removed is not stored: the actor ends. Each change is a line of the journal without the person's data.
 *
 * Source: docs/portal-values.md §20.
 */
import type { Millis, OrganizationId } from '../ids.ts';
import { recordMachine } from '../record.ts';

export const USER_REMOVED = 'Removed';

/** Maximum number of organizations of one person. */
export const MAX_MEMBERSHIPS = 100;

export interface AccessProfile {
  readonly administrator: boolean;
  readonly manager: boolean;
  readonly operator: boolean;
}

export interface UserProfile {
  readonly name: string;
  readonly identifier: string | null;
  readonly email: string;
  readonly phone: string | null;
}

export interface Membership {
  readonly organizationId: OrganizationId;
  readonly accessProfile: AccessProfile;
  /**
   * The description of the person by this organization: other organizations cannot see it. Absent if an administrator
   * of the instance has described the person since, and if the membership is older than this member.
   */
  readonly profile?: UserProfile;
}

export interface UserContext extends UserProfile {
  /** Identifier of the person in another system; null = none. */
  readonly subject: string | null;
  readonly createdAt: Millis;
  readonly memberships: readonly Membership[];
}

export type UserMessage = { readonly at: Millis } & (
  | { readonly type: 'DESCRIBE'; readonly subject: string | null; readonly profile: UserProfile }
  | { readonly type: 'JOIN'; readonly membership: Membership }
  | { readonly type: 'LEAVE'; readonly organizationId: OrganizationId }
  | { readonly type: 'REMOVE' }
);

function others({ memberships }: UserContext, organizationId: OrganizationId): readonly Membership[] {
  return memberships.filter((membership) => membership.organizationId !== organizationId);
}

export const portalUserMachine = recordMachine<UserContext, UserMessage>({
  id: 'portal-user',
  state: 'Known',
  context: (input) => input,
  created: 'Registered.',
  changes: {
    DESCRIBE: (user, { profile, subject }) => {
      const memberships = user.memberships.map(({ profile: _, ...membership }) => membership);
      return { context: { ...profile, subject, memberships }, note: 'Described anew.' };
    },
    JOIN: (user, { membership }) => {
      const { organizationId, accessProfile } = membership;
      const before = others(user, organizationId);
      if (before.length >= MAX_MEMBERSHIPS) return undefined;
      const roles = Object.entries(accessProfile).flatMap(([role, has]) => (has ? [role] : []));
      return {
        context: { memberships: [...before, membership] },
        note: `Joined organization ${organizationId} as ${roles.join(', ') || 'member'}.`,
      };
    },
    LEAVE: (user, { organizationId }) => {
      const memberships = others(user, organizationId);
      if (memberships.length === user.memberships.length) return undefined;
      return { context: { memberships }, note: `Left organization ${organizationId}.` };
    },
  },
  end: { state: USER_REMOVED, endedBy: ['REMOVE'] },
});
