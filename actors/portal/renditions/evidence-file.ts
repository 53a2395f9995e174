/**
 * Evidence file of an electronic signature: a small file whose SHA-256 the signature includes. It can be regenerated
 * from the document's data for comparison.
 *
 * Source: docs/portal-values.md §17: `file`, `evidencesSha256`.
 */
import { hash } from 'node:crypto';
import type { Reading } from '../../../contracts/portal/signing/reading.ts';
import type { DocumentId, FlowActionId } from '../../../machines/ids.ts';
import type {
  ActingDeputy,
  Evidence,
  FilledValue,
  Participant,
} from '../../../machines/portal/portal-types.ts';

export interface SignedEvidence {
  readonly document: {
    readonly id: DocumentId;
    readonly key: string;
    /** Of the file the flow is about, lower-case hex. */
    readonly sha256: string;
  };
  readonly flowActionId: FlowActionId;
  readonly participant: Participant;
  readonly evidence: Evidence;
  /** Values entered with the signature; only files are recorded. @default none */
  readonly values?: readonly FilledValue[] | undefined;
}

/** JSON with exactly these members in this order; `emailConfirmedAt`, `signingProvider`, `authenticatedPhoneNumber`, `authenticatorAppEnrolledAt`, those of a passkey, `inPersonAtDeviceOf`, `passedOn`, `deputyOf`, `hiddenFields`, `reading` and `attachments` only where there are any. */
export function evidenceFile(content: SignedEvidence): Buffer {
  const { document, flowActionId, participant, evidence, values = [] } = content;
  const { authenticatedApplication: application, geolocation } = evidence;
  const attachments = values.flatMap(({ name: field, attachment }) =>
    attachment === undefined
      ? []
      : [{ field, name: attachment.file.name, sha256: attachment.file.blob.sha256 }],
  );
  return Buffer.from(
    JSON.stringify({
      document: { id: document.id, key: document.key, sha256: document.sha256 },
      flowActionId,
      participant: {
        id: participant.id,
        name: participant.name,
        identifier: participant.identifier,
        email: participant.email,
        phone: participant.phone,
      },
      timestamp: new Date(evidence.at).toISOString(),
      ipAddress: evidence.ipAddress,
      userAgent: evidence.userAgent,
      authenticationTypes: evidence.authenticationTypes,
      authenticatedEmail: evidence.authenticatedEmail,
      ...(evidence.emailConfirmedAt !== undefined && {
        emailConfirmedAt: new Date(evidence.emailConfirmedAt).toISOString(),
      }),
      ...(evidence.signingProvider !== undefined && { signingProvider: { ...evidence.signingProvider } }),
      ...(evidence.authenticatedPhone !== undefined && {
        authenticatedPhoneNumber: evidence.authenticatedPhone,
      }),
      ...(evidence.authenticatorAppSince !== undefined && {
        authenticatorAppEnrolledAt: new Date(evidence.authenticatorAppSince).toISOString(),
      }),
      ...(evidence.passkey !== undefined && {
        accountVerifiedEmail: evidence.passkey.email,
        passkeyAddedAt: new Date(evidence.passkey.since).toISOString(),
      }),
      authenticatedApplication: application && {
        id: application.id,
        name: application.name,
        organizationName: application.organizationName,
      },
      ...(evidence.host !== undefined && {
        inPersonAtDeviceOf: { id: evidence.host.id, name: evidence.host.name },
      }),
      ...(evidence.passedOn !== undefined && { passedOn: passedOnView(evidence.passedOn) }),
      ...(evidence.deputy !== undefined && { deputyOf: deputyView(evidence.deputy) }),
      geolocation: geolocation && {
        latitude: geolocation.latitude,
        longitude: geolocation.longitude,
        accuracy: geolocation.accuracy,
      },
      typedName: evidence.typedName,
      timeZoneOffset: evidence.timeZoneOffset,
      ...(evidence.hiddenFields !== undefined && { hiddenFields: evidence.hiddenFields }),
      ...(evidence.reading !== undefined && { reading: readingView(evidence.reading) }),
      ...(attachments.length > 0 && { attachments }),
    }),
  );
}

/** SHA-256, Base64. */
export function evidenceDigest(file: Buffer): string {
  return hash('sha256', file, 'base64');
}

/** People who had the action before, oldest first. */
export function passedOnView(people: NonNullable<Evidence['passedOn']>) {
  return people.map(({ userId, name, email, reason, date }) => ({
    id: userId,
    name,
    email,
    reason,
    date: new Date(date).toISOString(),
  }));
}

/** The person in whose place the participant of the evidence has acted, and by what. */
export function deputyView({ person: { id, name, email }, reason, from, until }: ActingDeputy) {
  const startDate = new Date(from).toISOString();
  const endDate = new Date(until).toISOString();
  return { id, name, email, reason, startDate, endDate };
}

/** As requests name it. */
export function readingView({ pages, pageCount, isDownloaded, isDeclared }: Reading) {
  return { pages, pageCount, downloaded: isDownloaded, declared: isDeclared };
}
