/** Users who sign in to the pages of the portal by a link in a mail (docs/decisions/0135-users-sign-in-by-mail.md). */

import type { OrganizationId } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import type { UserRole } from '../../../machines/portal/portal-user.ts';
import type { Tenant } from './callers.ts';

/** A user with an open session. */
export interface SignedInUser {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: UserRole;
  /** The user as a caller of the services, in the organization of the session. */
  readonly tenant: Tenant;
  /** Look of the organization's pages; absent = ours. */
  readonly branding?: PageBranding | undefined;
  /** Must come with every form and request that changes something. */
  readonly formToken: string;
}

/** Content of a valid link. */
export interface SignInLinkView {
  readonly name: string;
  readonly email: string;
  /** Organizations in which the user has a role. */
  readonly organizations: readonly { readonly id: OrganizationId; readonly name: string }[];
}

export interface SignIn {
  /** Mails a link to a known address with a role; does nothing for others, and while three links can be used. */
  mailLink(email: string): Promise<void>;
  /** Reads a link without using it up; undefined for one that is not valid any more. */
  link(ticket: string): Promise<SignInLinkView | undefined>;
  /** Uses the link up and begins a session. @returns the token of its cookie. Refusals: `InvalidTicket` */
  begin(ticket: string, organization: string): Promise<string>;
  /** Undefined for a session that is unknown, expired, ended, or of a removed user. */
  session(token: string): Promise<SignedInUser | undefined>;
  end(token: string): Promise<void>;
}
