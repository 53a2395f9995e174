/**
 * What the versions of a document are drawn from, gathered on the main thread and drawn in the pool. Plain data; equal
 * models give equal files.
 */
import type { DocumentContext, DocumentState } from '../../machines/document-context.ts';
import type { Millis } from '../../machines/ids.ts';
import type { Language } from '../../machines/organization.ts';
import type { MadeAction, MarkType, Participant } from '../../machines/portal-words.ts';
import type { DownloadType } from './api.ts';
import { participantOf } from './document-reader.ts';
import type { DocumentSignature } from './document-signatures.ts';
import { keyText, markWords } from './rendition-words.ts';

/** Versions that are drawn; the others are files as they are. */
export type RenderedType = Exclude<DownloadType, 'Original' | 'Signatures'>;

export interface RenditionMark {
  readonly type: MarkType;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** From 1; null = the last one. */
  readonly pageNumber: number | null;
  readonly lines: readonly string[];
  /** SHA-256 of a picture to draw; null = text alone. */
  readonly image: string | null;
}

export interface RenditionPerson {
  readonly name: string;
  readonly identifier: string | null;
  readonly email: string | null;
  readonly title: string | null;
  readonly kind: MadeAction['kind'];
  readonly at: Millis;
  /** Minutes from UTC; null = not known. */
  readonly timeZoneOffset: number | null;
  readonly evidence: {
    readonly ipAddress: string | null;
    readonly userAgent: string | null;
    readonly authenticationTypes: readonly string[];
    readonly authenticatedEmail: string | null;
    readonly applicationName: string | null;
    readonly typedName: string | null;
    readonly geolocation: string | null;
    /** Base64. */
    readonly sha256: string | null;
  } | null;
  /** That the signature was made with. */
  readonly certificate: {
    readonly subject: string;
    readonly issuer: string;
    readonly thumbprint: string;
    readonly timestamps: readonly Millis[];
  } | null;
}

export interface RenditionModel {
  readonly type: RenderedType;
  readonly language: Language;
  readonly document: {
    readonly name: string;
    readonly filename: string;
    readonly key: string;
    readonly checkUrl: string;
    readonly organization: string;
    readonly createdBy: string;
    readonly creationDate: Millis;
    readonly state: DocumentState;
    readonly reason: string | null;
    /** Of the file as it was uploaded, lower-case hex. */
    readonly sha256: string;
    readonly parts: readonly { readonly name: string; readonly sha256: string }[];
  };
  readonly people: readonly RenditionPerson[];
  readonly marks: readonly RenditionMark[];
  /** Last change of the document; said to be the time the version was made at. */
  readonly at: Millis;
}

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
