/** Meanings of the members of requests of the portal. Source: docs/portal-values.md §§4 to 20. */

import { CREATION, EXAMPLE_IDS } from '../../../contracts/portal/examples.ts';
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';

export const REQUEST_PROPERTIES: PropertyTexts = {
  accuracy: ['Radius of uncertainty of the position, metres. Null: not known.', 12.5],
  alignTextOnMiddle: 'Whether the text beside the picture is centred vertically. Accepted and ignored.',
  authenticationCode: [
    'Code of the second factor named by `authenticationType`. Accepted and ignored.',
    '123456',
  ],
  authenticationType:
    'Second factor of the client. Accepted and ignored: codes arrive by e-mail (`emailCode`).',
  bytes: [
    'Content of the file, Base64. At least one byte; the limit of an upload is 106,954,752 bytes.',
    'JVBERi0xLjc=',
  ],
  certificate: [
    'X.509 certificate of the participant in DER, Base64. At most 16 KiB. Its private key stays with the participant.',
    'MIIDazCCAlOgAwIBAgIU',
  ],
  contentB64: [
    'Picture in PNG or JPEG, Base64, at most 2 MiB. For participants, who cannot upload.',
    'iVBORw0KGgo=',
  ],
  contentType: ['Media type of the content.', 'application/pdf'],
  description: ['Free text about the document, shown to participants.', 'Lease of the office in Rua Augusta'],
  'mailTexts.subject': ['Subject line of the mail. Null: that of the service.', 'Please sign: {document}'],
  disableNotifications: 'Whether no e-mail at all is sent about this. Default false.',
  document: [
    'A body of `POST /api/documents`. It may lack files and flow actions until the draft is sent.',
    CREATION,
  ],
  documentVersion: [
    'Version that the participant has seen, from 1. If it is not the current one, the call is refused with `InvalidDocumentStatus`. Absent: the version of the ticket; an older one is refused with `VersionChanged`.',
    1,
  ],
  documents: 'Ids of the documents.',
  emailAddress: ['E-mail address of the participant.', 'ana@example.com'],
  emailCode: [
    'Six digits that the participant received by e-mail. Valid for 10 minutes and 5 attempts. Required where the action asks for a code.',
    '481516',
  ],
  evidences: 'Data about the moment of signing. It becomes part of the evidence in the signed file.',
  expirationDate: [
    'Last day on which participants may act. It ends with that day in the offset that is written, in UTC where none is. Absent: never.',
    '2027-12-31',
  ],
  externalId: [
    'Id of the document in the system of the client. `GET /api/documents?ExternalId=` finds it. At most 200 characters.',
    'order-4711',
  ],
  fieldValues: [
    'Values by name of field: text, number or boolean; of a field of the type `Attachment` the id of an upload: with a ticket one that the participant uploaded, with a key one of `POST /api/uploads`. Required fields must have one.',
    { city: 'Lisbon' },
  ],
  fileId: ['Upload with the signed file.', EXAMPLE_IDS.upload],
  'files.id': ['Id of the upload.', EXAMPLE_IDS.upload],
  'files.name': ['File name with its extension.', 'contract.pdf'],
  'dataFile.id': ['Id of the upload.', EXAMPLE_IDS.table],
  'templateFile.id': ['Id of the upload.', EXAMPLE_IDS.template],
  flowActionId: [
    'Action of the participant. Absent: the first pending action of this person.',
    EXAMPLE_IDS.flowAction,
  ],
  geolocation: 'Position reported by the device of the participant.',
  height: ['Height of the box, points (1/72 inch).', 60],
  identifier: [
    'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
    '52998224725',
  ],
  initialsImage: 'Picture of the initials. Absent: they are made from the name.',
  label: ['Text that people read. Absent: the name.', 'City'],
  latitude: ['Degrees north of the equator.', 38.72],
  longitude: ['Degrees east of Greenwich.', -9.14],
  maximum: ['Greatest number that is accepted. Absent: any.', 1000],
  mimeType: ['Media type of the file.', 'application/pdf'],
  otpCode: ['Accepted and ignored: codes arrive by e-mail (`emailCode`).', '123456'],
  page: ['Page of the box, from 1. Another spelling of `pageNumber`, which wins.', 1],
  pageNumber: ['Page of the box, from 1. Absent: the last page.', 1],
  parentId: 'Folder that contains this one. Null: it is at the top.',
  reachedEnd: 'Whether the last page was visible to its end. Default false: the document was opened.',
  reason: [
    'Reason, which participants and the history show. At most 2,000 characters.',
    'The price has changed.',
  ],
  resend: 'Whether a new code is sent although an earlier one is still valid. Default false.',
  role: ['Title of the flow actions of this person.', 'Tenant'],
  save: 'Whether the picture is kept for later signatures. Accepted and ignored.',
  securityContextId: 'Accepted and ignored.',
  showSignerInformation: 'Whether name and date are printed beside the picture. Accepted and ignored.',
  signature: ['Signature value over the hash, Base64. At most 4 KiB.', 'MEUCIQDx'],
  signatureImage:
    'Picture of the signature: PNG or JPEG, at most 2 MiB and 16 million pixels. One that cannot be drawn is refused. Absent: one is made from the name.',
  signatureInitialsPositions: 'Places of the initials, at most 1,000. Absent: those given at creation.',
  signaturePosition: 'One place of the visible signature. Ignored when `signaturePositions` is there.',
  signaturePositions: 'Places of the visible signature, at most 1,000. Absent: those given at creation.',
  smsCode: ['Accepted and ignored: codes arrive by e-mail (`emailCode`).', '123456'],
  ticket: [
    'Ticket of the participant’s link, in place of a key. It is valid for 24 hours, in an e-mail for 90 days.',
    '0f8c1d2e3b4a59687786a5b4c3d2e1f0',
  ],
  token: [
    'Token from the call that began this signature. Used once, within 10 minutes.',
    'c2lnbmluZy10b2tlbg',
  ],
  topLeftX: ['Distance of the box from the left edge of the page, points.', 72],
  topLeftY: ['Distance of the box from the top edge of the page, points.', 600],
  typedName: ['Name that the participant typed. Absent: the name of the flow action.', 'Ana Silva'],
  url: [
    'Absolute address. https, or http where the configuration allows it.',
    'https://hooks.example.com/portal',
  ],
  userId: [
    'Person of a rule who acts. Required with a key for rules; otherwise ignored.',
    '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
  ],
  userTimeZoneOffset: [
    'Minutes that the clock of the participant is ahead of UTC. Absent: times are shown in UTC.',
    60,
  ],
  whatsappCode: ['Accepted and ignored: codes arrive by e-mail (`emailCode`).', '123456'],
  width: ['Width of the box, points (1/72 inch).', 180],
};
