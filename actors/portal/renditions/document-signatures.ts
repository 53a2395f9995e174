/** Signatures of a document made here: its file's signatures with the participants of its flow. */
import type { SignatureView } from '../../../contracts/portal/signing/validation.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import type { CompletedAction, Participant } from '../../../machines/portal/portal-types.ts';
import type { DescribedSignature } from '../../shared/signing/signature-records.ts';
import { participantOf } from '../document-records/document-reader.ts';
import type { DescribedFiles, FileToDescribe } from './described-files.ts';
import {
  deputyView,
  evidenceDigest,
  evidenceFile,
  passedOnView,
  readingView,
  type SignedEvidence,
} from './evidence-file.ts';

/**
 * Returns all signatures of the file, including document time-stamps and signatures that were in the uploaded file. They
 * are in the order of signing, which is the order in the file; except in CMS, which sorts signers by their bytes (RFC 5652
 * §5.1, a SET OF).
 */
export async function documentSignatures(
  described: Pick<DescribedFiles, 'describe'>,
  document: DocumentContext,
): Promise<readonly SignatureView[]> {
  return (await describedSignatures(described, document)).map(({ view }) => view);
}

/** The file of a document that holds its signatures, and what they are over. */
export function signedFileOf({
  id,
  organization,
  format,
  current,
  signatures,
  file,
  made,
}: DocumentContext): FileToDescribe {
  return {
    file: signatures ?? current,
    content: signatures === null ? null : current,
    format,
    contentType: file.contentType,
    accepted: made.flatMap(({ kind, certificate }) =>
      kind === 'certificate' && certificate !== null ? [certificate] : [],
    ),
    documentId: id,
    organizationId: organization.id,
  };
}

/** A signature of the file, and the action of the flow that made it. */
export interface DocumentSignature {
  readonly view: SignatureView;
  /** Undefined for what the file came with, and for time-stamps. */
  readonly made: CompletedAction | undefined;
  /** The certificate holder: for electronic signatures the sealing service, not the participant. */
  readonly certificateSubject: string;
}

export async function describedSignatures(
  described: Pick<DescribedFiles, 'describe'>,
  document: DocumentContext,
): Promise<readonly DocumentSignature[]> {
  const { signatures: found } = await described.describe(signedFileOf(document));
  return withActions(found, matched(found, document.made), document);
}

/**
 * Signatures found in another file, each with the action of the document that made it. Only those that the file of the
 * document has too are its own: whoever has a sealed file can give its signature the name of another one.
 * @param own signatures found in the file of the document
 */
export function signaturesElsewhere(
  found: readonly DescribedSignature[],
  own: readonly DescribedSignature[],
  document: DocumentContext,
): readonly DocumentSignature[] {
  const madeByValue = new Map(
    [...matched(own, document.made)].flatMap(([{ value }, made]) =>
      value === undefined ? [] : [[value, made] as const],
    ),
  );
  const madeBy = new Map(
    found.flatMap((signature) => {
      const made = signature.value === undefined ? undefined : madeByValue.get(signature.value);
      return made === undefined ? [] : [[signature, made] as const];
    }),
  );
  return withActions(found, madeBy, document);
}

function withActions(
  found: readonly DescribedSignature[],
  madeBy: ReadonlyMap<DescribedSignature, CompletedAction>,
  document: DocumentContext,
): readonly DocumentSignature[] {
  const inOrder = document.format === 'Cades' ? asMade(found, madeBy, document.made) : found;
  return inOrder.map((signature) => {
    const made = madeBy.get(signature);
    const view = made === undefined ? signature.view : ownView(signature.view, made, document);
    return { view, made, certificateSubject: signature.view.subjectName };
  });
}

/**
 * By certificate and name in the file: CMS has its signers in an order of its own. Signatures beside PDFs that were made
 * before they had names each claim another time.
 */
function matched(
  found: readonly DescribedSignature[],
  made: readonly CompletedAction[],
): ReadonlyMap<DescribedSignature, CompletedAction> {
  const pairs = new Map<DescribedSignature, CompletedAction>();
  for (const one of made) {
    if (one.certificate === null) continue;
    const thumbprint = Buffer.from(one.certificate, 'hex').toString('base64');
    const fitting = found.filter(
      (candidate) =>
        !pairs.has(candidate) &&
        !candidate.view.isTimestamp &&
        candidate.view.certificateThumbprint === thumbprint &&
        (one.fieldName === null || candidate.name === one.fieldName),
    );
    const signature = fitting.find(({ view }) => view.signingTime === one.signingTime) ?? fitting[0];
    if (signature !== undefined) pairs.set(signature, one);
  }
  return pairs;
}

/** Signatures of the uploaded file first, then those of the flow in order. */
function asMade(
  found: readonly DescribedSignature[],
  madeBy: ReadonlyMap<DescribedSignature, CompletedAction>,
  made: readonly CompletedAction[],
): readonly DescribedSignature[] {
  const turn = (signature: DescribedSignature): number => {
    const action = madeBy.get(signature);
    return action === undefined ? -1 : made.indexOf(action);
  };
  return found.toSorted((one, other) => turn(one) - turn(other));
}

/** The signer of an electronic signature is the participant, whose certificate did not make the seal. */
function ownView(view: SignatureView, made: CompletedAction, document: DocumentContext): SignatureView {
  if (made.kind !== 'electronic') {
    const { signingProvider } = made.evidence ?? {};
    return { ...view, ...(signingProvider !== undefined && { signingProvider: { ...signingProvider } }) };
  }
  const participant = participantOf(document, made);
  if (participant === undefined) return { ...view, isElectronic: true, qualification: null };
  const { id, key, file } = document;
  return {
    ...view,
    subjectName: participant.name ?? made.evidence?.typedName ?? participant.email ?? '',
    emailAddress: participant.email,
    identifier: participant.identifier,
    companyName: null,
    companyIdentifier: null,
    isElectronic: true,
    qualification: null,
    signingTime: made.evidence?.at ?? made.at,
    evidences: evidenceView(made, participant, { id, key, sha256: file.blob.sha256 }),
  };
}

/** Evidence as clients read it; null for a signature with a certificate only. Source: docs/portal-values.md §17. */
function evidenceView(
  { flowActionId, evidence, evidenceSha256, values }: CompletedAction,
  participant: Participant,
  document: SignedEvidence['document'],
): Readonly<Record<string, unknown>> | null {
  if (evidence === null) return null;
  const file = evidenceFile({ document, flowActionId, participant, evidence, values });
  return {
    ipAddress: evidence.ipAddress,
    userAgent: evidence.userAgent,
    authenticationTypes: evidence.authenticationTypes,
    accountVerifiedEmail: evidence.passkey?.email ?? null,
    authenticatedEmail: evidence.authenticatedEmail,
    ...(evidence.emailConfirmedAt !== undefined && {
      emailConfirmedAt: new Date(evidence.emailConfirmedAt).toISOString(),
    }),
    authenticatedPhoneNumberLastDigits: evidence.authenticatedPhone?.slice(-4) ?? null,
    authenticatedPhoneNumber: evidence.authenticatedPhone ?? null,
    ...(evidence.authenticatorAppSince !== undefined && {
      authenticatorAppEnrolledAt: new Date(evidence.authenticatorAppSince).toISOString(),
    }),
    ...(evidence.passkey !== undefined && {
      passkeyAddedAt: new Date(evidence.passkey.since).toISOString(),
    }),
    authenticatedApplication: evidence.authenticatedApplication,
    ...(evidence.host !== undefined && { inPersonAtDeviceOf: { ...evidence.host } }),
    ...(evidence.passedOn !== undefined && { passedOn: passedOnView(evidence.passedOn) }),
    ...(evidence.deputy !== undefined && { deputyOf: deputyView(evidence.deputy) }),
    authenticatedSelfie: null,
    authenticatedPix: null,
    geolocation: evidence.geolocation,
    ...(evidence.hiddenFields !== undefined && { hiddenFields: evidence.hiddenFields }),
    ...(evidence.reading !== undefined && { reading: readingView(evidence.reading) }),
    timestamp: new Date(evidence.at).toISOString(),
    evidencesSha256: evidenceSha256,
    // Only sealed evidence, matched by digest.
    file: evidenceDigest(file) === evidenceSha256 ? file.toString('base64') : null,
    fileTicket: null,
  };
}
