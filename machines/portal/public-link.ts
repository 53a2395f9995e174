/**
 * A link of a template for anybody.
 *
 * | from | message     | to    | effects |                                              |
 * |------|-------------|-------|---------|----------------------------------------------|
 * | Open | TAKE        | Open  |         | before its end, while a document is left; again for the same visit |
 * | Open | KEEP        | Open  |         | the document of the visit was made           |
 * | Open | RELEASE     | Open  |         | the document of the visit was not made       |
 * | Open | END         | Open  |         | once                                         |
 * | Open | after 731 d | Ended |         |                                              |
 *
 * A link that takes no more visits stays in lists. Ended is not stored: the actor ends.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import type { Principal } from '../../contracts/portal/entities.ts';
import type { NewRole } from '../../contracts/portal/flow.ts';
import type { PublicLinkContact } from '../../contracts/portal/saved-requests/public-links.ts';
import type { Language } from '../../contracts/portal/words.ts';
import type { ApplicationId, Millis, OrganizationId } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';

export const PUBLIC_LINK_ENDED = 'Ended';

const DAY = 24 * 3_600_000;
/** Longest time in which a link takes visits, milliseconds. */
export const MAX_LINK_TIME_MS = 366 * DAY;
/** Retention of a link from its creation, milliseconds. */
export const PUBLIC_LINK_RETENTION_MS = 731 * DAY;
/** Visits whose documents are being made at once; others wait. */
const MAX_TAKING = 100;

export interface PublicLinkContext {
  readonly organizationId: OrganizationId;
  readonly createdBy: Principal;
  readonly creationDate: Millis;
  /** Order number: sorts links by creation. */
  readonly order: number;
  /** The application that made the link; for a signed-in user, the user's id and name. */
  readonly application: { readonly id: ApplicationId; readonly name: string };
  /** True: `application` is a user. Absent = false. */
  readonly isUser?: boolean;
  readonly name: string;
  readonly templateId: string;
  /** That of the template when the link was made; null = none. */
  readonly folderId: string | null;
  /** As the template has it. */
  readonly role: string;
  /** For the other roles. */
  readonly participants: readonly NewRole[];
  readonly contact: PublicLinkContact;
  readonly fields: readonly string[];
  readonly mostDocuments: number;
  readonly mostPerPerson: number;
  readonly endDate: Millis;
  readonly language: Language | null;
  readonly returnUrl: string | null;
  /** Documents that were made or are being made. */
  readonly taken: number;
  /** Visits whose documents are being made. */
  readonly taking: readonly string[];
  readonly endedAt: Millis | null;
  /** Reason why the last visit that gave valid data made no document; null = none. */
  readonly lastRefusal: { readonly code: string; readonly message: string; readonly date: Millis } | null;
}

export type PublicLinkMessage = RecordMessage &
  (
    | { readonly type: 'END' }
    | { readonly type: 'TAKE' | 'KEEP'; readonly visit: string }
    | {
        readonly type: 'RELEASE';
        readonly visit: string;
        /** Absent: the visitor gave other data than the template takes. */
        readonly refusal?: { readonly code: string; readonly message: string };
      }
  );

/** The status of a link in lists and for visitors. */
export function publicLinkStatus(
  {
    endedAt,
    endDate,
    taken,
    mostDocuments,
  }: Pick<PublicLinkContext, 'endedAt' | 'endDate' | 'taken' | 'mostDocuments'>,
  now: Millis,
) {
  if (endedAt !== null) return 'Ended';
  if (now > endDate) return 'Expired';
  return taken >= mostDocuments ? 'Full' : 'Open';
}

export const publicLinkMachine = recordMachine<PublicLinkContext, PublicLinkMessage>({
  id: 'public-link',
  state: 'Open',
  context: (input) => input,
  created: 'The link was made.',
  changes: {
    TAKE: (link, { visit, at }) => {
      const { taken, taking } = link;
      if (taking.includes(visit)) return { context: {} };
      if (publicLinkStatus(link, at) !== 'Open' || taking.length >= MAX_TAKING) return undefined;
      return { context: { taken: taken + 1, taking: [...taking, visit] } };
    },
    KEEP: ({ taking }, { visit }) => ({ context: { taking: taking.filter((one) => one !== visit) } }),
    RELEASE: ({ taken, taking }, { visit, refusal, at }) => {
      if (!taking.includes(visit)) return { context: {} };
      const lastRefusal = refusal && { ...refusal, date: at };
      const others = taking.filter((one) => one !== visit);
      return { context: { taken: taken - 1, taking: others, ...(lastRefusal && { lastRefusal }) } };
    },
    END: ({ endedAt }, { at }) =>
      endedAt === null ? { context: { endedAt: at }, note: 'The link was ended.' } : undefined,
  },
  end: { state: PUBLIC_LINK_ENDED, lifetimeMs: PUBLIC_LINK_RETENTION_MS },
});
