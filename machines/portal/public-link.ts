/**
 * A link of a template for anybody.
 *
 * | from | event       | to    | effects |                                              |
 * |------|-------------|-------|---------|----------------------------------------------|
 * | Open | TAKE        | Open  |         | before its end, while a document is left     |
 * | Open | RELEASE     | Open  |         | a taken document was not made                |
 * | Open | CODE        | Open  |         | fewer than 120 in the hour                   |
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
/** Codes of one link in one hour: each is a message to an address that anybody may enter. */
const MAX_LINK_CODES = 120;
const HOUR = 3_600_000;

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
  /** Codes since the beginning of the hour. */
  readonly codes: { readonly since: Millis; readonly count: number };
  readonly endedAt: Millis | null;
  /** Reason why the last taken document was not made; null = none. */
  readonly lastRefusal: { readonly code: string; readonly message: string; readonly date: Millis } | null;
}

export type PublicLinkMessage = RecordMessage &
  (
    | { readonly type: 'TAKE' | 'CODE' | 'END' }
    | { readonly type: 'RELEASE'; readonly code: string; readonly message: string }
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
    TAKE: (link, { at }) =>
      publicLinkStatus(link, at) === 'Open' ? { context: { taken: link.taken + 1 } } : undefined,
    RELEASE: ({ taken }, { code, message, at }) => ({
      context: { taken: Math.max(0, taken - 1), lastRefusal: { code, message, date: at } },
    }),
    CODE: ({ codes: { since, count } }, { at }) => {
      if (at - since >= HOUR) return { context: { codes: { since: at, count: 1 } } };
      return count < MAX_LINK_CODES ? { context: { codes: { since, count: count + 1 } } } : undefined;
    },
    END: ({ endedAt }, { at }) =>
      endedAt === null ? { context: { endedAt: at }, note: 'The link was ended.' } : undefined,
  },
  end: { state: PUBLIC_LINK_ENDED, lifetimeMs: PUBLIC_LINK_RETENTION_MS },
});
