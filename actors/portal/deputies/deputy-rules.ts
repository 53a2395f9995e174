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
 * | sender        | the deputy is the user who sends: one would act on both sides                       |
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

export type DeputyFault = 'forbidden' | 'hidden' | 'person' | 'document' | 'shared' | 'sender' | ActingFault;

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
  /** Address of the user; undefined = an application, or no member any more. */
  readonly sender: string | undefined;
}

const isSame = (one: string, other: string) => mailboxKey(one) === mailboxKey(other);

/** Undefined: the deputy may act. @param person mailbox of the person */
export function deputyFault(
  document: { readonly state: string; readonly context: DocumentContext },
  turn: Turn,
  { person, deputy }: { readonly person: string; readonly deputy: Pick<Deputy, 'email' | 'from' | 'until'> },
  { refusesDeputies, demandsCertificate, sender, at }: DeputyDemands & { readonly at: Millis },
): DeputyFault | undefined {
  if (refusesDeputies) return 'forbidden';
  const fault = OF_WAITING[waitingCase(document, turn, person, demandsCertificate)];
  if (fault !== null) return fault;
  if (sender !== undefined && isSame(sender, deputy.email)) return 'sender';
  return actingFault(document.context, turn, deputy, { at, isSame });
}
