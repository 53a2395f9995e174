/**
 * Words of documents and their flows, in requests and replies, and how much a flow may have.
 *
 * Source: docs/portal-values.md §§5, 6, 8, 12 and 13.
 */
import type { Tone } from '../tone.ts';

/** Languages of mails and pages. */
export const LANGUAGES = ['en', 'pt', 'es', 'de', 'fr', 'it'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * Statuses of a document, once for machine, lists, renditions and pages. `phase`: an `open` document is not concluded yet,
 * and one that has `ended` never will be, but for a new version of a refused one. `tone`: its look on pages.
 */
const STATUSES_OF_DOCUMENTS = {
  Pending: { phase: 'open', tone: 'info' },
  FlowConcluded: { phase: 'open', tone: 'info' },
  Concluded: { phase: 'concluded', tone: 'good' },
  Refused: { phase: 'ended', tone: 'bad' },
  Canceled: { phase: 'ended', tone: 'bad' },
  Expired: { phase: 'ended', tone: 'bad' },
} as const satisfies { readonly [status: string]: StatusOfDocument };

export interface StatusOfDocument {
  readonly phase: 'open' | 'concluded' | 'ended';
  readonly tone: Tone;
}

export type DocumentStatus = keyof typeof STATUSES_OF_DOCUMENTS;
export const DOCUMENT_STATUS: { readonly [status in DocumentStatus]: StatusOfDocument } =
  STATUSES_OF_DOCUMENTS;
export const DOCUMENT_STATUSES = Object.keys(DOCUMENT_STATUS) as DocumentStatus[];

/** Statuses of these phases. */
export function documentStatusesIn(
  ...phases: readonly StatusOfDocument['phase'][]
): readonly DocumentStatus[] {
  return DOCUMENT_STATUSES.filter((status) => phases.includes(DOCUMENT_STATUS[status].phase));
}

/** Final statuses, in which rules of retention delete documents. */
export const RETENTION_STATUSES = ['Concluded', 'Refused', 'Canceled', 'Expired'] as const;

/** Lists show a document that is being concluded as pending. */
export type ListedStatus = Exclude<DocumentStatus, 'FlowConcluded'>;
export const LISTED_STATUSES = DOCUMENT_STATUSES.filter(
  (status): status is ListedStatus => status !== 'FlowConcluded',
);

/** Flow actions of a document, and users of a rule; chosen by this project. */
export const MAX_ACTIONS = 100;
/** Observers of a document; chosen by this project. */
export const MAX_OBSERVERS = 100;

/** Least qualifications of signatures by the European trusted lists: qualified, or advanced with a qualified certificate. */
export const QUALIFICATION_DEMANDS = ['QESig', 'QESeal', 'AdESig-QC', 'AdESeal-QC'] as const;
export type QualificationDemand = (typeof QUALIFICATION_DEMANDS)[number];

/** Rights on a folder. Each includes those before it. */
export const FOLDER_RIGHTS = ['Read', 'Send', 'Manage'] as const;

export const ACTION_TYPES = ['Signer', 'Approver', 'SignRule', 'ApproverRule'] as const;

export const ACTION_STATUSES = ['Created', 'Pending', 'Completed', 'Refused', 'Skipped'] as const;

/** The files a document can be downloaded as. Source: docs/portal-values.md §13. */
export const DOWNLOAD_TYPES = [
  'Original',
  'Signatures',
  'PrinterFriendlyVersion',
  'SigningTags',
  'SignatureMarks',
  'OriginalWithMarks',
  'SignaturesManifest',
] as const;
export type DownloadType = (typeof DOWNLOAD_TYPES)[number];

export const MARK_TYPES = [
  'SignatureVisualRepresentation',
  'SignatureInitials',
  'AuthenticationStamp',
] as const;
export type MarkType = (typeof MARK_TYPES)[number];

export const CERTIFICATE_TYPES = ['A1', 'A2', 'A3', 'A4', 'S1', 'S2', 'S3', 'S4', 'T3', 'T4'] as const;
export type CertificateType = (typeof CERTIFICATE_TYPES)[number];

export const HOLDER_TYPES = ['Individual', 'Company'] as const;
export type HolderType = (typeof HOLDER_TYPES)[number];

export const INITIALS_MODES = ['None', 'Optional', 'Required'] as const;
export type InitialsMode = (typeof INITIALS_MODES)[number];

export const XADES_TYPES = ['FullXml', 'XmlElement', 'FullXmlAdRc'] as const;
export const XADES_IDENTIFIERS = ['Id', 'XPath'] as const;
export const XADES_INSERTIONS = ['AppendChild', 'PrependChild', 'AppendSibling', 'PrependSibling'] as const;

export const FIELD_TYPES = [
  'Text',
  'Number',
  'Date',
  'Checkbox',
  'Choice',
  'Initials',
  'Attachment',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];
/** Forms that a text can be required to have. */
export const FIELD_FORMATS = ['Email', 'Digits', 'Letters', 'Phone'] as const;
export type FieldFormat = (typeof FIELD_FORMATS)[number];
/** Comparisons of conditions. */
export const CONDITION_OPERATORS = [
  'Equals',
  'NotEquals',
  'Above',
  'AtLeast',
  'Below',
  'AtMost',
  'IsFilled',
  'IsEmpty',
] as const;
export type ConditionOperator = (typeof CONDITION_OPERATORS)[number];

export const SIGNATURE_TYPES = ['None', 'Simple', 'Advanced', 'Qualified'] as const;

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

/** Filters of lists by status, with the statuses that each shows. */
const STATUSES_OF_FILTERS = {
  Pending: ['Pending'],
  Refused: ['Refused'],
  Concluded: ['Concluded'],
  Canceled: ['Canceled'],
  Expired: ['Expired'],
  PendingOrRefused: ['Pending', 'Refused'],
  CanceledOrExpired: ['Canceled', 'Expired'],
} as const satisfies { readonly [filter: string]: readonly ListedStatus[] };

type ListStatus = keyof typeof STATUSES_OF_FILTERS;
export const STATUSES_SHOWN: { readonly [filter in ListStatus]: readonly ListedStatus[] } =
  STATUSES_OF_FILTERS;
export const LIST_STATUSES = Object.keys(STATUSES_SHOWN) as ListStatus[];
export const QUERY_TYPES = ['Name', 'Key', 'Id', 'CreatorName', 'Tag', 'Any'] as const;
export const PARTICIPANT_QUERY_TYPES = ['Name', 'Identifier', 'Email', 'Phone'] as const;

/** Effects of an operation on each document. */
export const DOCUMENT_ACTIONS = ['Cancel', 'Delete', 'Remind'] as const;
export type DocumentAction = (typeof DOCUMENT_ACTIONS)[number];
export const DOCUMENT_OPERATION_STATES = ['Running', 'Canceling', 'Completed', 'Canceled'] as const;
export type DocumentOperationState = (typeof DOCUMENT_OPERATION_STATES)[number];

/** Requirements of an authentication factor in addition to the e-mail code, each with the name of the factor. */
export const CONFIRMATIONS = {
  requireSmsAuthenticationToSignElectronically: 'Sms',
  requireWhatsappAuthenticationToSignElectronically: 'Whatsapp',
  requireAuthenticatorAppToSignElectronically: 'AuthenticatorApp',
  requireSelfieAuthenticationToSignElectronically: 'Selfie',
  requireDatavalidAuthenticationToSignElectronically: 'Datavalid',
  requirePixAuthenticationToSignElectronically: 'Pix',
  requireLivenessAuthenticationToSignElectronically: 'Liveness',
  requireIdScanAuthenticationToSignElectronically: 'IdScan',
} as const;
export type ConfirmationFlag = keyof typeof CONFIRMATIONS;
export type Confirmation = (typeof CONFIRMATIONS)[ConfirmationFlag];
/** Confirmations by a code that is sent to the telephone of the participant. */
export const PHONE_CHANNELS = ['Sms', 'Whatsapp'] as const satisfies readonly Confirmation[];
export type PhoneChannel = (typeof PHONE_CHANNELS)[number];
/** Codes that are sent to a participant. */
export const CODE_CHANNELS = ['Email', ...PHONE_CHANNELS] as const;
export type CodeChannel = (typeof CODE_CHANNELS)[number];
/** Codes that a participant types, in the order of the page: those that are sent, and that of an authenticator app. */
export const CODE_KINDS = [...CODE_CHANNELS, 'AuthenticatorApp'] as const;
export type CodeKind = (typeof CODE_KINDS)[number];
export const CONFIRMATION_FLAGS = Object.keys(CONFIRMATIONS) as readonly ConfirmationFlag[];

/** Kinds of mails whose words an organization can change. */
export const BRANDED_MAILS = [
  'pending',
  'reminder',
  'expiring',
  'concluded',
  'refused',
  'canceled',
  'new-version',
  'flow-edited',
  'observing',
  'code',
  'pending-list',
  'sign-in',
] as const;
export type BrandedMail = (typeof BRANDED_MAILS)[number];

/** Characters of the words of a mail. */
export const MAX_SUBJECT = 200;
export const MAX_INTRODUCTION = 2_000;
export const MAX_REDIRECT_URL = 500;
