/** Meanings of the members of replies of the portal. Source: docs/portal-values.md §§2 and 4 to 20. */
import type { PropertyTexts } from '../../core/openapi/property-texts.ts';

const UUID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const TIME = '2026-05-26T15:42:11.123Z';
const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const ANSWER_PROPERTIES: PropertyTexts = {
  'attributeCertificates.details': ['Attributes as text.', 'role: notary'],
  code: ['Error code, for programs. It is never renamed.', 'InvalidDocumentStatus'],
  createdBy: 'Application or user that created it.',
  creationDate: ['Time of the creation, UTC.', TIME],
  date: ['Time of the event, UTC.', TIME],
  details: ['Further data of the refusal, as texts by name. Null: none.', { status: 'Concluded' }],
  editFlow: ['Whether the flow can still be edited.', true],
  'Signature.emailAddress': [
    'E-mail address of the signer, from the certificate or the flow. Null: none.',
    'ana@example.com',
  ],
  embedUrl: [
    'Address for the widget in the page of the client. Anybody with it can act for one participant.',
    'https://sign.example.com/document/key/K3M9Q7W2E5R8T1Y4U6I0/sign-embedded?ticket=0f8c1d2e',
  ],
  errorMessage: ['Why the document was not moved. Null: it was.', 'The document was not found.'],
  expirationDateWithoutTime: ['Date of `expirationDate`. Null: never.', '2027-12-31'],
  'FlowAction.allowElectronicSignature': ['Whether the participant may sign without a certificate.', true],
  folder: 'Folder that contains it. Null: none.',
  hash: ['SHA-256 of the entry that the proof is about, lower-case hex.', HASH],
  'MailPreview.subject': ['Subject line of the mail.', 'Please sign: Lease'],
  'template.version': ['Version of the template that was used, from 1.', 2],
  version: ['Number of the version, from 1.', 2],
  id: ['Identifier, unique within the instance.', UUID],
  'Signature.identifier': [
    'National number of the signer in the certificate or the flow. Null: none.',
    '52998224725',
  ],
  items: 'Entries of this page of the list.',
  'Document.key': [
    'Validation key printed on the document: 20 characters A-Z and 0-9.',
    'K3M9Q7W2E5R8T1Y4U6I0',
  ],
  message: ['What happened, for people. The text may change.', 'The document is already concluded.'],
  'Error.message': [
    'What happened, for people, ASCII. The text may change.',
    'The document is already concluded.',
  ],
  move: ['Whether the document can be moved to another folder.', true],
  name: ['Name that people read.', 'Lease agreement'],
  'FieldUpload.id': ['Value of the field in `fieldValues` of the request that signs.', UUID],
  'FieldUpload.name': ['File name with its extension.', 'passport.pdf'],
  'FieldUpload.contentType': ['Media type, told by the content.', 'application/pdf'],
  'Upload.name': ['File name with its extension.', 'contract.pdf'],
  organizationRoles: ['Roles within the organization.', []],
  'data.expirationDate': ['Time at which participants can no longer act.', TIME],
  'keys.expirationDate': ['Time from which the key is not accepted. Null: never.', TIME],
  'EditorSession.expirationDate': ['End of the session.', TIME],
  'EditorSessionLink.expirationDate': ['End of the time in which the link can be used.', TIME],
  'OpenedEditorSession.expirationDate': ['End of the session.', TIME],
  proof: 'Proof that the newest entry is in a signed checkpoint. Null: not yet in one.',
  resourceId: ['Id that was not found. Null: none in the request.', UUID],
  resourceName: ['Kind of the resource that was not found. Null: a path.', 'Ticket'],
  role: 'Access of the application: documents of its organization, monitoring, or also administration.',
  'HistoryCheckpoint.signature': ['Ed25519 signature, Base64.', 'c2lnbmF0dXJl'],
  status: 'Current state.',
  subject: ['Name of the person in the other system. Null: none.', 'hr-1042'],
  success: ['Whether it was done.', true],
  toSign: ['Bytes that are hashed, Base64. Null: too large to send.', 'MYIBazA='],
  toSignHash: [
    'Hash that the certificate’s key signs, Base64. Null: nothing to sign.',
    'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  ],
  totalCount: ['Entries of the whole list.', 42],
  updateDate: ['Time of the last change, UTC.', TIME],
  'HistoryEntry.userId': ['Participant who acted. Null: an application or the service.', UUID],
  userIdentifier: ['National number of the person. Null: none.', '52998224725'],
  userName: ['Full name of the person. Null: none.', 'Ana Silva'],
  'DocumentField.value': ['Value of the field, as text. Null: none yet.', 'Lisbon'],
};
