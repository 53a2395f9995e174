/** Gathers what the versions of a document are drawn from. */
import type { DocumentContext, DocumentState } from '../../machines/document-context.ts';
import type { Language } from '../../machines/organization.ts';
import type { MadeAction, Participant } from '../../machines/portal-words.ts';
import { participantOf } from './document-reader.ts';
import type { DocumentSignature } from './document-signatures.ts';
import type { RenderedType, RenditionMark, RenditionModel, RenditionPerson } from './rendition-model.ts';
import { keyText, markWords } from './rendition-words.ts';

export interface RenditionSource {
  readonly type: RenderedType;
  readonly state: DocumentState;
  readonly context: DocumentContext;
  readonly signatures: readonly DocumentSignature[];
  readonly language: Language;
  readonly checkUrl: string;
}

export function renditionModel(source: RenditionSource): RenditionModel {
  const { type, state, context, signatures, language, checkUrl } = source;
  const { file, parts, made } = context;
  return {
    type,
    language,
    document: {
      name: context.name,
      filename: file.name,
      key: context.key,
      checkUrl,
      organization: context.organization.name,
      createdBy: context.createdBy.name,
      creationDate: context.creationDate,
      state,
      reason: context.statusUpdateReason,
      sha256: file.blob.sha256,
      parts: parts.map(({ name, blob }) => ({ name, sha256: blob.sha256 })),
    },
    people: made.map((one) => personOf(one, context, signatures)),
    marks: made.flatMap((one) => marksOf(one, context, language)),
    at: context.updateDate,
  };
}

function personOf(
  made: MadeAction,
  context: DocumentContext,
  signatures: readonly DocumentSignature[],
): RenditionPerson {
  const participant = participantOf(context, made);
  const action = context.actions.find(({ id }) => id === made.flowActionId);
  const { evidence } = made;
  const signature = signatures.find((one) => one.made === made);
  return {
    name: nameOf(participant, made),
    identifier: participant?.identifier ?? null,
    email: participant?.email ?? null,
    title: action?.title ?? null,
    kind: made.kind,
    at: evidence?.at ?? made.at,
    timeZoneOffset: evidence?.timeZoneOffset ?? null,
    evidence: evidence && {
      ipAddress: evidence.ipAddress,
      userAgent: evidence.userAgent,
      authenticationTypes: evidence.authenticationTypes,
      authenticatedEmail: evidence.authenticatedEmail,
      applicationName: evidence.authenticatedApplication?.name ?? null,
      typedName: evidence.typedName,
      geolocation:
        evidence.geolocation && `${evidence.geolocation.latitude}, ${evidence.geolocation.longitude}`,
      sha256: made.evidenceSha256,
    },
    certificate:
      signature === undefined
        ? null
        : {
            subject: signature.certificateSubject,
            issuer: signature.view.issuerName,
            thumbprint: signature.view.certificateThumbprint,
            timestamps: signature.view.signatureTimestamps.map(({ genTime }) => genTime),
          },
  };
}

function nameOf(participant: Participant | undefined, made: MadeAction): string {
  return participant?.name ?? made.evidence?.typedName ?? participant?.email ?? participant?.identifier ?? '';
}

function marksOf(made: MadeAction, context: DocumentContext, language: Language): readonly RenditionMark[] {
  const participant = participantOf(context, made);
  const name = nameOf(participant, made);
  const title = context.actions.find(({ id }) => id === made.flowActionId)?.title ?? null;
  const at = made.evidence?.at ?? made.at;
  const { key } = context;
  return made.marks.map((mark) => ({
    type: mark.type,
    x: mark.topLeftX,
    y: mark.topLeftY,
    width: mark.width,
    height: mark.height,
    pageNumber: mark.pageNumber,
    lines:
      mark.type === 'SignatureInitials'
        ? [initialsOf(name)]
        : mark.type === 'AuthenticationStamp'
          ? [keyText(key)]
          : markWords(language, { name: made.evidence?.typedName ?? name, title, kind: made.kind, at, key }),
    image: mark.type === 'SignatureVisualRepresentation' ? (made.image?.sha256 ?? null) : null,
  }));
}

/** First letters of the first and last names, four at most. */
function initialsOf(name: string): string {
  const letters = name.split(/\s+/).flatMap((word) => [...word].slice(0, 1));
  return (letters.length <= 4 ? letters : [...letters.slice(0, 3), ...letters.slice(-1)])
    .join('')
    .toUpperCase();
}
