/** Gathers what the versions of a document are drawn from. */
import type { Language } from '../../../contracts/portal/words.ts';
import { conditionText } from '../../../machines/portal/conditions.ts';
import { representedName } from '../../../machines/portal/documents/deputy-acts.ts';
import type { DocumentContext, DocumentState } from '../../../machines/portal/documents/document-context.ts';
import { hiddenFields } from '../../../machines/portal/documents/flow-conditions.ts';
import type { FieldPlace } from '../../../machines/portal/field-values.ts';
import type {
  CompletedAction,
  Evidence,
  FlowAction,
  Participant,
} from '../../../machines/portal/portal-types.ts';
import { markLines } from '../../shared/rendition/mark-lines.ts';
import type {
  RenderedType,
  RenditionEvent,
  RenditionMark,
  RenditionModel,
  RenditionPerson,
} from '../../shared/rendition/rendition-model.ts';
import { participantOf } from '../document-records/document-reader.ts';
import type { DocumentSignature } from './document-signatures.ts';

export interface RenditionSource {
  readonly type: RenderedType;
  readonly state: DocumentState;
  readonly context: DocumentContext;
  readonly signatures: readonly DocumentSignature[];
  readonly language: Language;
  readonly checkUrl: string;
  /** History without downloads, which would change each version that is downloaded. */
  readonly trail: readonly RenditionEvent[];
  readonly trailOmitted: number;
}

export function renditionModelOf(source: RenditionSource): RenditionModel {
  const { type, state, context, signatures, language, checkUrl, trail, trailOmitted } = source;
  const { file, parts, made, attachments } = context;
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
      parts: parts.map(({ name, blob }) => ({
        name,
        sha256: blob.sha256,
        signatures: attachments.find(({ file: { blob: of } }) => of.sha256 === blob.sha256)?.signatures ?? 0,
      })),
    },
    skipped: context.actions.filter(({ status }) => status === 'Skipped').map(skippedText),
    people: made.map((one) => personOf(one, context, signatures)),
    marks: made.flatMap((one) => marksOf(one, context, language)),
    ...(context.covers && { covers: context.covers.map(placed) }),
    trail,
    trailOmitted,
    at: context.updateDate,
  };
}

function skippedText({ user, ruleName, title, takesPartWhen = {} }: FlowAction): string {
  const names = [user?.name ?? user?.email ?? ruleName, title].filter(Boolean).join(', ');
  return `${names}: ${conditionText(takesPartWhen)}`;
}

function personOf(
  made: CompletedAction,
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
    hiddenFields: hiddenFields(context, action, made.values).map(({ label }) => label),
    evidence: evidence && {
      ipAddress: evidence.ipAddress,
      userAgent: evidence.userAgent,
      authenticationTypes: evidence.authenticationTypes,
      authenticatedEmail: evidence.authenticatedEmail,
      emailConfirmedAt: evidence.emailConfirmedAt ?? null,
      signingProvider: evidence.signingProvider ?? null,
      authenticatedPhone: evidence.authenticatedPhone ?? null,
      authenticatorAppSince: evidence.authenticatorAppSince ?? null,
      passkey: evidence.passkey ?? null,
      applicationName: evidence.authenticatedApplication?.name ?? null,
      hostName: evidence.host?.name ?? null,
      deputyOf: deputyOf(evidence),
      passedOn: evidence.passedOn?.map(({ name, email }) => name ?? email ?? '') ?? [],
      typedName: evidence.typedName,
      geolocation:
        evidence.geolocation && `${evidence.geolocation.latitude}, ${evidence.geolocation.longitude}`,
      ...(evidence.reading && { reading: evidence.reading }),
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

function deputyOf({ deputy }: Evidence) {
  if (deputy === undefined) return null;
  const { from, until, reason, person } = deputy;
  const { email } = person;
  const name = representedName(deputy);
  return { person: email === null || email === name ? name : `${name}, ${email}`, reason, from, until };
}

function nameOf(participant: Participant | undefined, made: CompletedAction): string {
  return participant?.name ?? made.evidence?.typedName ?? participant?.email ?? participant?.identifier ?? '';
}

function marksOf(
  made: CompletedAction,
  context: DocumentContext,
  language: Language,
): readonly RenditionMark[] {
  const participant = participantOf(context, made);
  const title = context.actions.find(({ id }) => id === made.flowActionId)?.title ?? null;
  const at = made.evidence?.at ?? made.at;
  const { key } = context;
  const name = made.evidence?.typedName ?? nameOf(participant, made);
  const deputyOf = made.evidence?.deputy && representedName(made.evidence.deputy);
  const marks = made.marks.map((mark) => ({
    ...placed(mark),
    type: mark.type,
    lines: markLines(mark.type, language, { name, title, deputyOf, kind: made.kind, at, key }),
    image: mark.type === 'SignatureVisualRepresentation' ? (made.image?.sha256 ?? null) : null,
  }));
  return [...marks, ...valueMarks(made, context)];
}

/** The values of the participant's fields, as the signed file shows them. */
function valueMarks({ values = [], flowActionId }: CompletedAction, { actions }: DocumentContext) {
  const { fields = [] } = actions.find(({ id }) => id === flowActionId) ?? {};
  return values.flatMap(({ fieldId, value }): readonly RenditionMark[] => {
    const field = fields.find(({ id }) => id === fieldId);
    if (!field?.place) return [];
    const shown = field.type === 'Checkbox' ? (value === 'true' ? '\u2611' : '\u2610') : value;
    return [{ ...placed(field.place), type: 'SignatureInitials', lines: shown.split('\n'), image: null }];
  });
}

function placed({ topLeftX: x, topLeftY: y, width, height, pageNumber }: FieldPlace) {
  return { x, y, width, height, pageNumber };
}
