/**
 * Sessions of users: where they began, their end by the user or an administrator, and the log of both. The log is part
 * of the history of the organization, so it outlives its users and cannot be changed unseen.
 *
 * Source: docs/decisions/0135-users-sign-in-by-mail.md, docs/decisions/0053-tamper-evident-history.md.
 */
import { accepted } from '@sealwright/runtime';
import type { SignInEntry } from '../../../contracts/portal/users.ts';
import { type Millis, type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import {
  idOfSession,
  type SessionOrigin,
  type UserSession,
} from '../../../machines/portal/accounts/sessions.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { callerName, type Tenant } from '../api/callers.ts';
import { ConcurrencyLimit } from '../shared/concurrency-limit.ts';
import { ORGANIZATION } from './organizations.ts';
import { entryOf, sessionOrigin } from './session-log.ts';
import { PORTAL_USER } from './users.ts';

/** Lines of the history read at a time, and reads of one answer. */
const BATCH_SIZE = 512;
const MAX_READS = 20;
/** Exports of one organization at once, and entries of one. */
const EXPORTS_AT_ONCE = 2;
const MAX_EXPORTED = 100_000;
const EXPORT_PAGE = 500;

/** An open session. */
export interface SessionView {
  readonly id: string;
  /** Undefined for a session of an earlier version. */
  readonly begun: SessionOrigin | undefined;
  /** Of its last request, in steps of some minutes. */
  readonly usedAt: Millis | undefined;
  readonly expiresAt: Millis;
}

type Runtime = Pick<ServiceRuntime, 'actors' | 'store' | 'clock'>;

export class UserSessions {
  readonly #exports = new ConcurrencyLimit(EXPORTS_AT_ONCE, 'exports of sign-ins');

  constructor(private readonly runtime: Runtime) {}

  /** Newest first. Refusals: `UserNotFound`. */
  async list(organization: OrganizationId, userId: string): Promise<readonly SessionView[]> {
    const { actors, clock } = this.runtime;
    const id = parsePortalId('UserId', userId);
    const user = id && (await actors.read(PORTAL_USER, id));
    if (!user?.context.memberships.some(({ organizationId }) => organizationId === organization))
      throw new PortalRefusal('UserNotFound');
    const isOpen = ({ organizationId, expiresAt, pending }: UserSession) =>
      organizationId === organization && expiresAt > clock.now() && pending !== true;
    return (user.context.sessions ?? [])
      .filter(isOpen)
      .map((session) => ({
        id: idOfSession(session),
        begun: session.begun,
        usedAt: session.usedAt ?? session.begun?.at,
        expiresAt: session.expiresAt,
      }))
      .reverse();
  }

  /** @param sessionId undefined: all, and those of the editor. Refusals: `UserNotFound` also for a session that is over. */
  async end(tenant: Tenant, userId: string, sessionId: string | undefined): Promise<void> {
    const { actors, clock } = this.runtime;
    const id = parsePortalId('UserId', userId);
    if (id === undefined) throw new PortalRefusal('UserNotFound');
    const organizationId = tenant.organization.id;
    const by = callerName(tenant);
    const message = {
      type: 'END_SESSIONS',
      organizationId,
      by,
      userId: id,
      origin: sessionOrigin(clock.now(), tenant.origin),
      ...(sessionId !== undefined && { sessionId }),
    } as const;
    await accepted(actors.send(PORTAL_USER, id, message), () => new PortalRefusal('UserNotFound'));
  }

  /** Entries of the log, page by page. Refusals, of the first page: `TooManyRequests`. */
  async *export(organization: OrganizationId, after: number): AsyncGenerator<readonly SignInEntry[]> {
    const release = this.#exports.acquire(organization);
    try {
      let from: number | null = after;
      for (let sent = 0; from !== null && sent < MAX_EXPORTED; ) {
        const { items, next } = await this.log(organization, { after: from, limit: EXPORT_PAGE });
        yield items;
        sent += items.length;
        from = next;
      }
    } finally {
      release();
    }
  }

  /** Oldest first. @param after number of the last entry that is known */
  async log(
    organization: OrganizationId,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<{ readonly items: readonly SignInEntry[]; readonly next: number | null }> {
    const items: SignInEntry[] = [];
    let last = after;
    for (let reads = 0; reads < MAX_READS; reads++) {
      const range = { after: last, limit: BATCH_SIZE };
      const lines = await this.runtime.store.journal({ kind: ORGANIZATION.kind, id: organization }, range);
      for (const line of lines) {
        last = line.id;
        const entry = entryOf(line);
        if (entry !== undefined) items.push(entry);
        if (items.length === limit) return { items, next: last };
      }
      if (lines.length < BATCH_SIZE) return { items, next: null };
    }
    return { items, next: last };
  }
}
