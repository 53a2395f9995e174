/** Tells a document something, and says why when it does not want it. */
import type { DocumentMessage } from '../../machines/document-context.ts';
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
export function cannotCancel({ state }: DocumentActor): PortalRefusalCode {
  if (state === 'Canceled') return 'DocumentAlreadyCanceled';
  if (state === 'Expired') return 'CannotCancelExpiredDocument';
  return 'InvalidDocumentStatus';
}

export function wrongStatus(): PortalRefusalCode {
  return 'InvalidDocumentStatus';
}
