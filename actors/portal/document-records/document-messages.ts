/**
 * Sends messages to documents; a message that is not accepted becomes a refusal. Records what participants and applications do
 * with a document beside changing it (docs/decisions/0092-audit-trail.md).
 */

import { accepted, type Calls, type Clock, type RefusedAnswer } from '@sealwright/runtime';
import type { WithoutTime } from '@sealwright/runtime/actions';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import type { DocumentId, Millis } from '../../../machines/ids.ts';
import type {
  DocumentMessage,
  DocumentState,
  TrailPrincipal,
} from '../../../machines/portal/documents/document-context.ts';
import type { DocumentMessageOf } from '../../../machines/portal/documents/document-decision.ts';
import { isRecorded } from '../../../machines/portal/documents/document-trail.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { StepWaits } from '../../shared/coordination/step-waits.ts';
import type { RequestOrigin, Tenant } from '../api/callers.ts';
import { DOCUMENT, type DocumentActor } from './document-index.ts';
import { type DocumentReader, documentToChange } from './document-reader.ts';
import '../../shared/failures/document-fault-points.ts';

type ActionRecord = Pick<DocumentMessageOf<'RECORD'>, 'action' | 'principal'> &
  Partial<Pick<DocumentMessageOf<'RECORD'>, 'detail' | 'flowActionId' | 'emailAddress'>>;

/** Resolves once the record is durable. Sends nothing for a repetition that is not recorded. */
export async function recordAction(
  { actors, clock }: { readonly actors: Pick<Calls, 'send'>; readonly clock: Pick<Clock, 'now'> },
  { context }: Pick<DocumentActor, 'context'>,
  { detail = null, flowActionId = null, emailAddress = null, ...record }: ActionRecord,
): Promise<void> {
  if (!isRecorded(context, record, clock.now())) return;
  await actors.send(DOCUMENT, context.id, {
    type: 'RECORD',
    ...record,
    detail,
    flowActionId,
    emailAddress,
  });
}

/** Waits until an accepted signature is in its file, or has failed. Call it before the signature is sent. */
export function whenSettled(waits: StepWaits, document: DocumentId, id: string, within: Millis) {
  return waits.begin(DOCUMENT, document, settling(id), within);
}

/**
 * Detects the step in which an accepted signature is embedded in its file or has failed. Ignores steps before its
 * acceptance.
 */
function settling(id: string): (document: Pick<DocumentActor, 'context'>) => boolean {
  let isAccepted = false;
  return ({ context }) => {
    const isWaiting = context.accepted.some((one) => one.id === id);
    if (!isAccepted) isAccepted = isWaiting;
    return isAccepted && (!isWaiting || context.processingError !== null);
  };
}

/** Principal of a journal line: the application of a key, where the request came from. */
export function applicationPrincipal({ application, origin }: Tenant): TrailPrincipal {
  return { by: application.name, userId: null, ...originOf(origin) };
}

/** Principal of a journal line: a participant. */
export function participantPrincipal(
  { id, name, email }: { readonly id: string; readonly name: string | null; readonly email: string | null },
  origin: RequestOrigin | undefined,
): TrailPrincipal {
  return { by: name ?? email, userId: id, ...originOf(origin) };
}

/** Address and user agent, empty ones as null. */
export function originOf(origin: RequestOrigin | undefined): Pick<TrailPrincipal, 'ipAddress' | 'userAgent'> {
  return {
    ipAddress: origin?.ipAddress || null,
    userAgent: origin?.userAgent.slice(0, MAX_USER_AGENT) || null,
  };
}

/** Longest user agent in the journal, characters. */
const MAX_USER_AGENT = 500;

/** A message to a document; the host adds the time. */
export type DocumentRequest = WithoutTime<DocumentMessage>;

/**
 * Resolves once the step is durable.
 * @param refusal returns the refusal for a document whose state does not accept the message
 * @throws {PortalRefusal} `DocumentNotFound`, `DocumentIsDeleted`, `ServiceBusy`, and those of `refusal`
 */
export async function sendToDocument(
  actors: Calls,
  id: DocumentId,
  message: DocumentRequest,
  refusal: (document: DocumentActor) => PortalRefusalCode | PortalRefusal,
): Promise<DocumentActor> {
  return accepted(actors.send(DOCUMENT, id, message), (refused) => refusalOf(refused, refusal));
}

/** Changes a document for its caller. Refusals: as `sendToDocument` and `documentToChange`. */
export async function changeDocument(
  actors: Calls,
  documents: DocumentReader,
  {
    tenant,
    id,
    message,
    refusal = wrongStatus,
  }: {
    readonly tenant: Tenant;
    readonly id: DocumentId;
    readonly message: DocumentRequest;
    readonly refusal?: Parameters<typeof sendToDocument>[3] | undefined;
  },
): Promise<void> {
  await documentToChange(documents, tenant, id);
  await sendToDocument(actors, id, { ...message, doneBy: applicationPrincipal(tenant) }, refusal);
}

export function refusalOf(
  refused: RefusedAnswer<typeof DOCUMENT>,
  refusal: (document: DocumentActor) => PortalRefusalCode | PortalRefusal,
): PortalRefusal {
  if (!('context' in refused)) return new PortalRefusal('DocumentNotFound');
  if (refused.reason === 'stopped') return new PortalRefusal('ServiceBusy');
  if (refused.state === 'Deleted') return new PortalRefusal('DocumentIsDeleted');
  const why = refusal(refused);
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
