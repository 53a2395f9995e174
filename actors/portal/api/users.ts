/** People that administrators know (docs/portal-values.md §20). */
import type { Page } from '../../../contracts/portal/lists.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import type { AccessProfile, UserProfile } from '../../../machines/portal/portal-user.ts';

export interface UserView extends UserProfile {
  readonly id: string;
  readonly subject: string | null;
}
export interface MemberView extends UserProfile {
  readonly id: string;
  readonly accessProfile: AccessProfile;
}
export interface UserQuery {
  readonly q?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Users need not be participants, nor participants users. Who has a role signs in by a mailed link.
 *
 * `by`: who asked for it, for the journal.
 */
export interface PortalUsers {
  members(organization: OrganizationId, query: UserQuery): Promise<Page<MemberView>>;
  /** Undefined for a user of other organizations only. */
  member(organization: OrganizationId, userId: string): Promise<MemberView | undefined>;
  /** Adds a user; an existing e-mail address is kept. */
  add(
    organization: OrganizationId,
    profile: UserProfile,
    access: AccessProfile,
    by?: string,
  ): Promise<MemberView>;
  /** Refusals: `UserNotFound`. */
  remove(organization: OrganizationId, userId: string, by?: string): Promise<void>;
  /** Of all organizations. */
  find(query: UserQuery): Promise<Page<UserView>>;
  /** @param subject what another system calls the person. Refusals: `NameTaken`. */
  put(subject: string, profile: UserProfile): Promise<UserView>;
}
