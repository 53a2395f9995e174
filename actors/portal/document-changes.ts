/** Tells a document something, and says why when it does not want it. */
import type { DocumentMessage, DocumentState } from '../../machines/document-context.ts';
import type { DocumentId } from '../../machines/ids.ts';
import { PortalRefusal, type PortalRefusalCode } from '../../machines/portal-refusals.ts';
import type { ActorSystem, StepOutcome } from '../../runtime/index.ts';
import { type DocumentActor, documentAddress } from './document-index.ts';

type WithoutTime<Message> = Message extends unknown ? Omit<Message, 'at'> : never;
/** A message to a document; the host adds the time. */
export type DocumentWord = WithoutTime<DocumentMessage>;

type Accepted = Extract<StepOutcome, { readonly accepted: true }>;

/**
 * Resolves once the step is durable.
 * @param because the refusal for a document that does not want it in the state it has
 * @throws {PortalRefusal} `DocumentNotFound`, `DocumentIsDeleted`, `ServiceBusy`, and what `because` says
 */
export async function change(
  system: ActorSystem,
  id: DocumentId,
  word: DocumentWord,
  because: (document: DocumentActor) => PortalRefusalCode | PortalRefusal,
): Promise<DocumentActor> {
  const outcome = await system.tell(documentAddress(id), word);
  if (outcome.accepted) {
    await outcome.durable;
    return actorOf(outcome);
  }
  throw refusalOf(outcome, because);
}

export function actorOf({ actor }: Pick<Accepted, 'actor'>): DocumentActor {
  return actor;
}

export function refusalOf(
  outcome: Exclude<StepOutcome, Accepted>,
  because: (document: DocumentActor) => PortalRefusalCode | PortalRefusal,
): PortalRefusal {
  if (!('actor' in outcome)) return new PortalRefusal('DocumentNotFound');
  if (outcome.because === 'stopped') return new PortalRefusal('ServiceBusy');
  if (outcome.actor.state === 'Deleted') return new PortalRefusal('DocumentIsDeleted');
  const why = because(outcome.actor);
  return typeof why === 'string' ? new PortalRefusal(why) : why;
}

/** Source: portal-gaps §8. */
export function cannotCancel(document: DocumentActor): PortalRefusalCode | PortalRefusal {
  if (document.state === 'Canceled') return 'DocumentAlreadyCanceled';
  if (document.state === 'Expired') return 'CannotCancelExpiredDocument';
  return wrongStatus(document);
}

/** What can be done about a document in the state it has; in ASCII, as messages of refusals are. */
const WAYS_ON: { readonly [state in DocumentState]: string } = {
  Pending: 'Nothing of this kind is asked for now: look at its flow actions.',
  FlowConcluded: 'Everybody has acted, and it is being concluded.',
  Concluded: 'It is concluded and stays as it is.',
  Refused: 'It was refused: send a new version, cancel or delete it.',
  Canceled: 'It was canceled: create another document.',
  Expired: 'It has expired: create another document.',
  Deleted: 'It was deleted.',
};

export function wrongStatus({ state }: Pick<DocumentActor, 'state'>): PortalRefusal {
  const message = `The status of the document does not allow this. ${WAYS_ON[state as DocumentState]}`;
  return new PortalRefusal('InvalidDocumentStatus', message);
}
