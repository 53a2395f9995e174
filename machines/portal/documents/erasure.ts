/**
 * Erasure of a person from a document: what is decided, and what is removed. Pure.
 *
 * Source: docs/decisions/0640-erasure.md.
 */
import type { KeptFor } from '../../../contracts/portal/retention/erasures.ts';
import type { DocumentStatus } from '../../../contracts/portal/words.ts';
import type { CompletedAction, FileEntry, FlowAction, Participant } from '../portal-types.ts';
import type { DocumentContext, DocumentState } from './document-context.ts';
import type { DecisionFunction } from './document-decision.ts';
import { remove } from './document-lifecycle.ts';

/**
 * Roles of a person in a document. `acts`: in the flow, now or before, or as deputy; the signed file and its evidence name
 * the person. `reads`: gets mails alone.
 */
export type ErasedRole = 'acts' | 'reads';

/** `erased-with-files`: the document is deleted, too. `InvalidDocumentStatus`, `LegalHold`: refused, with this code. */
export type ErasureCase = 'erased' | 'erased-with-files' | 'kept' | 'InvalidDocumentStatus' | 'LegalHold';

type Row = { readonly [role in ErasedRole]: ErasureCase };

const UNDER_WAY: Row = { acts: 'InvalidDocumentStatus', reads: 'InvalidDocumentStatus' };
const ENDED: Row = { acts: 'erased-with-files', reads: 'erased' };

/** The closed table of docs/decisions/0640-erasure.md: what happens by state and role, where nothing is held. */
const ERASURES: { readonly [state in DocumentState]: Row } = {
  Pending: UNDER_WAY,
  FlowConcluded: UNDER_WAY,
  Concluded: ENDED,
  Refused: ENDED,
  Canceled: ENDED,
  Expired: ENDED,
  Deleted: { acts: 'erased', reads: 'erased' },
};

/** @param facts.keptFor ground on which concluded documents are kept; null = none */
export function erasureCase(
  state: string,
  role: ErasedRole,
  facts: { readonly isHeld: boolean; readonly isBusy: boolean; readonly keptFor: KeptFor | null },
): ErasureCase {
  if (facts.isHeld) return 'LegalHold';
  const found = ERASURES[state as DocumentStatus]?.[role];
  if (found === undefined || facts.isBusy) return 'InvalidDocumentStatus';
  return state === 'Concluded' && role === 'acts' && facts.keptFor !== null ? 'kept' : found;
}

/** True for the addresses of the person. */
export type IsPerson = (email: string) => boolean;

/** A person as one document knows her. */
export interface KnownPerson {
  readonly role: ErasedRole;
  /** Participants and observers. */
  readonly people: readonly string[];
  readonly names: readonly string[];
  /** As they are spelled here. */
  readonly emails: readonly string[];
}

interface Named {
  readonly id?: string;
  readonly name: string | null;
  readonly email: string | null;
  /** Typed by the person, whatever the address. */
  readonly isOf?: 'person';
}

/** Undefined: the document does not know the person. */
export function knownIn(document: DocumentContext, isPerson: IsPerson): KnownPerson | undefined {
  const { actions, made, observers, notifiedEmails } = document;
  const isTheirs = ({ email }: Named) => email !== null && isPerson(email);
  const participants = actions.flatMap((action) => everybodyIn(action));
  const ids = new Set(participants.filter(isTheirs).map(({ id }) => id));
  const acting = [...participants, ...made.flatMap((one) => namedIn(one, ids.has(one.userId)))];
  const reading: readonly Named[] = [
    ...observers.map(({ user }) => user),
    ...notifiedEmails.map((email) => ({ name: null, email })),
  ];
  const found = [...acting, ...reading].filter(isTheirs);
  if (found.length === 0) return undefined;
  const others = [...acting, ...reading].filter((one) => !isTheirs(one) && one.isOf !== 'person');
  const names = new Set(
    [...found, ...acting.filter(({ isOf }) => isOf === 'person')].flatMap(({ name }) => name?.trim() || []),
  );
  // A text with a name that two people have may be about the other one.
  for (const { name } of others) names.delete(name?.trim() ?? '');
  return {
    role: acting.some(isTheirs) ? 'acts' : 'reads',
    people: [...new Set(found.flatMap(({ id }) => id ?? []))],
    names: [...names],
    emails: [...new Set(found.flatMap(({ email }) => email ?? []))],
  };
}

function everybodyIn({ user, ruleUsers, passedOn = [] }: FlowAction): readonly Named[] {
  return [
    ...(user === null ? [] : [user]),
    ...ruleUsers,
    ...passedOn.map(({ userId: id, name, email }) => ({ id, name, email })),
  ];
}

/** @param isTheirs the person has acted; a name that was typed may have no address */
function namedIn({ evidence }: Pick<CompletedAction, 'evidence'>, isTheirs: boolean): readonly Named[] {
  const { deputy, passkey, authenticatedEmail = null, typedName = null } = evidence ?? {};
  return [
    {
      name: typedName,
      email: authenticatedEmail,
      ...(isTheirs && deputy === undefined && { isOf: 'person' as const }),
    },
    { name: null, email: passkey?.email ?? null },
    ...(deputy === undefined ? [] : [deputy, deputy.person]),
  ];
}

/** Stands in the place of a text that was erased. */
const ERASED = '–';

/** Removes the person; of a document that is deleted, also what its sender has written about it. */
export const erase =
  (state: DocumentState): DecisionFunction<'ERASE'> =>
  (document, message) => {
    const { people, emails, by, withTexts, erasure } = message;
    if (document.accepted.length > 0) return undefined;
    const known = { people: new Set(people), emails: new Set(emails) };
    const rest = withoutPerson(withTexts ? withoutTexts(document) : document, known);
    const scrubbed = { ...rest, erasedBy: by };
    const texts = erasure === null ? [] : [{ type: 'erase', params: erasure } as const];
    if (!by.withFiles || state === 'Deleted') return { context: scrubbed, effects: texts };
    const removed = remove(state)(scrubbed, {
      type: 'DELETE',
      at: message.at,
      action: 'DeletedByUserOrApplication',
    });
    return removed && { ...removed, effects: [...texts, ...removed.effects] };
  };

interface Known {
  readonly people: ReadonlySet<string>;
  readonly emails: ReadonlySet<string>;
}

function withoutPerson(document: DocumentContext, known: Known): DocumentContext {
  const { people, emails } = known;
  const { actions, made, observers, notifiedEmails, trail, statusUpdatedBy } = document;
  const isStatusTheirs = statusUpdatedBy !== null && people.has(statusUpdatedBy.id);
  return {
    ...document,
    actions: actions.map((action) => actionWithout(action, known)),
    made: made.map((one) => {
      const isTheirs = people.has(one.userId) || namesAny(one, emails);
      const { values: _, ...others } = one;
      return isTheirs ? { ...others, evidence: null, evidenceSha256: null } : one;
    }),
    observers: observers.filter(({ user }) => !people.has(user.id)),
    notifiedEmails: notifiedEmails.filter((email) => !emails.has(email)),
    rejected: null,
    ...(isStatusTheirs && { statusUpdatedBy: null, statusUpdateReason: null }),
    ...(trail && {
      trail: {
        lines: trail.lines,
        by: Object.fromEntries(
          Object.entries(trail.by).filter(([key]) => !people.has(key.slice(key.indexOf(' ') + 1))),
        ),
      },
    }),
  };
}

function namesAny(made: CompletedAction, emails: ReadonlySet<string>): boolean {
  return namedIn(made, false).some(({ email }) => email !== null && emails.has(email));
}

function actionWithout(action: FlowAction, { people, emails }: Known): FlowAction {
  const { user, ruleUsers, passedOn, fields } = action;
  const isTheirs = user !== null && people.has(user.id);
  return {
    ...action,
    user: isTheirs ? unnamed(user) : user,
    ...(isTheirs && { refusalReason: null }),
    ...(isTheirs && fields !== undefined && { fields: [] }),
    ruleUsers: ruleUsers.map((one) => (people.has(one.id) ? { ...unnamed(one), refusalReason: null } : one)),
    ...(passedOn && {
      passedOn: passedOn.map((one) =>
        people.has(one.userId) || (one.email !== null && emails.has(one.email))
          ? { ...one, name: null, email: null, reason: ERASED }
          : one,
      ),
    }),
  };
}

function unnamed<Person extends Participant>(person: Person): Person {
  return { ...person, name: null, identifier: null, email: null, phone: null };
}

/** Removes the sender's texts, which may name the person. */
function withoutTexts(document: DocumentContext): DocumentContext {
  const { file, parts, attachments, externalId: _, ...others } = document;
  return {
    ...others,
    name: ERASED,
    description: null,
    additionalInfo: null,
    tags: [],
    statusUpdateReason: null,
    file: fileWithoutName(file),
    parts: parts.map(fileWithoutName),
    attachments: attachments.map((one) => ({ ...one, file: fileWithoutName(one.file) })),
  };
}

function fileWithoutName({ warnings: _, ...file }: FileEntry): FileEntry {
  return { ...file, displayName: ERASED, name: ERASED };
}

/** A journal line, as far as it can tell of a person. */
interface ToldLine {
  readonly message: string;
  readonly data?: { readonly [name: string]: string | number | boolean | null };
}

/** True for a line of the history that tells of the person: an act, a mail, or the address or name in a text. */
export function tellsOf({ people, names, emails }: KnownPerson): (line: ToldLine) => boolean {
  const ids = new Set(people);
  const addresses = emails.map((email) => email.toLowerCase());
  return ({ message, data = {} }) => {
    if (ids.has(String(data['userId'] ?? ''))) return true;
    const texts = [message, ...Object.values(data).filter((one) => typeof one === 'string')];
    return texts.some(
      (text) =>
        addresses.some((one) => holdsWhole(text.toLowerCase(), one, /[^\s<>()",;:]/u)) ||
        names.some((one) => holdsWhole(text, one, /[\p{L}\p{N}]/u)),
    );
  };
}

/** True when a text holds another one, and no character of it goes on at either end. */
function holdsWhole(text: string, part: string, goesOn: RegExp): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const before = text.slice(0, at).at(-1) ?? '';
    // A sentence may end behind an address.
    const [after = ''] = text.slice(at + part.length).replace(/^[.?!'](?=\s|$)/, '');
    if (!goesOn.test(before) && !goesOn.test(after)) return true;
  }
  return false;
}
