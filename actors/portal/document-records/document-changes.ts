/** Sends messages to documents; a message that is not accepted becomes a refusal. */

import { type ActorSystem, durable, type StepOutcome } from '@sealwright/runtime';
import type { DocumentId } from '../../../machines/ids.ts';
import type { DocumentMessage, DocumentState } from '../../../machines/portal/document/document-context.ts';
import { PortalRefusal, type PortalRefusalCode } from '../../../machines/portal/portal-refusals.ts';
import { type DocumentActor, documentAddress } from './document-index.ts';

type WithoutTime<Message> = Message extends unknown ? Omit<Message, 'at'> : never;
/** A message to a document; the host adds the time. */
export type DocumentRequest = WithoutTime<DocumentMessage>;

type AcceptedOutcome = Extract<StepOutcome, { readonly accepted: true }>;

/**
 * Resolves once the step is durable.
 * @param refusal returns the refusal for a document whose state does not accept the message
 * @throws {PortalRefusal} `DocumentNotFound`, `DocumentIsDeleted`, `ServiceBusy`, and those of `refusal`
 */
export async function sendToDocument(
  system: ActorSystem,
  id: DocumentId,
  message: DocumentRequest,
  refusal: (document: DocumentActor) => PortalRefusalCode | PortalRefusal,
): Promise<DocumentActor> {
  return durable(system.send(documentAddress(id), message), (refused) => refusalOf(refused, refusal));
}

export function actorOf({ actor }: Pick<AcceptedOutcome, 'actor'>): DocumentActor {
  return actor;
}

export function refusalOf(
  outcome: Exclude<StepOutcome, AcceptedOutcome>,
  refusal: (document: DocumentActor) => PortalRefusalCode | PortalRefusal,
): PortalRefusal {
  if (!('actor' in outcome)) return new PortalRefusal('DocumentNotFound');
  if (outcome.reason === 'stopped') return new PortalRefusal('ServiceBusy');
  if (outcome.actor.state === 'Deleted') return new PortalRefusal('DocumentIsDeleted');
  const why = refusal(outcome.actor);
  return typeof why === 'string' ? new PortalRefusal(why) : why;
}

/** Source: docs/portal-values.md §8. */
export function cannotCancel(document: DocumentActor): PortalRefusalCode | PortalRefusal {
  if (document.state === 'Canceled') return 'DocumentAlreadyCanceled';
  if (document.state === 'Expired') return 'CannotCancelExpiredDocument';
  return wrongStatus(document);
}

/** Lists the possible actions on a document in its state; in ASCII, like all refusal messages. */
const RECOVERY_HINTS: { readonly [state in DocumentState]: string } = {
  Pending: 'Nothing of this kind is asked for now: look at its flow actions.',
  FlowConcluded: 'Everybody has acted, and it is being concluded.',
  Concluded: 'It is concluded and stays as it is.',
  Refused: 'It was refused: send a new version, cancel or delete it.',
  Canceled: 'It was canceled: create another document.',
  Expired: 'It has expired: create another document.',
  Deleted: 'It was deleted.',
};

export function wrongStatus({ state }: Pick<DocumentActor, 'state'>): PortalRefusal {
  const message = `The status of the document does not allow this. ${RECOVERY_HINTS[state as DocumentState]}`;
  return new PortalRefusal('InvalidDocumentStatus', message);
}
