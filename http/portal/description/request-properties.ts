/** Meanings of the members of requests of the portal. Source: docs/portal-values.md §§4 to 20. */

import { CREATION, EXAMPLE_IDS } from '../../../contracts/portal/examples.ts';
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';

export const REQUEST_PROPERTIES: PropertyTexts = {
  bytes: [
    'Content of the file, Base64. At least one byte; the limit of an upload is 106,954,752 bytes.',
    'JVBERi0xLjc=',
  ],
  description: ['Free text about the document, shown to participants.', 'Lease of the office in Rua Augusta'],
  'mailTexts.subject': ['Subject line of the mail. Null: that of the service.', 'Please sign: {document}'],
  document: [
    'A body of `POST /api/documents`. It may lack files and flow actions until the draft is sent.',
    CREATION,
  ],
  documents: 'Ids of the documents.',
  emailAddress: ['E-mail address of the participant.', 'ana@example.com'],
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
  'files.id': ['Id of the upload.', EXAMPLE_IDS.upload],
  'files.name': ['File name with its extension.', 'contract.pdf'],
  'dataFile.id': ['Id of the upload.', EXAMPLE_IDS.table],
  'templateFile.id': ['Id of the upload.', EXAMPLE_IDS.template],
  flowActionId: [
    'Action of the participant. Absent: the first pending action of this person.',
    EXAMPLE_IDS.flowAction,
  ],
  identifier: [
    'National number or another identifier of the person, at most 50 characters. By configuration its check digits are verified.',
    '52998224725',
  ],
  label: ['Text that people read. Absent: the name.', 'City'],
  maximum: ['Greatest number that is accepted. Absent: any.', 1000],
  parentId: 'Folder that contains this one. Null: it is at the top.',
  reason: [
    'Reason, which participants and the history show. At most 2,000 characters.',
    'The price has changed.',
  ],
  role: ['Title of the flow actions of this person.', 'Tenant'],
  signature: ['Signature value over the hash, Base64. At most 4 KiB.', 'MEUCIQDx'],
  ticket: [
    'Ticket of the participant’s link, in place of a key. It is valid for 24 hours, in an e-mail for 90 days.',
    '0f8c1d2e3b4a59687786a5b4c3d2e1f0',
  ],
  token: [
    'Token from the call that began this signature. Used once, within 10 minutes.',
    'c2lnbmluZy10b2tlbg',
  ],
  url: [
    'Absolute address. https, or http where the configuration allows it.',
    'https://hooks.example.com/portal',
  ],
  userId: [
    'Person of a rule who acts. Required with a key for rules; otherwise ignored.',
    '5d7e1f0a-2b3c-4d9b-af7c-1e4d3a4f6b8c',
  ],
};
