/** People that administrators know (portal-gaps §20). */
import type { OrganizationId } from '../../../machines/ids.ts';
import type { AccessProfile, UserProfile } from '../../../machines/portal-user.ts';
import type { Page } from './documents.ts';

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

/** A directory and nothing else: nobody logs in, and people sign without being in it. */
export interface PortalUsers {
  members(organization: OrganizationId, query: UserQuery): Promise<Page<MemberView>>;
  /** Somebody who is known by the e-mail address is added as they are. */
  add(organization: OrganizationId, profile: UserProfile, access: AccessProfile): Promise<MemberView>;
  /** Refusals: `UserNotFound`. */
  remove(organization: OrganizationId, userId: string): Promise<void>;
  /** Of all organizations. */
  find(query: UserQuery): Promise<Page<UserView>>;
  /** @param subject what another system calls the person. Refusals: `NameTaken`. */
  put(subject: string, profile: UserProfile): Promise<UserView>;
}
