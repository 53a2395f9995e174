/** Caller of the portal: the application of an API key, or a signed-in user. */
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { KeyScope } from '../../../contracts/portal/operation.ts';
import type { ApplicationRole } from '../../../contracts/portal/organizations.ts';
import type { ApplicationId, Millis, OrganizationId } from '../../../machines/ids.ts';
import type { FolderRight } from '../../../machines/portal/folder.ts';

/** By folder; null = none. */
export type FolderRights = ReadonlyMap<string, FolderRight | null>;

/** Reads the rights of a sender; undefined = everything everywhere. */
export interface FolderRightsReader {
  of(organization: OrganizationId, userId: string): Promise<FolderRights | undefined>;
  /** True for a folder that has grants or lies in one that has. */
  isRestricted(organization: OrganizationId, folderId: string): Promise<boolean>;
}

/** A request with an `Idempotency-Key`. */
export interface RepeatableRequest {
  /** Method and path of its route: the same word for another route is another word. */
  readonly route: string;
  readonly key: string;
  /** Lower-case hex SHA-256 of what was sent. */
  readonly fingerprint: string;
}

/** Requests that may be sent again under one word of their client (`Idempotency-Key`). */
export interface IdempotentRequests {
  /**
   * Runs `make` once per idempotency key in 24 hours; a repeated request gets the first answer, plain JSON. `make`
   * receives a seed that is the same when it runs again after a crash. Refusals of `make` are not stored. Refusals:
   * `IdempotencyConflict` for another request under the same key.
   */
  answer<Answer>(
    tenant: Tenant,
    request: RepeatableRequest,
    make: (seed: string) => Promise<Answer>,
  ): Promise<Answer>;
}

/** Origin of the request. */
export interface RequestOrigin {
  readonly ipAddress: string;
  readonly userAgent: string;
}

/** The application of an API key. */
export interface Tenant {
  readonly organization: {
    readonly id: OrganizationId;
    readonly name: string;
    /** Its registration number; absent = it has none. */
    readonly identifier?: string | undefined;
  };
  readonly application: {
    readonly id: ApplicationId;
    readonly name: string;
    readonly role: ApplicationRole;
  };
  /** Requests that its key may make; absent = all that its application may make. */
  readonly scopes?: readonly KeyScope[];
  /** Folders whose documents its key reaches; absent = all documents of the organization. */
  readonly folders?: readonly string[];
  /**
   * Rights of a sender in each folder that has grants or lies in one that has; elsewhere the sender may do everything. Absent for
   * all other callers, and where no folder has grants.
   */
  readonly rights?: FolderRights;
  /** Id of its key. Absent for users, and for sessions of the editor. */
  readonly keyId?: string;
  /** Expiry of its key. Absent for keys without one, for users, and for sessions of the editor. */
  readonly keyExpiresAt?: Millis;
  /** Rights that scopes of the issuer of its access token give. Absent: it has none. */
  readonly tokenRights?: readonly { readonly scope: string; readonly right: string }[];
  /** The user who is signed in to the pages; `application` then has the user's id and name. Absent for API keys. */
  readonly user?: { readonly id: string; readonly name: string };
  /** Id of the session of the user, in lists. Absent for API keys. */
  readonly sessionId?: string;
  /** True: the user reads everything, as a key with `Read` does. Absent: no auditor. */
  readonly isAuditor?: boolean;
  /**
   * Id of the session of the editor in another application; `application` then is the one that made its link. Absent for
   * API keys and users.
   */
  readonly editorSession?: string;
  /** Of the request; absent = not known. */
  readonly origin?: RequestOrigin;
}

/** Name of the caller in journal lines, without personal data. */
export function callerName({ user, application }: Pick<Tenant, 'user' | 'application'>): string {
  return user === undefined ? `application ${application.id}` : `user ${user.id}`;
}

/** The caller as the creator of something. */
export function principalOf({ user, application }: Pick<Tenant, 'user' | 'application'>): Principal {
  return user === undefined
    ? { id: application.id, type: 'Application', name: application.name }
    : { id: user.id, type: 'User', name: user.name };
}

export interface Tenants {
  /** The tenant of an `X-Api-Key` value, in constant time for known applications; undefined = 401. */
  identify(key: string): Promise<Tenant | undefined>;
  /** The organization of a name; undefined = there is none. */
  organization(name: string): Promise<Tenant['organization'] | undefined>;
  /** Origins that may frame the pages of an organization's documents; empty = any. */
  embedOrigins(organization: OrganizationId): Promise<readonly string[]>;
  /** Address to which people answer, as the mails name it; null = none. */
  replyTo(organization: OrganizationId): Promise<string | null>;
}
