/**
 * Whether a deputy may act in place of the person who has named the deputy. The first row that fits refuses; what no row
 * names is refused, too:
 *
 * | case          | refused when                                                                        |
 * |---------------|-------------------------------------------------------------------------------------|
 * | forbidden     | the organization takes no deputies                                                  |
 * | hidden        | the code of the person's mailbox does not show the action                           |
 * | person        | it needs the person: a certificate, a telephone or an app                           |
 * | document      | it asks to be opened by itself: initials, each page, fields                         |
 * | shared        | more than one turn of the document is of the mailbox of the person                  |
 * | sender        | the deputy is the user who sends, or that user is unknown: one would act on both sides |
 * | other-name    | the deputy was shown another name than the one that the act would bear              |
 * | outside       | it is before the start, at the end or later                                         |
 * | over          | the action does not wait for the participant                                        |
 * | not-permitted | the sender has not allowed that it is handed on, or the action is not of one person |
 * | in-progress   | a signature of the action is accepted, or begun with a certificate                  |
 * | same-person   | the deputy is the person                                                            |
 * | had-it        | the deputy had the action before: nobody gets it back                               |
 * | of-the-flow   | the deputy takes part in another action, or has acted in one: one would act for two |
 *
 * The last seven are those of the step. Here `name+anything` is the mailbox of `name`. Source: docs/decisions/0580-deputies.md.
 */
import type { Millis } from '../../../machines/ids.ts';
import { type ActingFault, actingFault } from '../../../machines/portal/documents/deputy-acts.ts';
import type { DocumentContext, Turn } from '../../../machines/portal/documents/document-context.ts';
import type { Deputy } from '../../../machines/portal/mailbox.ts';
import { mailboxKey } from '../shared/mail-address.ts';
import { type WaitingCase, waitingCase } from '../signing/waiting-rules.ts';

export type DeputyFault =
  | 'forbidden'
  | 'hidden'
  | 'person'
  | 'document'
  | 'shared'
  | 'sender'
  | 'other-name'
  | ActingFault;

/** Of what the code of the mailbox gives the person; null = nothing is against it. */
const OF_WAITING: { readonly [name in WaitingCase]: DeputyFault | null } = {
  'not-waiting': 'hidden',
  'not-yours': 'hidden',
  'not-mailed': 'hidden',
  processing: 'hidden',
  certificate: 'person',
  proof: 'person',
  initials: 'document',
  reading: 'document',
  fields: 'document',
  shared: 'shared',
  signature: null,
};

/** About who sends. */
export interface DeputyDemands {
  /** Settings of the organization. */
  readonly refusesDeputies: boolean;
  readonly demandsCertificate: boolean;
  /** Address of the user, also of one who is no member any more; null = an application sends, undefined = unknown. */
  readonly sender: string | null | undefined;
}

/** A deputy of a person. */
interface Named {
  /** Mailbox of the person. */
  readonly person: string;
  readonly deputy: Pick<Deputy, 'name' | 'email' | 'asciiEmail' | 'from' | 'until'>;
  /** Name of the deputy as it was shown for an act; undefined = no act is meant. */
  readonly shownName?: string | undefined;
}

const isSame = (one: string, other: string) => mailboxKey(one) === mailboxKey(other);

/** Undefined: the deputy may act. */
export function deputyFault(
  document: { readonly state: string; readonly context: DocumentContext },
  turn: Turn,
  { person, deputy, shownName }: Named,
  { refusesDeputies, demandsCertificate, sender, at }: DeputyDemands & { readonly at: Millis },
): DeputyFault | undefined {
  if (refusesDeputies) return 'forbidden';
  const fault = OF_WAITING[waitingCase(document, turn, person, demandsCertificate)];
  if (fault !== null) return fault;
  if (sender === undefined || (sender !== null && isSame(sender, deputy.email))) return 'sender';
  if (shownName !== undefined && shownName !== deputy.name) return 'other-name';
  return actingFault(document.context, turn, deputy, { at, isSame });
}
