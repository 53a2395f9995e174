/**
 * Types shared by the portal's machines, actors and HTTP: participants, flow actions, marks, versions. All plain data.
 *
 * Source: docs/portal-values.md §§5-8.
 */
import type { WarnedFile } from '../../contracts/file-warnings.ts';
import type { DocumentProperties, WebhookProperty } from '../../contracts/portal/document-properties.ts';
import type { Tag } from '../../contracts/portal/documents.ts';
import type { ParticipantView, Principal } from '../../contracts/portal/entities.ts';
import type { FlowActionView, MarkView, RuleUserView } from '../../contracts/portal/flow.ts';
import type { Reading } from '../../contracts/portal/signing/reading.ts';
import type { EventType } from '../../contracts/portal/webhooks/webhooks.ts';
import type {
  CertificateType,
  Confirmation,
  HolderType,
  InitialsMode,
  Language,
  PhoneChannel,
  XADES_IDENTIFIERS,
  XADES_INSERTIONS,
  XADES_TYPES,
} from '../../contracts/portal/words.ts';
import type { DocumentId, FlowActionId, Millis, OrganizationId, UploadId, UserId } from '../ids.ts';
import type { FieldCondition } from './conditions.ts';
import type { DocumentField, FieldValue } from './field-values.ts';

/** A stored file by its content: lower-case hex SHA-256 and bytes. */
export interface BlobRef {
  readonly sha256: string;
  readonly length: number;
}

export interface Participant extends Omit<ParticipantView, 'id'> {
  readonly id: UserId;
}

/** A user of a rule. */
export interface RuleUser extends Participant, Omit<RuleUserView, keyof ParticipantView> {}

/** A rectangle on a page: PDF points from the top left corner of the page as it is shown. */
export interface Mark extends MarkView {
  /** True where a tag in the text of the file placed it; absent = placed by coordinates. */
  readonly isTagged?: boolean;
}

export interface XadesOptions {
  readonly signatureType: (typeof XADES_TYPES)[number];
  readonly elementToSignIdentifierType: (typeof XADES_IDENTIFIERS)[number] | null;
  readonly elementToSignIdentifier: string | null;
  readonly insertionOption: (typeof XADES_INSERTIONS)[number] | null;
  readonly disableXPathTransformation: boolean;
  /** Namespaces of the prefixes in an XPath, besides those of the root element; absent = not given. */
  readonly xmlNamespaces?: readonly XmlNamespace[];
}

/** Source: docs/portal-values.md §5, `xmlNamespaces`. */
export interface XmlNamespace {
  readonly prefix: string;
  readonly uri: string;
}

/** A validated request for a flow action. Source: docs/portal-values.md §6. */
export interface ActionPlan
  extends Pick<
    FlowActionView,
    | 'type'
    | 'step'
    | 'title'
    | 'allowElectronicSignature'
    | 'ruleName'
    | 'numberRequiredSignatures'
    | 'allowRuleFlowToContinueIfRefused'
    | 'requireCompanyCertificate'
    | 'requiredCompanyIdentifier'
  > {
  readonly id: FlowActionId;
  /** For Signer and Approver; null for rules. */
  readonly user: Participant | null;
  readonly marks: readonly Mark[];
  readonly ruleUsers: readonly Participant[];
  /** Confirmations an electronic signature needs besides the e-mail code. */
  readonly confirmations: readonly Confirmation[];
  readonly disableEmailAuthentication: boolean;
  readonly requiredCertificateType: CertificateType | null;
  readonly requiredCertificateHolder: HolderType | null;
  readonly initialsMode: InitialsMode | null;
  readonly xadesOptions: XadesOptions | null;
  /** True: the participant may hand the action on. Absent = false. */
  readonly allowPassingOn?: boolean;
  /** Decided when the step begins; absent = takes part always. */
  readonly takesPartWhen?: FieldCondition;
  /** Fields that the participant fills; absent = none. */
  readonly fields?: readonly DocumentField[];
}

/** A flow action with its progress. */
export interface FlowAction
  extends Omit<ActionPlan, 'ruleUsers'>,
    Pick<
      FlowActionView,
      'status' | 'creationDate' | 'updateDate' | 'pendingDate' | 'refusalReason' | 'isElectronic'
    > {
  readonly ruleUsers: readonly RuleUser[];
  /** People who had the action before, oldest first; absent = none. */
  readonly passedOn?: readonly PassedOn[];
}

/** A person who has handed an action on. */
export interface PassedOn {
  readonly userId: UserId;
  readonly name: string | null;
  readonly email: string | null;
  readonly reason: string;
  readonly date: Millis;
}

/** A deputy in an action: who, for whom, and by what. */
export interface ActingDeputy {
  /** Of the deputy, as the person has named it. */
  readonly id: UserId;
  readonly name: string;
  readonly email: string;
  /** With an internationalized domain as the DNS has it; absent = it has none. */
  readonly asciiEmail?: string;
  readonly reason: string;
  readonly from: Millis;
  readonly until: Millis;
  /** Participant who is asked to act. */
  readonly person: Pick<Participant, 'id' | 'name' | 'email' | 'language'>;
  /** The user who sends, and is told; absent = none. No part of the signed evidence. */
  readonly sender?: MailRequest['to'];
}

interface Geolocation {
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracy: number | null;
}

export type AuthenticationType =
  | 'Email'
  | 'SMS'
  | 'Whatsapp'
  | 'AuthenticatorApp'
  | 'Login'
  | 'Application'
  | 'InPerson';

/** Evidence of the identity of an electronic signer. Source: docs/portal-values.md §17. */
export interface Evidence {
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  /** `Email`, `SMS`, `Whatsapp`, `AuthenticatorApp` = a code was confirmed; `Login` = a passkey; `Application` = the application opened the page; `InPerson` = at a device of the host. */
  readonly authenticationTypes: readonly AuthenticationType[];
  readonly authenticatedEmail: string | null;
  /** Time at which its code was confirmed, for several documents; absent = with this signature. */
  readonly emailConfirmedAt?: Millis;
  /** Remote signing service that keeps the certificate; absent = none. */
  readonly signingProvider?: { readonly name: string; readonly address: string };
  /** Number that the confirmed code was sent to; absent = none. */
  readonly authenticatedPhone?: string;
  /** Time at which the app of the confirmed code was set up, with a mailed code; absent = none. */
  readonly authenticatorAppSince?: Millis;
  /** Passkey that confirmed the signature, and the address whose mailed code was confirmed when it was added; absent = none. */
  readonly passkey?: { readonly email: string; readonly since: Millis };
  readonly authenticatedApplication: {
    readonly id: string;
    readonly name: string;
    readonly organizationName: string;
  } | null;
  /** User or application that opened the device at which the person acted; absent = no such device. */
  readonly host?: { readonly id: string; readonly name: string };
  /** People who had the action before, oldest first; absent = none. */
  readonly passedOn?: readonly PassedOn[];
  /** Deputy who has acted in place of the participant; absent = the participant. */
  readonly deputy?: ActingDeputy;
  readonly geolocation: Geolocation | null;
  /** Typed by the participant. */
  readonly typedName: string | null;
  /** Minutes from UTC. */
  readonly timeZoneOffset: number | null;
  /** Names of the fields that their conditions hid; absent = none. */
  readonly hiddenFields?: readonly string[];
  /** Pages that were shown, as the browser says; absent = nothing is known. */
  readonly reading?: Reading;
  readonly at: Millis;
}

/** A value with the file that a participant attached. */
export interface FilledValue extends FieldValue {
  /** Of an attachment; absent for other fields. */
  readonly attachment?: Attachment;
}

/** A signature or approval that was made. */
export interface CompletedAction {
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  readonly at: Millis;
  readonly kind: 'electronic' | 'certificate' | 'approval';
  readonly evidence: Evidence | null;
  /** Claimed in the signature; whole seconds. Null for approvals. */
  readonly signingTime: Millis | null;
  /** SHA-256 of the signed evidence, Base64; null for certificates and approvals without evidence. */
  readonly evidenceSha256: string | null;
  /** Position of its appearance. */
  readonly marks: readonly Mark[];
  /** A picture of the signature to draw; null = text. */
  readonly image: BlobRef | null;
  /** Lower-case hex SHA-256 of the certificate that made the signature value; null for approvals. */
  readonly certificate: string | null;
  /** Names it in its file: the field of a PDF, the Id in XML, the content identifier in CMS. Null for approvals. */
  readonly fieldName: string | null;
  /** Filled in by the participant; absent = nothing. */
  readonly values?: readonly FilledValue[];
}

/** Signature format of a document. */
export type DocumentFormat = 'Pades' | 'Cades' | 'Xades';

/** An uploaded file. */
export interface FileEntry extends WarnedFile {
  readonly uploadId: UploadId | null;
  /** Name of the resulting document. */
  readonly displayName: string;
  /** Original file name. */
  readonly name: string;
  /** As it was declared; see `mediaTypeOf`. */
  readonly contentType: string;
  /** The content is a PDF, declared as another type. Absent: the declared type counts, also for files stored before. */
  readonly isPdf?: true;
  readonly blob: BlobRef;
  /** Base64. */
  readonly md5: string;
}

const PDF = 'application/pdf';

/** True for a PDF by its content or, where this is not known, by its declared type. */
export function isPdfFile({ isPdf, contentType }: Pick<FileEntry, 'isPdf' | 'contentType'>): boolean {
  return isPdf ?? contentType.toLowerCase() === PDF;
}

/** Media type of the content: what a file is shown, sent and merged as. */
export function mediaTypeOf(file: Pick<FileEntry, 'isPdf' | 'contentType'>): string {
  return isPdfFile(file) ? PDF : file.contentType;
}

/** As `mediaTypeOf`; what is signed as PDF is one, also in documents stored before the content was looked at. */
export function documentType(document: {
  readonly file: FileEntry;
  readonly format: DocumentFormat;
}): string {
  return document.format === 'Pades' ? PDF : mediaTypeOf(document.file);
}

export type { Tag };

export interface Attachment {
  readonly id: string;
  readonly file: FileEntry;
  readonly isPrivate: boolean;
  readonly creationDate: Millis;
  /**
   * Of a signed file that was merged into the envelope: number of its signatures, which the envelope does not contain.
   * Absent = given at creation.
   */
  readonly signatures?: number;
  /** Field that a participant attached it in; absent = none. */
  readonly fieldId?: string;
}

export interface Observer {
  readonly id: string;
  readonly user: Participant;
}

/** Fields of a document in every webhook payload and notification. Source: docs/portal-values.md §19. */
export interface DocumentSummary extends Pick<DocumentProperties, 'description' | WebhookProperty> {
  readonly id: DocumentId;
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** 20 characters `A-Z 0-9`. */
  readonly key: string;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly folderId: string | null;
  readonly createdBy: Principal;
  /** Version of the file; missing in data stored by earlier programs. */
  readonly version?: number;
  /** Absent = none, or stored by earlier programs. */
  readonly tags?: readonly Tag[];
}

/** Version of a template that a document was made of. */
export interface DocumentTemplate {
  readonly id: string;
  readonly version: number;
}

/** Link for anybody that a document was made with. */
export interface DocumentLink {
  readonly id: string;
  /** Role that the visitor has taken. */
  readonly role: string;
  /** Page that opens when the visitor has signed; absent = that of the branding. */
  readonly returnUrl?: string;
}

/** Names the generation, the template and the link that a document was made of. */
export interface DocumentSource {
  /** Absent = none. */
  readonly publicLink?: DocumentLink;
  /** Absent = none. */
  readonly generationId?: string;
  /** Absent = none. */
  readonly template?: DocumentTemplate;
}

/** Event about a document for its organization. `sequence` counts from 1 per document without gaps. */
export interface DocumentEvent {
  readonly type: EventType;
  readonly sequence: number;
  readonly at: Millis;
  readonly document: DocumentSummary;
  /** For Created: all documents of the call, when there were several. */
  readonly documents?: readonly DocumentSummary[];
  /** For Signed, Approved, Refused, PassedOn, Opened, Viewed, Reminded and MailFailed. */
  readonly by?: {
    readonly flowActionId: FlowActionId | null;
    readonly userId: string;
    readonly name: string | null;
    readonly identifier: string | null;
    readonly emailAddress: string | null;
    /** Deputy who has acted in place of the participant; absent = the participant. */
    readonly deputy?: { readonly name: string; readonly emailAddress: string };
  };
  /** For Signed: filled in by the participant; absent = nothing. */
  readonly values?: readonly FieldValue[];
  /** For Refused, PassedOn and Canceled; for MailFailed: the mail server's answer. */
  readonly reason?: string;
  /** For Canceled. */
  readonly canceledBy?: Principal;
  /** For Expired and Expiring. */
  readonly expirationDate?: Millis;
  /** For Deleted. */
  readonly action?: 'DeletedByUserOrApplication' | 'DeletedByFolder' | 'DeletedByOrganization';
}

/** A document in a mail, with what its link names. */
export interface LinkedDocument {
  readonly document: DocumentSummary;
  /** The action to link to; null = no link, or the public check page for `concluded`. */
  readonly flowActionId: FlowActionId | null;
  readonly userId: UserId | null;
  /** Recipient who reads and does not act; absent for others. */
  readonly observerId?: string;
}

/** One e-mail to one person about one document, or about those of one call. */
export interface MailRequest extends LinkedDocument {
  readonly about:
    | 'pending'
    | 'reminder'
    | 'expiring'
    | 'concluded'
    | 'refused'
    | 'canceled'
    | 'new-version'
    | 'flow-edited'
    | 'observing'
    | 'code';
  readonly to: {
    readonly name: string | null;
    readonly email: string;
    /** Absent: that of the organization. */
    readonly language?: Language;
  };
  /** For `code`: a telephone that gets it in place of the address; absent = none. */
  readonly message?: { readonly channel: PhoneChannel; readonly phone: string };
  /** Of the same call, for `pending` and `observing`; absent = none. */
  readonly others?: readonly LinkedDocument[];
  /** Pending actions of the person, for `pending`, `reminder` and `expiring`. */
  readonly role?: 'sign' | 'approve';
  /** For `refused`, `canceled` and `flow-edited`. */
  readonly reason?: string;
  /** Of those who act. */
  readonly expirationDate?: Millis;
  /** The principal that refused, canceled or handed on. */
  readonly byName?: string;
  /** For `code`: number of the code. The code itself is derived from it when the mail is made and is not stored. */
  readonly codeGeneration?: number;
}
