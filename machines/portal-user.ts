/**
 * A person that administrators know: for directories of clients. People sign without one.
 *
 * | from  | event    | to      | effects |                                    |
 * |-------|----------|---------|---------|------------------------------------|
 * | Known | DESCRIBE | Known   |         |                                    |
 * | Known | JOIN     | Known   |         | up to 100 organizations            |
 * | Known | LEAVE    | Known   |         | an organization the person is in   |
 * | Known | REMOVE   | Removed |         |                                    |
 *
 * Removed is no state that is kept: the actor ends.
 *
 * Source: portal-gaps §20, "Organization users" and "Administration key".
 */
import { assign, setup } from 'xstate';
import type { Millis, OrganizationId } from './ids.ts';

export const USER_REMOVED = 'Removed';

/** Organizations one person may be in. */
export const MOST_MEMBERSHIPS = 100;

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
   * The person as this organization described them: no other one sees it. Absent where an administrator of the instance
   * has described the person since, and where the membership is older than this member.
   */
  readonly profile?: UserProfile;
}

export interface UserContext extends UserProfile {
  /** What another system calls the person; null = nothing. */
  readonly subject: string | null;
  readonly createdAt: Millis;
  readonly memberships: readonly Membership[];
}

export type UserEvent = { readonly at: Millis } & (
  | { readonly type: 'DESCRIBE'; readonly subject: string | null; readonly profile: UserProfile }
  | { readonly type: 'JOIN'; readonly membership: Membership }
  | { readonly type: 'LEAVE'; readonly organizationId: OrganizationId }
  | { readonly type: 'REMOVE' }
);

type Named<Type extends UserEvent['type']> = Extract<UserEvent, { readonly type: Type }>;

function others({ memberships }: UserContext, organizationId: OrganizationId): readonly Membership[] {
  return memberships.filter((membership) => membership.organizationId !== organizationId);
}

export const portalUserMachine = setup({
  types: { context: {} as UserContext, input: {} as UserContext, events: {} as UserEvent },
}).createMachine({
  id: 'portal-user',
  context: ({ input }) => input,
  initial: 'Known',
  states: {
    Known: {
      on: {
        DESCRIBE: {
          actions: assign(({ context, event }) => {
            const { profile, subject } = event as Named<'DESCRIBE'>;
            const memberships = context.memberships.map(({ profile: _, ...membership }) => membership);
            return { ...profile, subject, memberships };
          }),
        },
        JOIN: {
          guard: ({ context, event }) => {
            const { membership } = event as Named<'JOIN'>;
            return others(context, membership.organizationId).length < MOST_MEMBERSHIPS;
          },
          actions: assign(({ context, event }) => {
            const { membership } = event as Named<'JOIN'>;
            return { memberships: [...others(context, membership.organizationId), membership] };
          }),
        },
        LEAVE: {
          guard: ({ context, event }) => {
            const { organizationId } = event as Named<'LEAVE'>;
            return others(context, organizationId).length < context.memberships.length;
          },
          actions: assign(({ context, event }) => ({
            memberships: others(context, (event as Named<'LEAVE'>).organizationId),
          })),
        },
        REMOVE: USER_REMOVED,
      },
    },
    [USER_REMOVED]: {},
  },
});
