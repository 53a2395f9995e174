/**
 * Signing, approving and refusing, with an application's key or with a participant's ticket.
 *
 * Source: docs/portal-values.md §9 (end) and §10; docs/fields.md.
 */

import { z } from 'zod';
import {
  between,
  bytes,
  entity,
  flag,
  id,
  list,
  map,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  shown,
  text,
  textUpTo,
  uuid,
  whole,
  word,
} from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { reason } from '../documents.ts';
import { actionId, disableNotifications, fileSize, maybeActionId } from '../entities.ts';
import { ANA, EXAMPLE_IDS, REASON } from '../examples.ts';
import { box, newMark } from '../flow.ts';
import { documentParams, keyParams } from '../ids.ts';
import { operationsOf } from '../operation.ts';
import { ELECTRONIC_SIGNATURE } from '../refusals.ts';
import { fileForm } from '../uploads.ts';
import { CODE_CHANNELS } from '../words.ts';
import { authenticatorMembers } from './authenticator-apps.ts';
import { reading } from './reading.ts';
import { signatureChecks } from './validation.ts';

/** Metres, up to the circumference of the earth: devices without a position report large numbers. */
const MAX_ACCURACY = 40_075_017;

/** Maximum sizes, bytes. */
const MAX_PICTURE = 2 * 1024 * 1024;
const MAX_CERTIFICATE = 16 * 1024;
const MAX_VALUE = 4 * 1024;
/** Of an electronic signature request: a picture of two MiB in Base64, and a thousand marks. */
const MAX_PICTURE_BODY = 4 * 1024 * 1024;
/** Of a file that a participant attaches on the page; ours. */
export const MAX_FIELD_FILE_BYTES = 4_000_000;

/** The signer: with `keys/{key}` a ticket or, with an application's key, the action. */
export const access = {
  flowActionId: maybeActionId,
  ticket: shown(
    maybeText,
    'Ticket of the participant’s link, in place of a key. It is valid for 24 hours, in an e-mail for 90 days.',
    '0f8c1d2e3b4a59687786a5b4c3d2e1f0',
  ),
  // Additional: with a key, the acting participant of a rule.
  userId: shown(
    maybeUuid,
    'Person of a rule who acts. Required with a key for rules; otherwise ignored.',
    EXAMPLE_IDS.flowAction,
  ),
  // Additional: with a ticket, the displayed version; a different current version is refused.
  documentVersion: shown(
    whole.nullish(),
    'Version that the participant has seen, from 1. If it is not the current one, the call is refused with `InvalidDocumentStatus`. Absent: the version of the ticket; an older one is refused with `VersionChanged`.',
    1,
  ),
};

/** Values by name of field; the rules of fields refuse other types than text, number and boolean. */
const fieldValues = map(z.union([textUpTo(4000), z.number(), z.boolean()]).nullable());

const signaturePosition = members({
  page: shown(whole.nullish(), 'Page of the box, from 1. Another spelling of `pageNumber`, which wins.', 1),
  ...box,
}).transform(({ page, pageNumber, ...rectangle }) => ({
  ...rectangle,
  pageNumber: pageNumber ?? page ?? null,
}));

/** Code of a confirmation besides e-mail. */
const code = (way: string) =>
  shown(
    maybeText,
    `Six digits that the participant received by ${way}, where the action requires them.`,
    '481516',
  );
const onePosition = signaturePosition
  .nullish()
  .describe('One place of the visible signature. Ignored when `signaturePositions` is there.');
export const severalPositions = list(newMark)
  .nullish()
  .describe('Places of the visible signature, at most 1,000. Absent: those given at creation.');
export const filledFields = shown(
  fieldValues.nullish(),
  'Values by name of field: text, number or boolean; of a field of the type `Attachment` the id of an upload: with a ticket one that the participant uploaded, with a key one of `POST /api/uploads`. Required fields must have one.',
  { city: 'Lisbon' },
);

const picture = {
  id: uuid.describe('Identifier, unique within the instance.'),
  contentType: shown(maybeText, 'Media type of the content.', 'application/pdf'),
  save: maybeFlag.describe('Whether the picture is kept for later signatures. Accepted and ignored.'),
};

/** Places of the visible signature, in one of two spellings. */
function positionsOf<Position>(
  one: Position | null | undefined,
  several: readonly Position[] | null | undefined,
): readonly Position[] {
  return several ?? (one ? [one] : []);
}

const electronicSignature = members({
  ...access,
  disableNotifications,
  evidences: members({
    geolocation: members({
      latitude: shown(between(-90, 90), 'Degrees north of the equator.', 38.72),
      longitude: shown(between(-180, 180), 'Degrees east of Greenwich.', -9.14),
      accuracy: shown(
        between(0, MAX_ACCURACY).nullish(),
        'Radius of uncertainty of the position, metres. Null: not known.',
        12.5,
      ),
    })
      .nullish()
      .describe('Position reported by the device of the participant.'),
  })
    .nullish()
    .describe('Data about the moment of signing. It becomes part of the evidence in the signed file.'),
  emailCode: shown(
    maybeText,
    'Six digits that the participant received by e-mail. Valid for 10 minutes and 5 attempts. Required where the action asks for a code.',
    '481516',
  ),
  smsCode: code('SMS'),
  whatsappCode: code('WhatsApp'),
  otpCode: shown(maybeText, 'Six digits of the authenticator app, where the action requires them.', '481516'),
  ...authenticatorMembers,
  authenticationType: word(['SMS', 'AuthenticationApp'])
    .nullish()
    .describe(
      'Kind of `authenticationCode`. `SMS`: it is taken as `smsCode` or `whatsappCode`; `AuthenticationApp`: as `otpCode`.',
    ),
  authenticationCode: shown(
    maybeText,
    'Another spelling of the code that `authenticationType` names.',
    '123456',
  ),
  typedName: shown(
    maybeText,
    'Name that the participant typed. Absent: the name of the flow action.',
    'Ana Silva',
  ),
  signaturePosition: onePosition,
  signaturePositions: severalPositions,
  signatureInitialsPositions: list(newMark)
    .nullish()
    .describe('Places of the initials, at most 1,000. Absent: those given at creation.'),
  // Participants have no key for uploads: the signing page sends the picture itself.
  signatureImage: members({
    ...picture,
    id: maybeUuid.describe('Identifier, unique within the instance.'),
    contentB64: shown(
      bytes(MAX_PICTURE).nullish(),
      'Picture in PNG or JPEG, Base64, at most 2 MiB. For participants, who cannot upload.',
      'iVBORw0KGgo=',
    ),
    showSignerInformation: maybeFlag.describe(
      'Whether name and date are printed beside the picture. Accepted and ignored.',
    ),
    alignTextOnMiddle: maybeFlag.describe(
      'Whether the text beside the picture is centred vertically. Accepted and ignored.',
    ),
  })
    .nullish()
    .describe(
      'Picture of the signature: PNG or JPEG, at most 2 MiB and 16 million pixels. One that cannot be drawn is refused. Absent: one is made from the name.',
    ),
  initialsImage: members(picture)
    .nullish()
    .describe('Picture of the initials. Absent: they are made from the name.'),
  fieldValues: filledFields,
  reading,
  userTimeZoneOffset: shown(
    whole.nullish(),
    'Minutes that the clock of the participant is ahead of UTC. Absent: times are shown in UTC.',
    60,
  ),
})
  .transform((given) => {
    const { flowActionId, ticket, userId, documentVersion, signatureImage } = given;
    const geolocation = given.evidences?.geolocation;
    const older = (given.authenticationType === 'SMS' ? given.authenticationCode : undefined) ?? undefined;
    return {
      disableNotifications: given.disableNotifications ?? undefined,
      geolocation: geolocation ? { ...geolocation, accuracy: geolocation.accuracy ?? null } : undefined,
      emailCode: given.emailCode ?? undefined,
      smsCode: given.smsCode ?? older,
      whatsappCode: given.whatsappCode ?? older,
      otpCode:
        given.otpCode ??
        (given.authenticationType === 'AuthenticationApp' ? given.authenticationCode : undefined) ??
        undefined,
      otpEnrolment: given.otpEnrolment ?? undefined,
      passkey: given.passkey ?? undefined,
      newPasskey: given.newPasskey ?? undefined,
      typedName: given.typedName ?? undefined,
      timeZoneOffset: given.userTimeZoneOffset ?? undefined,
      positions: positionsOf(given.signaturePosition, given.signaturePositions),
      initialsPositions: given.signatureInitialsPositions ?? [],
      /** Upload of a picture (PNG or JPEG) to draw. */
      imageUploadId: signatureImage?.id ?? undefined,
      /** The picture itself, as the signing page sends it; counts when there is no upload. */
      image: signatureImage?.contentB64 ?? undefined,
      fieldValues: given.fieldValues ?? undefined,
      reading: given.reading,
      flowActionId,
      ticket,
      userId,
      documentVersion,
    };
  })
  .meta({ id: 'ElectronicSignature' });

type Electronic = Omit<Value<typeof electronicSignature>, keyof typeof access>;
export type ElectronicSigning = Partial<Electronic> & Pick<Electronic, 'positions' | 'initialsPositions'>;

const certificateStart = members({
  ...access,
  certificate: shown(
    bytes(MAX_CERTIFICATE),
    'X.509 certificate of the participant in DER, Base64. At most 16 KiB. Its private key stays with the participant.',
    'MIIDazCCAlOgAwIBAgIU',
  ),
  signaturePosition: onePosition,
  signaturePositions: severalPositions,
  fieldValues: filledFields,
})
  .transform(({ signaturePosition: one, signaturePositions, fieldValues: values, ...request }) => ({
    ...request,
    positions: positionsOf(one, signaturePositions),
    fieldValues: values ?? undefined,
  }))
  .meta({ id: 'CertificateSignatureStart' });

const certificateCompletion = members({
  ...access,
  signature: shown(bytes(MAX_VALUE), 'Signature value over the hash, Base64. At most 4 KiB.', 'MEUCIQDx'),
  token: shown(
    text,
    'Token from the call that began this signature. Used once, within 10 minutes.',
    'c2lnbmluZy10b2tlbg',
  ),
  disableNotifications,
  reading,
}).meta({ id: 'CertificateSignature' });

const approval = members({
  ...access,
  disableNotifications,
  reading,
}).meta({ id: 'Approval' });

const participantRefusal = members({
  ...access,
  reason: shown(
    reason,
    'Reason, which participants and the history show. At most 2,000 characters.',
    'The price has changed.',
  ),
}).meta({ id: 'ParticipantRefusal' });

const documentOpening = members({
  ...access,
  reachedEnd: maybeFlag.describe(
    'Whether the last page was visible to its end. Default false: the document was opened.',
  ),
}).meta({ id: 'DocumentOpening' });

const emailCodeRequest = members({
  ...access,
  channel: word(CODE_CHANNELS)
    .nullish()
    .describe('How it is sent. SMS and WhatsApp only where the action requires them. Default `Email`.'),
  resend: maybeFlag.describe(
    'Whether a new code is sent although an earlier one is still valid. Default false.',
  ),
}).meta({ id: 'EmailCodeRequest' });

const smsCodeRequest = members({
  flowActionId: actionId,
  resend: flag
    .nullish()
    .describe('Whether a new code is sent although an earlier one is still valid. Default false.'),
}).meta({ id: 'SmsCodeRequest' });

const startedSignature = z.strictObject({
  success: shown(z.boolean(), 'Whether it was done.', true),
  token: shown(
    z.string().nullable(),
    'Token from the call that began this signature. Used once, within 10 minutes.',
    'c2lnbmluZy10b2tlbg',
  ),
  toSignHash: shown(z.string().nullable(), 'Base64.', 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='),
  toSign: shown(
    z.string().nullable(),
    'What the hash is of, Base64; null when it is too large to send.',
    'MYIBazA=',
  ),
  digestAlgorithm: shown(
    z.string().nullable(),
    'Hash function of `toSignHash`, always SHA-256. Null: nothing to sign.',
    'SHA-256',
  ),
  validationResults: signatureChecks,
});

export type StartedSignature = Value<typeof startedSignature>;

const AGAIN =
  'Present when another signature has changed the file since the start: to sign and complete again.';

const completedSignature = z.strictObject({
  success: shown(z.boolean(), 'Whether it was done.', true),
  validationResults: signatureChecks,
  token: shown(z.string().nullable().optional(), AGAIN, 'c2lnbmluZy10b2tlbg'),
  toSignHash: shown(
    startedSignature.shape.toSignHash.optional(),
    'Base64.',
    'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  ),
  toSign: shown(
    startedSignature.shape.toSign.optional(),
    'What the hash is of, Base64; null when it is too large to send.',
    'MYIBazA=',
  ),
  digestAlgorithm: shown(
    z.string().nullable().optional(),
    'Hash function of `toSignHash`, always SHA-256. Null: nothing to sign.',
    'SHA-256',
  ),
});

export type CompletedSignature = Value<typeof completedSignature>;

export const SIGNING_REFUSALS = [
  'DocumentNotFound',
  'DocumentInvalidKey',
  'DocumentIsDeleted',
  'FlowActionNotFound',
  'InvalidDocumentStatus',
  'InvalidFlowAction',
  'InvalidTicket',
  'VersionChanged',
] as const;

const CERTIFICATE = [
  'CertificateNotFound',
  'CpfMismatch',
  'CpfNotExpected',
  'DocumentUnreadable',
  'InvalidFieldValue',
  'SigningFailed',
  'UploadNotFound',
] as const;

/** The name of the document in a request: its id or its validation key. */
export interface SigningMethod {
  readonly id: string | undefined;
  readonly key: string | undefined;
}

export const byKey: z.ZodType<SigningMethod> = keyParams.transform(({ key }) => ({ key, id: undefined }));

/** Operations with two ways of authentication differ in this. */
const METHODS = [
  {
    prefix: '/api/documents/{id}',
    auth: 'application',
    by: 'with a key',
    who: 'For applications that have identified the participant themselves; `flowActionId` names the action, by default the first pending one.',
    credential: 'The token names the action.',
    example: { flowActionId: EXAMPLE_IDS.flowAction },
    params: documentParams.transform(({ id: document }) => ({
      id: document,
      key: undefined,
    })) as z.ZodType<SigningMethod>,
    refusals: [],
  },
  {
    prefix: '/api/documents/keys/{key}',
    auth: 'known-or-ticket',
    by: 'with a ticket',
    who: 'For the participant: needs the ticket of the link, or a key and `flowActionId`.',
    credential: 'The token names the action, and needs neither ticket nor key.',
    example: { ticket: EXAMPLE_IDS.ticket },
    params: byKey,
    refusals: ['Unauthorized', 'Forbidden'],
  },
] as const;

const operation = operationsOf({ group: 'Signing' });

export const signElectronically = METHODS.map(({ prefix, auth, by, who, example, params, refusals }) =>
  operation(`POST ${prefix}/electronic-signature`, {
    summary: `Signs electronically, ${by}.`,
    description: `${who} The action may require a code (\`InvalidAuthenticationCode\`), initials, and values of fields (\`InvalidFieldValue\`). When the step is complete the next one begins, or the document is concluded; webhooks receive \`DocumentSigned\`. \`InvalidFlowAction\`: the action does not allow electronic signatures, or lacks initials. \`InvalidDocumentStatus\`: it is not the turn of the participant.`,
    scope: 'Sign',
    folderKeys: true,
    auth,
    headers: ['user-agent'],
    params,
    body: electronicSignature,
    maxBodyBytes: MAX_PICTURE_BODY,
    largeBody: true,
    reply: 'empty',
    examples: { request: { ...example, typedName: ANA.name } },
    refusals: [...SIGNING_REFUSALS, 'DocumentNotRead', ...ELECTRONIC_SIGNATURE, ...refusals],
  }),
);

export const startCertificateSignature = METHODS.map(({ prefix, auth, by, who, example, params, refusals }) =>
  operation(`POST ${prefix}/signature/certificate`, {
    summary: `Starts a signature with a certificate whose key stays with the participant, ${by}.`,
    description: `${who} Checks the certificate and prepares the file; nothing is signed yet. The reply has the hash that the key of the participant signs, with its \`digestAlgorithm\`, and the token for the second call, which can be used once within 10 minutes. \`success\` is false when the certificate is rejected; \`validationResults\` has the errors. \`CpfMismatch\`: the certificate belongs to another person. \`InvalidDocumentStatus\`: it is not the turn of the participant.`,
    scope: 'Sign',
    folderKeys: true,
    auth,
    params,
    body: certificateStart,
    reply: startedSignature,
    examples: { request: { ...example, certificate: 'MIIDazCCAlOgAwIBAgIU' } },
    refusals: [...SIGNING_REFUSALS, ...CERTIFICATE, ...refusals],
  }),
);

export const completeCertificateSignature = METHODS.map(
  ({ prefix, auth, by, credential, example, params, refusals }) =>
    operation(`POST ${prefix}/signature`, {
      summary: `Completes a signature with a certificate, ${by}.`,
      description: `The second call, with the token of the first one and the signature value. ${credential} \`success\` is false when the value is not a signature of the hash by this certificate, and when another signature has changed the file meanwhile; the reply then has a new token and hash to sign. When the step is complete the next one begins, or the document is concluded; webhooks receive \`DocumentSigned\`. \`InvalidTicket\`: the token is unknown, used or expired.`,
      scope: 'Sign',
      folderKeys: true,
      auth,
      headers: ['user-agent'],
      params,
      body: certificateCompletion,
      reply: completedSignature,
      examples: { request: { ...example, token: 'c2lnbmluZy10b2tlbg', signature: 'MEUCIQDx' } },
      refusals: [...SIGNING_REFUSALS, 'DocumentNotRead', ...CERTIFICATE, ...refusals],
    }),
);

export const approve = operation('POST /api/documents/keys/{key}/approval', {
  summary: 'Approves as a participant, with a ticket.',
  description:
    'For actions of the types Approver and ApproverRule. Needs the ticket of the link, or a key and `flowActionId`. When the step is complete the next one begins, or the document is concluded; webhooks receive `DocumentApproved`. `InvalidFlowAction`: the action is a signature. `InvalidDocumentStatus`: it is not the turn of the participant. `VersionChanged`: the link is older than the version of the document.',
  scope: 'Sign',
  folderKeys: true,
  auth: 'known-or-ticket',
  headers: ['user-agent'],
  params: byKey,
  body: approval,
  reply: 'empty',
  examples: { request: { ticket: EXAMPLE_IDS.ticket } },
  refusals: [...SIGNING_REFUSALS, 'DocumentNotRead', 'Unauthorized', 'Forbidden'],
});

export const refuseAsParticipant = operation('POST /api/documents/keys/{key}/participant-refusal', {
  summary: 'Refuses as a participant, with a ticket.',
  description:
    'Needs the ticket of the link, or a key and `flowActionId`. The flow stops; observers and the other participants whose turn had come receive the `reason` by e-mail, and webhooks receive `DocumentRefused`. In a rule with `allowRuleFlowToContinueIfRefused` the flow continues while enough people remain. `InvalidDocumentStatus`: it is not the turn of the participant.',
  scope: 'Sign',
  folderKeys: true,
  auth: 'known-or-ticket',
  headers: ['user-agent'],
  params: byKey,
  body: participantRefusal,
  reply: 'empty',
  examples: { request: { ticket: EXAMPLE_IDS.ticket, ...REASON } },
  refusals: [...SIGNING_REFUSALS, 'Unauthorized', 'Forbidden'],
});

export const recordView = operation('POST /api/documents/keys/{key}/view', {
  summary: 'Records that a participant has opened the document, or has seen its last page.',
  description:
    'Sent by the signing page. Adds an entry to the history, at most one of each kind a day for each participant and IP address; the status does not change. Needs the ticket of the link.',
  scope: 'Sign',
  folderKeys: true,
  auth: 'known-or-ticket',
  headers: ['user-agent'],
  params: byKey,
  body: documentOpening,
  reply: 'empty',
  examples: { request: { ticket: EXAMPLE_IDS.ticket, reachedEnd: true } },
  refusals: [...SIGNING_REFUSALS, 'Unauthorized', 'Forbidden'],
});

export const sendEmailCode = operation('POST /api/documents/keys/{key}/email-authentication-code', {
  summary: 'Sends the participant a code of six digits by e-mail, SMS or WhatsApp.',
  description:
    'For links that require a code. It is valid for 10 minutes and five attempts. `TooManyRequests`: ten codes were sent by e-mail within an hour, or to the telephone within a day. `TooManyWrongCodes`: 50 wrong ones were entered; the participant needs a new flow action.',
  scope: 'Sign',
  folderKeys: true,
  auth: 'known-or-ticket',
  params: byKey,
  body: emailCodeRequest,
  reply: 'empty',
  examples: { request: { ticket: EXAMPLE_IDS.ticket } },
  refusals: [...SIGNING_REFUSALS, 'TooManyRequests', 'TooManyWrongCodes', 'Unauthorized', 'Forbidden'],
});

export const sendSmsCode = operation('POST /api/documents/sms-authentication-code', {
  summary: 'Sends the participant a code by SMS or WhatsApp, as the action requires.',
  description:
    'For applications, which send it back as `smsCode` or `whatsappCode`. `FlowActionNotFound`: no pending action of this id requires such a code. `TooManyRequests`: ten were sent to the telephone within a day.',
  scope: 'Sign',
  folderKeys: true,
  body: smsCodeRequest,
  reply: 'empty',
  examples: { request: { flowActionId: EXAMPLE_IDS.flowAction } },
  refusals: [...SIGNING_REFUSALS, 'TooManyRequests', 'TooManyWrongCodes'],
});

const fieldUpload = entity('FieldUpload', {
  id: id.describe('Value of the field in `fieldValues` of the request that signs.'),
  name: shown(z.string(), 'File name with its extension.', 'passport.pdf'),
  contentType: z
    .enum(['application/pdf', 'image/jpeg', 'image/png'])
    .describe('Media type, told by the content.'),
  size: fileSize,
  sha256: shown(
    z.string(),
    'SHA-256 of the file, lower-case hex.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
});

export type FieldUpload = Value<typeof fieldUpload>;

export const uploadForField = operation('POST /api/documents/keys/{key}/uploads', {
  summary: 'Takes a file that a participant attaches, with a ticket.',
  description: `A form with one file, PDF, PNG or JPEG, of at most ${MAX_FIELD_FILE_BYTES} bytes. Only this participant can name its id as the value of a field in \`fieldValues\`; an upload that is not used is kept for 24 hours, and at most until the document ends. Nothing is read without the ticket of the link. An application uploads with \`POST /api/uploads\`. \`InvalidFieldValue\`: the participant has no such field, or the file is of another type. \`LimitExceeded\`: the participant, or all participants of the document, have uploaded too many files. At most 30 requests in ten seconds from one client.`,
  scope: 'Sign',
  folderKeys: true,
  auth: 'known-or-ticket',
  rate: 'upload',
  bodyPolicy: 'stream',
  headers: ['content-type', 'content-length'],
  params: keyParams,
  query: members({
    ticket: shown(
      z.string().max(2000).optional(),
      'Ticket of the link. A key does not replace it.',
      EXAMPLE_IDS.ticket,
    ),
    field: shown(textUpTo(100), 'Name of the field, of the type `Attachment`.', 'identity-card'),
  }),
  body: fileForm,
  reply: fieldUpload,
  refusals: [
    'BadRequest',
    'DocumentIsDeleted',
    'Forbidden',
    'InvalidDocumentStatus',
    'InvalidFieldValue',
    'InvalidTicket',
    'LimitExceeded',
    'PayloadTooLarge',
    'Unauthorized',
    'UnsupportedMediaType',
  ],
});
