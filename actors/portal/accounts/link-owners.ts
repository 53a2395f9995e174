/** The maker of a link that acts for its organization, with the rights of this moment. */
import type { ApplicationId, Millis, OrganizationId } from '../../../machines/ids.ts';
import type { OrganizationContext } from '../../../machines/portal/accounts/organization.ts';
import { roleIn, type UserRole } from '../../../machines/portal/accounts/portal-user.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { FolderRightsReader, Tenant } from '../api/callers.ts';
import { ORGANIZATION } from './organizations.ts';
import { PORTAL_USER } from './users.ts';

export interface OwnedLink {
  readonly organizationId: OrganizationId;
  /** The application that made the link; for a signed-in user, the user's id and name. */
  readonly application: { readonly id: ApplicationId; readonly name: string };
  /** True: `application` is a user. Absent = false. */
  readonly isUser?: boolean;
  /** Key with which the link ends. Absent: it ends with the application or the user. */
  readonly keyId?: string;
  readonly createdAt: Millis;
}

export interface OwnerNeeds {
  readonly runtime: Pick<ServiceRuntime, 'actors' | 'clock'>;
  readonly folderRights: Pick<FolderRightsReader, 'of'>;
}

/** Undefined once the key was revoked or has expired, the application was removed, or the user has left or only reads. */
export async function ownerOf(
  { runtime: { actors, clock }, folderRights }: OwnerNeeds,
  link: OwnedLink,
): Promise<Tenant | undefined> {
  const { organizationId, application, isUser = false } = link;
  const organization = await actors.read(ORGANIZATION, organizationId);
  if (organization === undefined) return undefined;
  const role = isUser ? await roleOf(actors, link) : undefined;
  const key = isUser ? undefined : liveKey(organization.context, link, clock.now());
  if (isUser ? role === undefined : key === undefined) return undefined;
  const rights = role === 'sender' ? await folderRights.of(organizationId, application.id) : undefined;
  const { name, identifier } = organization.context;
  return {
    organization: { id: organizationId, name, ...(identifier !== null && { identifier }) },
    application: { ...application, role: 'Normal' },
    ...(isUser && { user: application }),
    ...(rights !== undefined && { rights }),
    ...(key?.folders !== undefined && { folders: key.folders }),
  };
}

/** Undefined for a user who may not act. */
async function roleOf(
  actors: OwnerNeeds['runtime']['actors'],
  { application, organizationId, createdAt }: OwnedLink,
): Promise<UserRole | undefined> {
  const user = await actors.read(PORTAL_USER, application.id);
  const role = user && roleIn(user.context, organizationId);
  if (user === undefined || role === undefined || role === 'auditor') return undefined;
  // A user who is activated again does not find the links of before.
  const membership = user.context.memberships.find((one) => one.organizationId === organizationId);
  return createdAt > (membership?.endedAt ?? -Infinity) ? role : undefined;
}

/** Limits of an application; undefined: it may not act any more. */
function liveKey(
  { applications }: OrganizationContext,
  { application: { id }, keyId }: OwnedLink,
  now: Millis,
): { readonly folders?: readonly string[] | undefined } | undefined {
  const application = applications.find((one) => one.id === id);
  if (application === undefined || keyId === undefined) return application && {};
  const key = application.secrets.find((one) => one.id === keyId);
  return key !== undefined && (key.expiresAt ?? Infinity) > now ? { folders: key.folders } : undefined;
}
