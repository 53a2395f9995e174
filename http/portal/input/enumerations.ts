/**
 * Enumerations in requests and replies.
 *
 * Source: docs/portal-values.md §§5, 6, 10, 12, 13, 16 and 19.
 */

import type {
  ApplicationRole,
  CreateDocuments,
  DeliveryView,
  DocumentQuery,
  WebhookAuthType,
} from '../../../actors/portal/api.ts';
import type {
  CertificateType,
  HolderType,
  InitialsMode,
  MarkType,
  XadesOptions,
} from '../../../machines/portal/portal-types.ts';
import { type DocumentEvent, OPTIONAL_EVENT_TYPES } from '../../../machines/portal/portal-types.ts';

/** Lists every value of a union type; the compiler reports unknown and missing values. */
function all<Word extends string>() {
  return <const Words extends readonly [Word, ...Word[]]>(
    words: Words & ([Word] extends [Words[number]] ? unknown : never),
  ): Words => words;
}

export const MARK_TYPES = all<MarkType>()([
  'SignatureVisualRepresentation',
  'SignatureInitials',
  'AuthenticationStamp',
]);
export const CERTIFICATE_TYPES = all<CertificateType>()([
  'A1',
  'A2',
  'A3',
  'A4',
  'S1',
  'S2',
  'S3',
  'S4',
  'T3',
  'T4',
]);
export const HOLDER_TYPES = all<HolderType>()(['Individual', 'Company']);
export const INITIALS_MODES = all<InitialsMode>()(['None', 'Optional', 'Required']);
export const XADES_TYPES = all<XadesOptions['signatureType']>()(['FullXml', 'XmlElement', 'FullXmlAdRc']);
export const XADES_IDENTIFIERS = all<NonNullable<XadesOptions['elementToSignIdentifierType']>>()([
  'Id',
  'XPath',
]);
export const XADES_INSERTIONS = all<NonNullable<XadesOptions['insertionOption']>>()([
  'AppendChild',
  'PrependChild',
  'AppendSibling',
  'PrependSibling',
]);
export const SIGNATURE_TYPES = all<NonNullable<CreateDocuments['signatureType']>>()([
  'None',
  'Simple',
  'Advanced',
  'Qualified',
]);
export const DOCUMENT_TYPES = [
  'Deed',
  'PowerOfAttorney',
  'Prescription',
  'MedicalCertificate',
  'ExamRequest',
  'LabReport',
  'DischargeSummary',
  'ClinicalRecord',
  'DrugDispensing',
  'Vaccination',
  'MedicalReport',
] as const;
export const LIST_STATUSES = all<NonNullable<DocumentQuery['status']>>()([
  'Pending',
  'Refused',
  'Concluded',
  'Canceled',
  'Expired',
  'PendingOrRefused',
  'CanceledOrExpired',
]);
export const QUERY_TYPES = all<NonNullable<DocumentQuery['queryType']>>()([
  'Name',
  'Key',
  'Id',
  'CreatorName',
  'Tag',
  'Any',
]);
export const PARTICIPANT_QUERY_TYPES = all<NonNullable<DocumentQuery['participantQueryType']>>()([
  'Name',
  'Identifier',
  'Email',
  'Phone',
]);
/** Types of webhook events; the last four only for webhooks that name them. */
export const EVENT_TYPES = all<DocumentEvent['type']>()([
  'DocumentsCreated',
  'DocumentSigned',
  'DocumentApproved',
  'DocumentRefused',
  'DocumentConcluded',
  'DocumentCanceled',
  'DocumentExpired',
  'DocumentDeleted',
  ...OPTIONAL_EVENT_TYPES,
]);
export const WEBHOOK_AUTH_TYPES = all<WebhookAuthType>()(['NoAuth', 'Basic', 'Bearer', 'ApiKey']);
export const DELIVERY_STATUSES = all<DeliveryView['status']>()(['Pending', 'Delivered', 'Failed']);
export const APPLICATION_ROLES = all<ApplicationRole>()(['Normal', 'Monitor', 'Administrator']);
