/** Types of the portal API. Written by scripts/write-client.mjs; do not edit. */

export type ActingDeputy = { readonly "name": string; readonly "email": string; readonly "reason": string };
export type ActionUrlRequest = { readonly "identifier"?: string | null; readonly "emailAddress"?: string | null; readonly "requireEmailAuthentication"?: boolean | null; readonly "flowActionId"?: string | null };
export type Application = { readonly "id": string; readonly "name": string; readonly "role": "Normal" | "Monitor" | "Administrator"; readonly "keys": readonly ({ readonly "id": string; readonly "prefix": string; readonly "creationDate": string; readonly "lastUseDate": string | null; readonly "scopes": readonly ("Read" | "Create" | "Sign" | "Administer" | "Provision")[] | null; readonly "expirationDate": string | null; readonly "createdBy": (CreatedBy) | (null); readonly "folderIds": readonly (string)[] | null })[] };
export type Approval = { readonly "flowActionId"?: string | null; readonly "ticket"?: string | null; readonly "userId"?: string | null; readonly "documentVersion"?: number | null; readonly "disableNotifications"?: boolean | null; readonly "reading"?: { readonly "pages": string; readonly "pageCount": number; readonly "downloaded"?: boolean | null; readonly "declared"?: boolean | null } | null };
export type Attachment = { readonly "id": string; readonly "name": string; readonly "filename": string; readonly "fileSize": number; readonly "mimeType": string; readonly "creationDate": string; readonly "updateDate": string; readonly "createdBy": CreatedBy; readonly "isPrivate": boolean; readonly "signaturesNotInEnvelope": number | null; readonly "fieldId"?: string };
export type AuthenticatorAppReset = { readonly "flowActionId": string; readonly "userId"?: string | null; readonly "documentId"?: string | null };
export type BadRequest = { readonly "code": string; readonly "message": string; readonly "errors": { readonly [name: string]: readonly (string)[] } };
export type Branding = { readonly "primaryColor": string | null; readonly "headerColor": string | null; readonly "logo": { readonly "contentType": string; readonly "width": number; readonly "height": number } | null; readonly "mailTexts": readonly ({ readonly "kind": "pending" | "reminder" | "expiring" | "concluded" | "refused" | "canceled" | "new-version" | "flow-edited" | "observing" | "code" | "pending-list" | "sign-in"; readonly "subject": string | null; readonly "introduction": string | null })[]; readonly "redirectUrl": string | null; readonly "redirectOrigins": readonly (string)[] };
export type CertificateSignature = { readonly "flowActionId"?: string | null; readonly "ticket"?: string | null; readonly "userId"?: string | null; readonly "documentVersion"?: number | null; readonly "signature": string; readonly "token": string; readonly "disableNotifications"?: boolean | null; readonly "reading"?: { readonly "pages": string; readonly "pageCount": number; readonly "downloaded"?: boolean | null; readonly "declared"?: boolean | null } | null };
export type CertificateSignatureStart = { readonly "flowActionId"?: string | null; readonly "ticket"?: string | null; readonly "userId"?: string | null; readonly "documentVersion"?: number | null; readonly "certificate": string; readonly "signaturePosition"?: { readonly "page"?: number | null; readonly "topLeftX": number; readonly "topLeftY": number; readonly "width": number; readonly "height": number; readonly "pageNumber"?: number | null } | null; readonly "signaturePositions"?: readonly (NewMark)[] | null; readonly "fieldValues"?: { readonly [name: string]: ((string) | (number) | (boolean)) | (null) } | null };
export type ConditionTest = { readonly "field": string; readonly "operator": "Equals" | "NotEquals" | "Above" | "AtLeast" | "Below" | "AtMost" | "IsFilled" | "IsEmpty"; readonly "value"?: string };
export type CreatedBy = { readonly "id": string; readonly "name": string };
export type CreatedDocument = { readonly "uploadId": string; readonly "documentId": string; readonly "attachments": readonly ({ readonly "uploadId": string; readonly "attachmentId": string })[] };
export type CreatedKey = { readonly "id": string; readonly "key": string };
export type CreationTotals = { readonly "totalDocuments": number; readonly "totalEnvelopes": number };
export type Delivery = { readonly "id": string; readonly "webhookId": string; readonly "documentId": string | null; readonly "type": string; readonly "sequence": number; readonly "status": "Pending" | "Delivered" | "Failed"; readonly "creationDate": string; readonly "nextTryDate": string | null; readonly "body": string; readonly "attempts": readonly ({ readonly "date": string; readonly "url": string; readonly "status": number | null; readonly "milliseconds": number; readonly "error": string | null; readonly "response": string | null })[] };
export type DeliveryPage = { readonly "items": readonly (Delivery)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
export type DeliveryReplay = { readonly "from": string; readonly "to": string; readonly "failedOnly"?: boolean | null };
export type Deputies = { readonly "deputies": readonly (Deputy)[]; readonly "people": readonly (Deputyship)[] };
export type DeputiesQuery = { readonly "ticket": string };
export type Deputy = { readonly "id": string; readonly "name": string; readonly "email": string; readonly "reason": string; readonly "startDate": string; readonly "endDate": string };
export type DeputyAct = { readonly "ticket": string; readonly "documentId": string; readonly "flowActionId": string; readonly "userId": string; readonly "documentVersion": number; readonly "actionDate": string; readonly "deputyName": string };
export type DeputyDocument = { readonly "documentId": string; readonly "flowActionId": string; readonly "userId": string; readonly "documentVersion": number; readonly "actionDate": string; readonly "name": string; readonly "organizationName": string; readonly "person": string; readonly "participantName": string | null; readonly "deputyName": string; readonly "asked": "Sign" | "Approve"; readonly "expirationDate": string | null };
export type DeputyDocuments = { readonly "items": readonly (DeputyDocument)[]; readonly "nextCursor": string | null };
export type DeputyQuery = { readonly "ticket": string; readonly "person": string; readonly "cursor"?: string | null };
export type DeputyReading = { readonly "ticket": string; readonly "documentId": string; readonly "flowActionId": string; readonly "userId": string };
export type DeputyToEnd = { readonly "ticket": string; readonly "id": string; readonly "person"?: string | null };
export type Deputyship = { readonly "id": string; readonly "person": string; readonly "name": string; readonly "startDate": string; readonly "endDate": string };
export type Document = { readonly "id": string; readonly "name": string; readonly "status": "Pending" | "FlowConcluded" | "Concluded" | "Refused" | "Canceled" | "Expired"; readonly "key": string; readonly "filename": string; readonly "fileSize": number; readonly "mimeType": string; readonly "checksumMd5": string; readonly "hasSignature": boolean; readonly "isConcluded": boolean; readonly "isDeleted": boolean; readonly "isEnvelope": boolean; readonly "isScanned": false; readonly "creationDate": string; readonly "updateDate": string; readonly "createdBy": CreatedBy; readonly "organization": OrganizationReference; readonly "folder": (Folder) | (null); readonly "statusUpdatedBy": (Principal) | (null); readonly "statusUpdateReason": string | null; readonly "description": string | null; readonly "expirationDate": string | null; readonly "expirationDateWithoutTime": string | null; readonly "observers": readonly ({ readonly "id": string; readonly "user": Participant })[]; readonly "attachments": readonly (Attachment)[]; readonly "notifiedEmails": readonly (string)[]; readonly "permissions": { readonly "move": boolean; readonly "editFlow": boolean }; readonly "forceCadesSignature": boolean; readonly "tags": readonly (Tag)[]; readonly "type": string | null; readonly "signatureType": string | null; readonly "externalId": string | null; readonly "securityContext": null; readonly "requireReading": boolean; readonly "hideDownloadOptionForPendingDocuments": boolean; readonly "flowActions": readonly (FlowAction)[]; readonly "reminders": (Reminders) | (null); readonly "template": { readonly "id": string; readonly "version": number } | null; readonly "processingError": { readonly "code": string; readonly "message": string; readonly "since": string; readonly "nextTryAt": string | null } | null; readonly "warnings": readonly ({ readonly "code": "pdf.hidden-look" | "pdf.look-differs" | "pdf.script" | "pdf.xfa" | "pdf.layer" | "pdf.elsewhere" | "pdf.usage-rights" | "pdf.pages" | "pdf.repair" | "pdf.not-examined" | "pdf.no-glyph"; readonly "object": string; readonly "message": string })[] };
export type DocumentDeputy = { readonly "flowActionId": string; readonly "userId": string; readonly "name": string; readonly "email": string; readonly "startDate": string; readonly "endDate": string };
export type DocumentDraft = { readonly "id": string; readonly "name": string; readonly "status": "Saved" | "Sending" | "Sent"; readonly "creationDate": string; readonly "updateDate": string; readonly "createdBy": CreatedBy; readonly "document": { readonly [name: string]: unknown }; readonly "documents": readonly (CreatedDocument)[] };
export type DocumentDraftItem = { readonly "id": string; readonly "name": string; readonly "status": "Saved" | "Sending" | "Sent"; readonly "creationDate": string; readonly "updateDate": string; readonly "createdBy": CreatedBy };
export type DocumentField = { readonly "id": string; readonly "name": string; readonly "type": "Text" | "Number" | "Date" | "Checkbox" | "Choice" | "Initials" | "Attachment"; readonly "label": string; readonly "required": boolean; readonly "topLeftX": number | null; readonly "topLeftY": number | null; readonly "width": number | null; readonly "height": number | null; readonly "pageNumber": number | null; readonly "formField": string | null; readonly "maxLength": number; readonly "format": "Email" | "Digits" | "Letters" | "Phone" | null; readonly "minimum": number | null; readonly "maximum": number | null; readonly "options": readonly (string)[]; readonly "value": string | null; readonly "presetValue": string | null; readonly "readOnly": boolean; readonly "shownWhen"?: FieldCondition; readonly "requiredWhen"?: FieldCondition; readonly "hidden"?: boolean };
export type DocumentFilter = { readonly "status"?: "Pending" | "Refused" | "Concluded" | "Canceled" | "Expired" | "PendingOrRefused" | "CanceledOrExpired" | null; readonly "folderId"?: string | null; readonly "folderType"?: "Normal" | "WithoutFolder" | null; readonly "q"?: string | null; readonly "queryType"?: "Name" | "Key" | "Id" | "CreatorName" | "Tag" | "Any" | null; readonly "participantQ"?: string | null; readonly "participantQueryType"?: "Name" | "Identifier" | "Email" | "Phone" | null; readonly "filterByPendingSignature"?: boolean | null; readonly "filterByDocumentType"?: boolean | null; readonly "documentType"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport" | null; readonly "tags"?: string | null; readonly "externalId"?: string | null; readonly "createdFrom"?: string | null; readonly "createdTo"?: string | null };
export type DocumentGeneration = { readonly "id": string; readonly "status": "Pending" | "Init" | "Completed" | "Done" | "Error" | "WaitingSignatures" | "Canceling" | "Canceled"; readonly "type": string | null; readonly "agentId": string; readonly "folderId": string | null; readonly "subscriptionId": null; readonly "totalDocumentsCount": number; readonly "initializedCount": number; readonly "completedCount": number; readonly "error": { readonly "code": string; readonly "message": string } | null; readonly "refusedRowsCount": number; readonly "template": { readonly "id": string; readonly "version": number } | null };
export type DocumentGenerationRow = { readonly "row": number; readonly "status": "Pending" | "Made" | "Refused"; readonly "documentIds": readonly (string)[]; readonly "error": { readonly "code": string; readonly "message": string } | null };
export type DocumentListItem = { readonly "id": string; readonly "name": string; readonly "creationDate": string; readonly "updateDate": string; readonly "folder": (Folder) | (null); readonly "type": string | null; readonly "tags": readonly (Tag)[]; readonly "status": "Pending" | "FlowConcluded" | "Concluded" | "Refused" | "Canceled" | "Expired"; readonly "externalId": string | null };
export type DocumentMove = { readonly "folderId"?: string | null; readonly "newFolderName"?: string | null };
export type DocumentOpening = { readonly "flowActionId"?: string | null; readonly "ticket"?: string | null; readonly "userId"?: string | null; readonly "documentVersion"?: number | null; readonly "reachedEnd"?: boolean | null };
export type DocumentOperation = { readonly "id": string; readonly "action": "Cancel" | "Delete" | "Remind"; readonly "status": "Running" | "Canceling" | "Completed" | "Canceled"; readonly "reason": string | null; readonly "matchedCount": number; readonly "doneCount": number; readonly "skippedCount": number; readonly "skippedByCode": { readonly [name: string]: number }; readonly "creationDate": string; readonly "updateDate": string; readonly "endDate": string | null };
export type DocumentOperationCount = { readonly "matchedCount": number };
export type DocumentPackage = { readonly "documents": readonly (string)[]; readonly "type"?: "Original" | "Signatures" | "PrinterFriendlyVersion" | "SigningTags" | "SignatureMarks" | "OriginalWithMarks" | "SignaturesManifest" | null };
export type DocumentReason = { readonly "reason": string };
export type DocumentRetention = { readonly "hold": { readonly "reason": string; readonly "by": Principal; readonly "date": string } | null; readonly "deletion": { readonly "date": string; readonly "rule": RetentionRule } | null };
export type DocumentsMove = { readonly "documents": readonly (string)[]; readonly "folderId"?: string | null; readonly "newFolderName"?: string | null };
export type EditorSession = { readonly "draftId": string; readonly "status": "Saved" | "Sending" | "Sent"; readonly "document": { readonly [name: string]: unknown }; readonly "locations": { readonly [name: string]: string }; readonly "documents": readonly (CreatedDocument)[]; readonly "returnUrl": string | null; readonly "expirationDate": string };
export type EditorSessionLink = { readonly "draftId": string; readonly "url": string; readonly "embedUrl": string; readonly "expirationDate": string };
export type EditorSessionOpening = { readonly "ticket": string };
export type ElectronicSignature = { readonly "flowActionId"?: string | null; readonly "ticket"?: string | null; readonly "userId"?: string | null; readonly "documentVersion"?: number | null; readonly "disableNotifications"?: boolean | null; readonly "evidences"?: { readonly "geolocation"?: { readonly "latitude": number; readonly "longitude": number; readonly "accuracy"?: number | null } | null } | null; readonly "emailCode"?: string | null; readonly "smsCode"?: string | null; readonly "whatsappCode"?: string | null; readonly "otpCode"?: string | null; readonly "otpEnrolment"?: string | null; readonly "passkey"?: string | null; readonly "newPasskey"?: string | null; readonly "authenticationType"?: "SMS" | "AuthenticationApp" | null; readonly "authenticationCode"?: string | null; readonly "typedName"?: string | null; readonly "signaturePosition"?: { readonly "page"?: number | null; readonly "topLeftX": number; readonly "topLeftY": number; readonly "width": number; readonly "height": number; readonly "pageNumber"?: number | null } | null; readonly "signaturePositions"?: readonly (NewMark)[] | null; readonly "signatureInitialsPositions"?: readonly (NewMark)[] | null; readonly "signatureImage"?: { readonly "id"?: string | null; readonly "contentType"?: string | null; readonly "save"?: boolean | null; readonly "contentB64"?: string | null; readonly "showSignerInformation"?: boolean | null; readonly "alignTextOnMiddle"?: boolean | null } | null; readonly "initialsImage"?: { readonly "id": string; readonly "contentType"?: string | null; readonly "save"?: boolean | null } | null; readonly "fieldValues"?: { readonly [name: string]: ((string) | (number) | (boolean)) | (null) } | null; readonly "reading"?: { readonly "pages": string; readonly "pageCount": number; readonly "downloaded"?: boolean | null; readonly "declared"?: boolean | null } | null; readonly "userTimeZoneOffset"?: number | null };
export type EmailCodeRequest = { readonly "flowActionId"?: string | null; readonly "ticket"?: string | null; readonly "userId"?: string | null; readonly "documentVersion"?: number | null; readonly "channel"?: "Email" | "Sms" | "Whatsapp" | null; readonly "resend"?: boolean | null };
export type ErasedDocument = { readonly "documentId": string; readonly "outcome": "Erased" | "Deleted" | "Kept" | "Refused"; readonly "code": string | null };
export type Erasure = { readonly "id": string; readonly "date": string; readonly "by": Principal; readonly "isDone": boolean; readonly "keptFor": "LegalObligation" | "LegalClaims" | null; readonly "erased": number; readonly "kept": number; readonly "refused": number; readonly "mails": number; readonly "documents": readonly (ErasedDocument)[] };
export type Error = { readonly "code": string; readonly "message": string; readonly "details": { readonly [name: string]: string } | null };
export type EventDeputy = { readonly "name": string; readonly "emailAddress": string };
export type EventDocument = { readonly "id": string; readonly "name": string; readonly "creationDate": string; readonly "updateDate": string; readonly "folder": (EventFolder) | (null); readonly "organization": (EventOrganization) | (null); readonly "createdBy": CreatedBy; readonly "link": string; readonly "tags"?: readonly (Tag)[]; readonly "externalId"?: string };
export type EventFolder = { readonly "id": string; readonly "name": string; readonly "parentId": string | null; readonly "organizationName": string | null };
export type EventOrganization = { readonly "id": string; readonly "name": string; readonly "identifier": string | null; readonly "owner": null };
export type EventParticipant = { readonly "flowActionId": string | null; readonly "date": string; readonly "userId": string | null; readonly "name": string | null; readonly "identifier": string | null; readonly "emailAddress": string | null; readonly "deputy"?: EventDeputy };
export type EventParticipantReason = { readonly "flowActionId": string | null; readonly "date": string; readonly "userId": string | null; readonly "name": string | null; readonly "identifier": string | null; readonly "emailAddress": string | null; readonly "deputy"?: EventDeputy; readonly "reason": string | null };
export type FailedMailsRetry = { readonly "since": string };
export type FieldCondition = { readonly "all"?: readonly (ConditionTest)[]; readonly "any"?: readonly (ConditionTest)[] };
export type FieldUpload = { readonly "id": string; readonly "name": string; readonly "contentType": "application/pdf" | "image/jpeg" | "image/png"; readonly "size": number; readonly "sha256": string };
export type FileToValidate = { readonly "fileId": string; readonly "mimeType": string; readonly "signatureType"?: string | null; readonly "securityContextId"?: string | null; readonly "certificates"?: string | null };
export type FlowAction = { readonly "id": string; readonly "type": "Signer" | "Approver" | "SignRule" | "ApproverRule"; readonly "status": "Created" | "Pending" | "Completed" | "Refused" | "Skipped"; readonly "step": number; readonly "user": (Participant) | (null); readonly "title": string | null; readonly "allowElectronicSignature": boolean; readonly "creationDate": string; readonly "updateDate": string; readonly "pendingDate": string | null; readonly "refusalReason": string | null; readonly "isElectronic": boolean | null; readonly "marks": readonly (Mark)[]; readonly "ruleName": string | null; readonly "numberRequiredSignatures": number; readonly "allowRuleFlowToContinueIfRefused": boolean; readonly "signRuleUsers": readonly (RuleUser)[]; readonly "allowPassingOn": boolean; readonly "passedOn": readonly (PassedOn)[]; readonly "deputy"?: ActingDeputy; readonly "requireSmsAuthenticationToSignElectronically": boolean; readonly "requireWhatsappAuthenticationToSignElectronically": boolean; readonly "requireAuthenticatorAppToSignElectronically": boolean; readonly "requireSelfieAuthenticationToSignElectronically": boolean; readonly "requireDatavalidAuthenticationToSignElectronically": boolean; readonly "requirePixAuthenticationToSignElectronically": boolean; readonly "requireLivenessAuthenticationToSignElectronically": boolean; readonly "requireIdScanAuthenticationToSignElectronically": boolean; readonly "requireEmailAuthenticationToSignElectronically": boolean; readonly "disableEmailAuthenticationToSignElectronically": boolean; readonly "requiredCertificateTypeToSign": "A1" | "A2" | "A3" | "A4" | "S1" | "S2" | "S3" | "S4" | "T3" | "T4" | null; readonly "requiredCertificateHolderTypeToSign": "Individual" | "Company" | null; readonly "requireCompanyCertificate": boolean | null; readonly "requiredCompanyIdentifier": string | null; readonly "signatureInitialsMode": "None" | "Optional" | "Required" | null; readonly "takesPartWhen"?: FieldCondition; readonly "fields"?: readonly (DocumentField)[] };
export type FlowEdit = { readonly "addedFlowActions"?: readonly (NewFlowAction)[] | null; readonly "editedFlowActions"?: readonly ({ readonly "flowActionId": string; readonly "step"?: number | null; readonly "participantEmailAddress"?: string | null; readonly "ruleName"?: string | null; readonly "title"?: string | null; readonly "signRuleUsers"?: readonly ({ readonly "userId": string; readonly "emailAddress": string })[] | null; readonly "prePositionedMarks"?: readonly (NewMark)[] | null; readonly "signatureInitialsMode"?: "None" | "Optional" | "Required" | null; readonly "fields"?: readonly (NewField)[] | null })[] | null; readonly "deletedFlowActionIds"?: readonly (string)[] | null; readonly "addedObservers"?: readonly (NewObserver)[] | null; readonly "editedObservers"?: readonly ({ readonly "observerId": string; readonly "emailAddress": string })[] | null; readonly "deletedObserverIds"?: readonly (string)[] | null };
export type Folder = { readonly "id": string; readonly "name": string; readonly "parentId": string | null };
export type FolderDeletion = { readonly "deleteAction": "MoveContent" | "DeleteContent"; readonly "destinationFolderId"?: string | null };
export type FolderDetail = { readonly "id": string; readonly "name": string; readonly "parentId": string | null; readonly "organization": OrganizationReference };
export type FolderGrant = { readonly "type": "User" | "Group"; readonly "id": string; readonly "name": string; readonly "email": string | null; readonly "right": "Read" | "Send" | "Manage" };
export type FolderGrants = { readonly "grants": readonly (FolderGrant)[]; readonly "inheritedFrom": string | null; readonly "version": string };
export type Grantee = { readonly "type": "User" | "Group"; readonly "id": string; readonly "name": string; readonly "email": string | null };
export type HistoryCheckpoint = { readonly "node": string; readonly "sequence": number; readonly "at": number; readonly "leaves": number; readonly "root": string; readonly "previous": string; readonly "publicKey": string; readonly "signature": string };
export type HistoryEntry = { readonly "id": number; readonly "type": "Created" | "Signed" | "Approved" | "Refused" | "Edited" | "Reminded" | "ExpiryWarned" | "Canceled" | "Expired" | "Concluded" | "Deleted" | "ProcessingFailed" | "Mailed" | "MailDelivered" | "MailRefused" | "Opened" | "Viewed" | "CodeSent" | "WrongCode" | "Downloaded" | "Other"; readonly "date": string; readonly "message": string; readonly "by": string | null; readonly "userId": string | null; readonly "ipAddress": string | null; readonly "userAgent": string | null; readonly "state": string; readonly "cause": string; readonly "data": { readonly [name: string]: string | number | boolean | null } | null; readonly "salt": string | null; readonly "erased": string | null; readonly "hash": string | null };
export type HistoryPage = { readonly "items": readonly (HistoryEntry)[]; readonly "totalCount": number; readonly "nextCursor": string | null; readonly "proof": (HistoryProof) | (null) };
export type HistoryProof = { readonly "line": number; readonly "hash": string; readonly "leafIndex": number; readonly "auditPath": readonly (string)[]; readonly "checkpoint": HistoryCheckpoint };
export type KeepingProvider = { readonly "name": string; readonly "address": string };
export type LegalHold = { readonly "reason"?: string | null };
export type Mail = { readonly "id": string; readonly "organizationId": string; readonly "about": string; readonly "to": string; readonly "documentId": string | null; readonly "status": "Queued" | "Waiting" | "Sent" | "Failed"; readonly "tries": number; readonly "creationDate": string; readonly "endDate": string | null; readonly "nextTryDate": string | null; readonly "reply": string | null; readonly "lastError": { readonly "code": string; readonly "message": string } | null };
export type MailDetail = { readonly "id": string; readonly "organizationId": string; readonly "about": string; readonly "to": string; readonly "documentId": string | null; readonly "status": "Queued" | "Waiting" | "Sent" | "Failed"; readonly "tries": number; readonly "creationDate": string; readonly "endDate": string | null; readonly "nextTryDate": string | null; readonly "reply": string | null; readonly "lastError": { readonly "code": string; readonly "message": string } | null; readonly "failures": readonly ({ readonly "code": string; readonly "message": string; readonly "date": string })[] };
export type MailPage = { readonly "items": readonly (Mail)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
export type MailPreview = { readonly "subject": string; readonly "text": string; readonly "html": string };
export type Mark = { readonly "type": "SignatureVisualRepresentation" | "SignatureInitials" | "AuthenticationStamp"; readonly "topLeftX": number; readonly "topLeftY": number; readonly "width": number; readonly "height": number; readonly "pageNumber": number | null; readonly "fontSize": number | null };
export type MarksSession = { readonly "id": string; readonly "files": readonly ({ readonly "id": string; readonly "location": string })[]; readonly "data": { readonly [name: string]: unknown } };
export type NewAdditionalInfo = { readonly "fields"?: { readonly [name: string]: string | null } | null; readonly "metadata"?: { readonly [name: string]: string | null } | null; readonly "healthData"?: { readonly "professional"?: { readonly "id"?: string | null; readonly "region"?: string | null } | null; readonly "items"?: readonly ({ readonly "name"?: string | null; readonly "description"?: string | null; readonly "description2"?: string | null })[] | null } | null };
export type NewApplication = { readonly "name": string; readonly "role"?: "Normal" | "Monitor" | "Administrator" | null };
export type NewAttachment = { readonly "displayName": string; readonly "id": string; readonly "name": string; readonly "contentType": string; readonly "isPrivate"?: boolean | null };
export type NewBranding = { readonly "primaryColor"?: string | null; readonly "headerColor"?: string | null; readonly "mailTexts"?: readonly ({ readonly "kind": "pending" | "reminder" | "expiring" | "concluded" | "refused" | "canceled" | "new-version" | "flow-edited" | "observing" | "code" | "pending-list" | "sign-in"; readonly "subject"?: string | null; readonly "introduction"?: string | null })[] | null; readonly "redirectUrl"?: string | null; readonly "redirectOrigins"?: readonly (string)[] | null };
export type NewBytes = { readonly "bytes": string };
export type NewConditionTest = { readonly "field": string; readonly "operator": "Equals" | "NotEquals" | "Above" | "AtLeast" | "Below" | "AtMost" | "IsFilled" | "IsEmpty"; readonly "value"?: ((string) | (number) | (boolean)) | (null) };
export type NewDeputy = { readonly "ticket": string; readonly "name": string; readonly "email": string; readonly "reason": string; readonly "startDate"?: string | null; readonly "endDate": string; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it" | null };
export type NewDocumentDraft = { readonly "name": string; readonly "document": { readonly "files"?: readonly (NewFile)[] | null; readonly "flowActions"?: readonly (NewFlowAction)[] | null; readonly "isEnvelope"?: boolean | null; readonly "envelopeName"?: string | null; readonly "disablePendingActionNotifications"?: boolean | null; readonly "disableNotifications"?: boolean | null; readonly "description"?: string | null; readonly "folderId"?: string | null; readonly "newFolderName"?: string | null; readonly "expirationDate"?: string | null; readonly "observers"?: readonly (NewObserver)[] | null; readonly "attachments"?: readonly (NewAttachment)[] | null; readonly "notifiedEmails"?: readonly (string)[] | null; readonly "tags"?: readonly (NewTag)[] | null; readonly "additionalInfo"?: (NewAdditionalInfo) | (null); readonly "forceCadesSignature"?: boolean | null; readonly "requireReading"?: boolean | null; readonly "xmlNamespaces"?: readonly (NewXmlNamespace)[] | null; readonly "participantsDataFile"?: (ParticipantsDataFile) | (null); readonly "timestampEnabled"?: boolean | null; readonly "signatureType"?: "None" | "Simple" | "Advanced" | "Qualified" | null; readonly "type"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport" | null; readonly "externalId"?: string | null; readonly "reminders"?: (NewReminders) | (null); readonly "securityContextId"?: string | null; readonly "templateId"?: string | null; readonly "templateFieldValues"?: { readonly [name: string]: unknown } | null; readonly "textTags"?: boolean | null } };
export type NewDocumentGeneration = { readonly "flowActions": readonly (NewFlowAction)[]; readonly "observers"?: readonly (NewObserver)[] | null; readonly "folderId"?: string | null; readonly "newFolderName"?: string | null; readonly "organizationId"?: string | null; readonly "type"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport" | null; readonly "notaryType"?: string | null; readonly "expirationDate"?: string | null; readonly "notifiedEmails"?: readonly (string)[] | null; readonly "dataFile": { readonly "id": string; readonly "name": string; readonly "contentType": string }; readonly "skipHiddenRows"?: boolean | null; readonly "templateFile": { readonly "id": string; readonly "name": string; readonly "contentType": string } };
export type NewDocumentOperation = { readonly "action": "Cancel" | "Delete" | "Remind"; readonly "filter": DocumentFilter; readonly "reason"?: string | null; readonly "dryRun"?: boolean | null };
export type NewDocuments = { readonly "files": readonly (NewFile)[]; readonly "flowActions": readonly (NewFlowAction)[]; readonly "isEnvelope"?: boolean | null; readonly "envelopeName"?: string | null; readonly "disablePendingActionNotifications"?: boolean | null; readonly "disableNotifications"?: boolean | null; readonly "description"?: string | null; readonly "folderId"?: string | null; readonly "newFolderName"?: string | null; readonly "expirationDate"?: string | null; readonly "observers"?: readonly (NewObserver)[] | null; readonly "attachments"?: readonly (NewAttachment)[] | null; readonly "notifiedEmails"?: readonly (string)[] | null; readonly "tags"?: readonly (NewTag)[] | null; readonly "additionalInfo"?: (NewAdditionalInfo) | (null); readonly "forceCadesSignature"?: boolean | null; readonly "requireReading"?: boolean | null; readonly "xmlNamespaces"?: readonly (NewXmlNamespace)[] | null; readonly "participantsDataFile"?: (ParticipantsDataFile) | (null); readonly "timestampEnabled"?: boolean | null; readonly "signatureType"?: "None" | "Simple" | "Advanced" | "Qualified" | null; readonly "type"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport" | null; readonly "externalId"?: string | null; readonly "reminders"?: (NewReminders) | (null); readonly "securityContextId"?: string | null; readonly "templateId"?: string | null; readonly "templateFieldValues"?: { readonly [name: string]: unknown } | null; readonly "textTags"?: boolean | null };
export type NewEditorSession = { readonly "draftId"?: string | null; readonly "files"?: readonly (NewFile)[] | null; readonly "returnUrl"?: string | null };
export type NewEnvelopeVersion = { readonly "files": readonly (NewFile)[]; readonly "envelopeName"?: string | null; readonly "disablePendingActionNotifications"?: boolean | null; readonly "additionalInfo"?: (NewAdditionalInfo) | (null); readonly "prePositionedMarks"?: readonly ({ readonly "flowActionId": string; readonly "prePositionedDocumentMarks": readonly (NewMark)[] })[] | null; readonly "textTags"?: boolean | null };
export type NewErasure = { readonly "email": string; readonly "keepFor"?: "LegalObligation" | "LegalClaims" | null };
export type NewField = { readonly "name": string; readonly "type"?: "Text" | "Number" | "Date" | "Checkbox" | "Choice" | "Initials" | "Attachment" | null; readonly "label"?: string | null; readonly "required"?: boolean | null; readonly "uploadId"?: string | null; readonly "topLeftX"?: number | null; readonly "topLeftY"?: number | null; readonly "width"?: number | null; readonly "height"?: number | null; readonly "pageNumber"?: number | null; readonly "formField"?: string | null; readonly "maxLength"?: number | null; readonly "format"?: "Email" | "Digits" | "Letters" | "Phone" | null; readonly "minimum"?: number | null; readonly "maximum"?: number | null; readonly "options"?: readonly (string)[] | null; readonly "value"?: ((string) | (number) | (boolean)) | (null); readonly "readOnly"?: boolean | null; readonly "shownWhen"?: (NewFieldCondition) | (null); readonly "requiredWhen"?: (NewFieldCondition) | (null) };
export type NewFieldCondition = { readonly "all"?: readonly (NewConditionTest)[] | null; readonly "any"?: readonly (NewConditionTest)[] | null };
export type NewFile = { readonly "displayName": string; readonly "id": string; readonly "name": string; readonly "contentType": string };
export type NewFlowAction = { readonly "type"?: "Signer" | "Approver" | "SignRule" | "ApproverRule" | null; readonly "step"?: number | null; readonly "user"?: (NewParticipant) | (null); readonly "title"?: string | null; readonly "allowElectronicSignature"?: boolean | null; readonly "prePositionedMarks"?: readonly (NewMark)[] | null; readonly "ruleName"?: string | null; readonly "numberRequiredSignatures"?: number | null; readonly "signRuleUsers"?: readonly (NewParticipant)[] | null; readonly "allowRuleFlowToContinueIfRefused"?: boolean | null; readonly "allowPassingOn"?: boolean | null; readonly "requireSmsAuthenticationToSignElectronically"?: boolean | null; readonly "requireWhatsappAuthenticationToSignElectronically"?: boolean | null; readonly "requireAuthenticatorAppToSignElectronically"?: boolean | null; readonly "requireSelfieAuthenticationToSignElectronically"?: boolean | null; readonly "requireDatavalidAuthenticationToSignElectronically"?: boolean | null; readonly "requirePixAuthenticationToSignElectronically"?: boolean | null; readonly "requireLivenessAuthenticationToSignElectronically"?: boolean | null; readonly "requireIdScanAuthenticationToSignElectronically"?: boolean | null; readonly "disableEmailAuthenticationToSignElectronically"?: boolean | null; readonly "requiredCertificateTypeToSign"?: "A1" | "A2" | "A3" | "A4" | "S1" | "S2" | "S3" | "S4" | "T3" | "T4" | null; readonly "requiredCertificateHolderTypeToSign"?: "Individual" | "Company" | null; readonly "requireCompanyCertificate"?: boolean | null; readonly "requiredCompanyIdentifier"?: string | null; readonly "signatureInitialsMode"?: "None" | "Optional" | "Required" | null; readonly "xadesOptions"?: (NewXadesOptions) | (null); readonly "takesPartWhen"?: (NewFieldCondition) | (null); readonly "fields"?: readonly (NewField)[] | null };
export type NewFolder = { readonly "name": string; readonly "parentId"?: string | null };
export type NewFolderGrants = { readonly "grants": readonly ({ readonly "type": "User" | "Group"; readonly "id": string; readonly "right": "Read" | "Send" | "Manage" })[]; readonly "version"?: string | null };
export type NewKey = { readonly "scopes"?: readonly ("Read" | "Create" | "Sign" | "Administer" | "Provision")[] | null; readonly "expirationDate"?: string | null; readonly "folderIds"?: readonly (string)[] | null };
export type NewLogo = { readonly "bytes": string };
export type NewMailPreview = { readonly "kind": "pending" | "reminder" | "expiring" | "concluded" | "refused" | "canceled" | "new-version" | "flow-edited" | "observing" | "code" | "pending-list" | "sign-in"; readonly "subject"?: string | null; readonly "introduction"?: string | null; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it" | null };
export type NewMark = { readonly "type"?: "SignatureVisualRepresentation" | "SignatureInitials" | "AuthenticationStamp" | null; readonly "uploadId"?: string | null; readonly "topLeftX": number; readonly "topLeftY": number; readonly "width": number; readonly "height": number; readonly "pageNumber"?: number | null; readonly "fontSize"?: number | null };
export type NewMarksSession = { readonly "files": readonly ({ readonly "id": string; readonly "name": string; readonly "contentType": string })[]; readonly "isEnvelope"?: boolean | null; readonly "flowActions": readonly ({ readonly "id"?: string | null; readonly "type"?: "Signer" | "Approver" | "SignRule" | "ApproverRule" | null; readonly "user"?: (NewParticipant) | (null); readonly "signatureInitialsMode"?: "None" | "Optional" | "Required" | null; readonly "ruleName"?: string | null; readonly "numberRequiredSignatures"?: number | null; readonly "prePositionedMarks"?: readonly (NewMark)[] | null })[]; readonly "signatureType"?: "None" | "Simple" | "Advanced" | "Qualified" | null };
export type NewObserver = { readonly "user": NewParticipant };
export type NewOrganization = { readonly "name": string; readonly "identifier"?: string | null };
export type NewOrganizationUser = { readonly "name": string; readonly "identifier"?: string | null; readonly "email": string; readonly "phone"?: string | null; readonly "accessProfile"?: { readonly "administrator"?: boolean | null; readonly "manager"?: boolean | null; readonly "operator"?: boolean | null; readonly "auditor"?: boolean | null } | null };
export type NewParticipant = { readonly "id"?: string | null; readonly "name"?: string | null; readonly "identifier"?: string | null; readonly "email"?: string | null; readonly "phone"?: string | null; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it" | null };
export type NewPublicLink = { readonly "name": string; readonly "templateId": string; readonly "role": string; readonly "participants"?: readonly ({ readonly "role": string; readonly "user": NewParticipant })[] | null; readonly "contact"?: "Email" | "Phone" | null; readonly "fields"?: readonly (string)[] | null; readonly "mostDocuments"?: number | null; readonly "mostPerPerson"?: number | null; readonly "endDate"?: string | null; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it" | null; readonly "returnUrl"?: string | null };
export type NewPublicLinkDevice = { readonly "pin": string; readonly "hours"?: number | null };
export type NewReminders = { readonly "everyDays"?: number | null; readonly "maximum"?: number | null; readonly "daysBeforeExpiry"?: readonly (number)[] | null };
export type NewRetention = { readonly "noticeDays"?: number | null; readonly "rules": readonly ({ readonly "folderId"?: string | null; readonly "status"?: "Concluded" | "Refused" | "Canceled" | "Expired" | null; readonly "days"?: number | null })[] };
export type NewSavedFlow = { readonly "name": string; readonly "areActionsOrdered"?: boolean | null; readonly "flowActions": readonly (NewFlowAction)[]; readonly "observers"?: readonly (NewObserver)[] | null };
export type NewSigningProvider = { readonly "title": string; readonly "address": string; readonly "authorization"?: string | null; readonly "clientId": string; readonly "clientSecret"?: string | null };
export type NewTag = { readonly "label"?: string | null; readonly "value": string };
export type NewTemplate = { readonly "name": string; readonly "document": NewDocuments; readonly "description"?: string | null; readonly "expirationDays"?: number | null };
export type NewTemplateOfDocument = { readonly "documentId": string; readonly "name"?: string | null; readonly "description"?: string | null; readonly "expirationDays"?: number | null };
export type NewUser = { readonly "name": string; readonly "identifier"?: string | null; readonly "email": string; readonly "phone"?: string | null };
export type NewVersion = { readonly "file": NewFile; readonly "disablePendingActionNotifications"?: boolean | null; readonly "additionalInfo"?: (NewAdditionalInfo) | (null); readonly "prePositionedMarks"?: readonly ({ readonly "flowActionId": string; readonly "prePositionedDocumentMarks": readonly (NewMark)[] })[] | null; readonly "textTags"?: boolean | null };
export type NewWaitingSession = { readonly "email": string; readonly "code": string };
export type NewWebhook = { readonly "url": string; readonly "authType"?: "NoAuth" | "Basic" | "Bearer" | "ApiKey" | null; readonly "token"?: string | null; readonly "secret"?: string | null; readonly "events"?: readonly ("DocumentsCreated" | "DocumentSigned" | "DocumentApproved" | "DocumentRefused" | "DocumentConcluded" | "DocumentCanceled" | "DocumentExpired" | "DocumentDeleted" | "DocumentOpened" | "DocumentViewed" | "DocumentReminded" | "DocumentExpiring" | "DocumentPassedOn" | "MailFailed")[] | null };
export type NewXadesOptions = { readonly "signatureType"?: "FullXml" | "XmlElement" | "FullXmlAdRc" | null; readonly "elementToSignIdentifierType"?: "Id" | "XPath" | null; readonly "elementToSignIdentifier"?: string | null; readonly "insertionOption"?: "AppendChild" | "PrependChild" | "AppendSibling" | "PrependSibling" | null; readonly "disableXPathTransformation"?: boolean | null };
export type NewXmlNamespace = { readonly "prefix"?: string | null; readonly "uri"?: string | null };
export type NotFound = { readonly "message": string; readonly "resourceName": string | null; readonly "resourceId": string | null };
export type NotifiedEmails = { readonly "emails": readonly (string)[] };
export type OpenedEditorSession = { readonly "draftId": string; readonly "status": "Saved" | "Sending" | "Sent"; readonly "document": { readonly [name: string]: unknown }; readonly "locations": { readonly [name: string]: string }; readonly "documents": readonly (CreatedDocument)[]; readonly "returnUrl": string | null; readonly "expirationDate": string; readonly "token": string };
export type OpenedPublicLinkDevice = { readonly "id": string; readonly "openedBy": CreatedBy; readonly "creationDate": string; readonly "endDate": string; readonly "url": string };
export type Organization = { readonly "id": string; readonly "name": string; readonly "identifier": string | null; readonly "creationDate": string; readonly "embedOrigins": readonly (string)[]; readonly "refuseSignedEnvelopeFiles": boolean; readonly "requireSecondFactor": boolean; readonly "requiredQualification": "QESig" | "QESeal" | "AdESig-QC" | "AdESeal-QC" | null; readonly "refuseDeputies": boolean; readonly "reminders": (Reminders) | (null); readonly "applications": readonly (Application)[] };
export type OrganizationChanges = { readonly "refuseSignedEnvelopeFiles"?: boolean | null; readonly "requireSecondFactor"?: boolean | null; readonly "requiredQualification"?: "QESig" | "QESeal" | "AdESig-QC" | "AdESeal-QC" | null; readonly "refuseDeputies"?: boolean | null; readonly "reminders"?: (NewReminders) | (null) };
export type OrganizationPage = { readonly "items": readonly (Organization)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
export type OrganizationReference = { readonly "id": string; readonly "name": string | null; readonly "identifier": string | null; readonly "owner": { readonly "id": string; readonly "name": string } | null };
export type OrganizationUser = { readonly "id": string; readonly "name": string; readonly "identifier": string | null; readonly "email": string; readonly "phone": string | null; readonly "accessProfile": { readonly "administrator": boolean; readonly "manager": boolean; readonly "operator": boolean; readonly "auditor"?: true }; readonly "active": boolean };
export type OrganizationUserPage = { readonly "items": readonly (OrganizationUser)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
export type OwnOrganization = { readonly "id": string; readonly "name": string | null; readonly "identifier": string | null; readonly "owner": { readonly "id": string; readonly "name": string } | null; readonly "webhooks": readonly (Webhook)[] };
export type Participant = { readonly "id": string; readonly "name": string | null; readonly "identifier": string | null; readonly "email": string | null; readonly "phone": string | null; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it" };
export type ParticipantRefusal = { readonly "flowActionId"?: string | null; readonly "ticket"?: string | null; readonly "userId"?: string | null; readonly "documentVersion"?: number | null; readonly "reason": string };
export type ParticipantReminder = { readonly "documentId": string; readonly "flowActionId": string };
export type ParticipantsDataFile = { readonly "id"?: string | null; readonly "name"?: string | null; readonly "contentType"?: string | null };
export type PassedOn = { readonly "name": string | null; readonly "email": string | null; readonly "reason": string; readonly "date": string };
export type PassingOn = { readonly "flowActionId"?: string | null; readonly "ticket"?: string | null; readonly "userId"?: string | null; readonly "documentVersion"?: number | null; readonly "name": string; readonly "email": string; readonly "phone"?: string | null; readonly "identifier"?: string | null; readonly "reason": string; readonly "emailCode"?: string | null };
export type PasskeyOptions = { readonly "request": string | null; readonly "creation": string | null };
export type PasskeyOptionsRequest = { readonly "ticket"?: string | null; readonly "documentVersion"?: number | null };
export type PendingNotification = { readonly "emails": readonly (string)[] };
export type Period = { readonly "startDateUtc"?: string | null; readonly "endDateUtc"?: string | null };
export type Principal = { readonly "id": string; readonly "type": "User" | "Application"; readonly "name": string };
export type PublicLink = { readonly "id": string; readonly "name": string; readonly "templateId": string; readonly "role": string; readonly "contact": "Email" | "Phone"; readonly "fields": readonly (string)[]; readonly "mostDocuments": number; readonly "mostPerPerson": number; readonly "endDate": string; readonly "language": "en" | "pt" | "es" | "de" | "fr" | "it" | null; readonly "returnUrl": string | null; readonly "status": "Open" | "Full" | "Expired" | "Ended"; readonly "documentCount": number; readonly "lastRefusal": { readonly "code": string; readonly "message": string; readonly "date": string } | null; readonly "url": string; readonly "devices": readonly (PublicLinkDevice)[]; readonly "creationDate": string; readonly "createdBy": CreatedBy };
export type PublicLinkCode = { readonly "ticket": string; readonly "name"?: string | null; readonly "email"?: string | null; readonly "phone"?: string | null; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it" | null; readonly "resend"?: boolean | null };
export type PublicLinkDevice = { readonly "id": string; readonly "openedBy": CreatedBy; readonly "creationDate": string; readonly "endDate": string };
export type PublicLinkDocument = { readonly "documentId": string; readonly "url": string };
export type PublicLinkPage = { readonly "name": string; readonly "organizationName": string; readonly "contact": "Email" | "Phone"; readonly "fields": readonly ({ readonly "name": string; readonly "label": string | null; readonly "type": "Text" | "Number" | "Date" | "Checkbox" | "Choice" | "Initials" | "Attachment"; readonly "required": boolean; readonly "options": readonly (string)[]; readonly "maxLength": number | null; readonly "minimum": number | null; readonly "maximum": number | null })[]; readonly "language": "en" | "pt" | "es" | "de" | "fr" | "it" | null };
export type PublicLinkTicket = { readonly "ticket": string };
export type PublicLinkVisit = { readonly "ticket": string; readonly "name"?: string | null; readonly "email"?: string | null; readonly "phone"?: string | null; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it" | null; readonly "visitId": string; readonly "code"?: string | null; readonly "fieldValues"?: { readonly [name: string]: ((string) | (number) | (boolean)) | (null) } | null };
export type Qualification = { readonly "word": "QESig" | "QESeal" | "AdESig-QC" | "AdESeal-QC" | "AdESig" | "AdESeal" | "AdES" | "Unknown" | "NotAdES"; readonly "isIndeterminate": boolean; readonly "qualifiedFor": "signature" | "seal" | "web" | "none" | "undetermined"; readonly "device": "yes" | "no" | "undetermined"; readonly "territory": string | null; readonly "service": string | null; readonly "provider": string | null; readonly "list": { readonly "sequence": number; readonly "issued": string } | null; readonly "reasons": readonly (string)[] };
export type Reminders = { readonly "everyDays": number | null; readonly "maximum": number; readonly "daysBeforeExpiry": readonly (number)[] };
export type ReplayedDeliveries = { readonly "count": number };
export type ReportLocation = { readonly "location": string };
export type Retention = { readonly "noticeDays": number; readonly "rules": readonly (RetentionRule)[] };
export type RetentionItem = { readonly "type": "Document" | "Folder"; readonly "id": string; readonly "name": string; readonly "status": "Pending" | "FlowConcluded" | "Concluded" | "Refused" | "Canceled" | "Expired" | null; readonly "date": string; readonly "rule": (RetentionRule) | (null); readonly "reason": string | null; readonly "by": (Principal) | (null) };
export type RetentionRule = { readonly "folderId": string | null; readonly "status": "Concluded" | "Refused" | "Canceled" | "Expired" | null; readonly "days": number | null };
export type RetriedMails = { readonly "count": number; readonly "complete": boolean };
export type RuleUser = { readonly "id": string; readonly "name": string | null; readonly "identifier": string | null; readonly "email": string | null; readonly "phone": string | null; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it"; readonly "signatureDate": string | null; readonly "isElectronic": boolean | null; readonly "refusalDate": string | null; readonly "hasRefused": boolean; readonly "refusalReason": string | null };
export type SavedFlow = { readonly "id": string; readonly "name": string; readonly "creationDate": string; readonly "updateDate": string; readonly "createdBy": CreatedBy; readonly "areActionsOrdered": boolean; readonly "flowActions": readonly ({ readonly [name: string]: unknown })[]; readonly "observers": readonly ({ readonly [name: string]: unknown })[] };
export type SavedFlowDocuments = { readonly "files": readonly (NewFile)[]; readonly "participants"?: readonly ({ readonly "role": string; readonly "user": NewParticipant })[] | null; readonly "isEnvelope"?: boolean | null; readonly "envelopeName"?: string | null; readonly "disablePendingActionNotifications"?: boolean | null; readonly "disableNotifications"?: boolean | null; readonly "description"?: string | null; readonly "folderId"?: string | null; readonly "newFolderName"?: string | null; readonly "expirationDate"?: string | null; readonly "observers"?: readonly (NewObserver)[] | null; readonly "attachments"?: readonly (NewAttachment)[] | null; readonly "notifiedEmails"?: readonly (string)[] | null; readonly "tags"?: readonly (NewTag)[] | null; readonly "additionalInfo"?: (NewAdditionalInfo) | (null); readonly "forceCadesSignature"?: boolean | null; readonly "requireReading"?: boolean | null; readonly "xmlNamespaces"?: readonly (NewXmlNamespace)[] | null; readonly "participantsDataFile"?: (ParticipantsDataFile) | (null); readonly "timestampEnabled"?: boolean | null; readonly "signatureType"?: "None" | "Simple" | "Advanced" | "Qualified" | null; readonly "type"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport" | null; readonly "externalId"?: string | null; readonly "reminders"?: (NewReminders) | (null); readonly "securityContextId"?: string | null; readonly "templateId"?: string | null; readonly "templateFieldValues"?: { readonly [name: string]: unknown } | null; readonly "textTags"?: boolean | null; readonly "fieldValues"?: { readonly [name: string]: ((string) | (number) | (boolean)) | (null) } | null };
export type SavedFlowItem = { readonly "id": string; readonly "name": string; readonly "creationDate": string; readonly "updateDate": string; readonly "createdBy": CreatedBy };
export type Session = { readonly "id": string; readonly "current": boolean; readonly "begunAt": string | null; readonly "lastUsedAt": string | null; readonly "expiresAt": string; readonly "ipAddress": string | null; readonly "userAgent": string | null };
export type Sessions = { readonly "items": readonly (Session)[] };
export type SignIn = { readonly "id": number; readonly "date": string; readonly "action": "SignedIn" | "SignedOut" | "SessionsEnded" | "FactorAdded" | "FactorRemoved" | "PasskeyAdded" | "PasskeyRemoved" | "FactorReset" | "FactorFailed" | "RecoveryCodesRenewed" | "RecoveryCodeUsed"; readonly "userId": string; readonly "sessionId": string | null; readonly "ipAddress": string | null; readonly "userAgent": string | null; readonly "message": string; readonly "hash": string | null };
export type SignInPage = { readonly "items": readonly (SignIn)[]; readonly "next": number | null };
export type Signature = { readonly "subjectName": string; readonly "emailAddress": string | null; readonly "issuerName": string; readonly "identifier": string | null; readonly "companyName": string | null; readonly "companyIdentifier": string | null; readonly "isElectronic": boolean; readonly "isTimestamp": boolean; readonly "signingTime": string | null; readonly "certificateThumbprint": string; readonly "validityStart": string | null; readonly "validityEnd": string | null; readonly "signatureTimestamps": readonly (SignatureTimestamp)[]; readonly "archiveTimestamps": readonly (SignatureTimestamp)[]; readonly "attributeCertificates": readonly ({ readonly "details": string; readonly "issuer": string })[]; readonly "qualification": (Qualification) | (null); readonly "evidences": {  } | null; readonly "signingProvider"?: KeepingProvider; readonly "validationResults": ValidationResults };
export type SignatureTimestamp = { readonly "displayName": string; readonly "genTime": string; readonly "validityStart": string | null; readonly "validityEnd": string | null };
export type SigningProvider = { readonly "id": string; readonly "title": string; readonly "address": string; readonly "authorization": string | null; readonly "clientId": string; readonly "returnAddress": string };
export type SigningProviderTest = { readonly "success": boolean; readonly "error": string | null };
export type SmsCodeRequest = { readonly "flowActionId": string; readonly "resend"?: boolean | null };
export type Tag = { readonly "id": string; readonly "label": string | null; readonly "value": string };
export type Template = { readonly "id": string; readonly "version": number; readonly "name": string; readonly "description": string | null; readonly "expirationDays": number | null; readonly "roles": readonly (string)[]; readonly "creationDate": string; readonly "createdBy": CreatedBy; readonly "updateDate": string; readonly "updatedBy": CreatedBy; readonly "document": { readonly [name: string]: unknown } };
export type TemplateDocuments = { readonly "participants"?: readonly ({ readonly "role": string; readonly "user": NewParticipant })[] | null; readonly "fieldValues"?: { readonly [name: string]: ((string) | (number) | (boolean)) | (null) } | null; readonly "isEnvelope"?: boolean | null; readonly "envelopeName"?: string | null; readonly "disablePendingActionNotifications"?: boolean | null; readonly "disableNotifications"?: boolean | null; readonly "description"?: string | null; readonly "folderId"?: string | null; readonly "newFolderName"?: string | null; readonly "expirationDate"?: string | null; readonly "observers"?: readonly (NewObserver)[] | null; readonly "attachments"?: readonly (NewAttachment)[] | null; readonly "notifiedEmails"?: readonly (string)[] | null; readonly "tags"?: readonly (NewTag)[] | null; readonly "additionalInfo"?: (NewAdditionalInfo) | (null); readonly "forceCadesSignature"?: boolean | null; readonly "requireReading"?: boolean | null; readonly "xmlNamespaces"?: readonly (NewXmlNamespace)[] | null; readonly "participantsDataFile"?: (ParticipantsDataFile) | (null); readonly "timestampEnabled"?: boolean | null; readonly "signatureType"?: "None" | "Simple" | "Advanced" | "Qualified" | null; readonly "type"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport" | null; readonly "externalId"?: string | null; readonly "reminders"?: (NewReminders) | (null); readonly "securityContextId"?: string | null; readonly "templateId"?: string | null; readonly "templateFieldValues"?: { readonly [name: string]: unknown } | null; readonly "textTags"?: boolean | null; readonly "version"?: number | null; readonly "documentName"?: string | null };
export type TemplateGeneration = { readonly "dataFile": { readonly "id": string; readonly "name": string; readonly "contentType": string }; readonly "skipRefusedRows"?: boolean | null; readonly "skipHiddenRows"?: boolean | null; readonly "isEnvelope"?: boolean | null; readonly "envelopeName"?: string | null; readonly "disablePendingActionNotifications"?: boolean | null; readonly "disableNotifications"?: boolean | null; readonly "description"?: string | null; readonly "folderId"?: string | null; readonly "newFolderName"?: string | null; readonly "expirationDate"?: string | null; readonly "observers"?: readonly (NewObserver)[] | null; readonly "attachments"?: readonly (NewAttachment)[] | null; readonly "notifiedEmails"?: readonly (string)[] | null; readonly "tags"?: readonly (NewTag)[] | null; readonly "additionalInfo"?: (NewAdditionalInfo) | (null); readonly "forceCadesSignature"?: boolean | null; readonly "requireReading"?: boolean | null; readonly "xmlNamespaces"?: readonly (NewXmlNamespace)[] | null; readonly "participantsDataFile"?: (ParticipantsDataFile) | (null); readonly "timestampEnabled"?: boolean | null; readonly "signatureType"?: "None" | "Simple" | "Advanced" | "Qualified" | null; readonly "type"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport" | null; readonly "externalId"?: string | null; readonly "reminders"?: (NewReminders) | (null); readonly "securityContextId"?: string | null; readonly "templateId"?: string | null; readonly "templateFieldValues"?: { readonly [name: string]: unknown } | null; readonly "textTags"?: boolean | null; readonly "version"?: number | null; readonly "documentName"?: string | null };
export type TemplateItem = { readonly "id": string; readonly "version": number; readonly "name": string; readonly "description": string | null; readonly "expirationDays": number | null; readonly "roles": readonly (string)[]; readonly "creationDate": string; readonly "createdBy": CreatedBy; readonly "updateDate": string; readonly "updatedBy": CreatedBy };
export type Upload = { readonly "id": string; readonly "name": string; readonly "contentType": string; readonly "location": string };
export type User = { readonly "id": string; readonly "name": string; readonly "identifier": string | null; readonly "email": string; readonly "phone": string | null; readonly "subject": string | null };
export type UserPage = { readonly "items": readonly (User)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
export type ValidationItem = { readonly "type": string; readonly "message": string; readonly "detail": string | null; readonly "innerValidationResults": (ValidationResults) | (null) };
export type ValidationRecord = { readonly "id": string; readonly "name": string; readonly "filename": string; readonly "mimeType": string; readonly "isConcluded": boolean; readonly "status": "Pending" | "FlowConcluded" | "Concluded" | "Refused" | "Canceled" | "Expired"; readonly "creationDate": string; readonly "updateDate": string; readonly "createdBy": CreatedBy; readonly "isEnvelope": boolean; readonly "isFile": boolean; readonly "type": string | null; readonly "signatureType": string | null; readonly "securityContext": null; readonly "signers": readonly (Signature)[] };
export type ValidationResults = { readonly "isValid": boolean; readonly "passedChecks": readonly (ValidationItem)[]; readonly "errors": readonly (ValidationItem)[]; readonly "warnings": readonly (ValidationItem)[] };
export type WaitingCode = { readonly "email": string; readonly "language"?: "en" | "pt" | "es" | "de" | "fr" | "it" | null; readonly "resend"?: boolean | null };
export type WaitingDocument = { readonly "documentId": string; readonly "flowActionId": string; readonly "userId": string; readonly "documentVersion": number; readonly "actionDate": string; readonly "name": string; readonly "organizationName": string; readonly "senderName": string | null; readonly "participantName": string | null; readonly "title": string | null; readonly "asked": "Sign" | "Approve"; readonly "creationDate": string; readonly "expirationDate": string | null; readonly "alone": "certificate" | "proof" | "initials" | "reading" | "fields" | "shared" | null; readonly "url": string };
export type WaitingDocuments = { readonly "email": string; readonly "endDate": string; readonly "items": readonly (WaitingDocument)[]; readonly "nextCursor": string | null };
export type WaitingQuery = { readonly "ticket": string; readonly "cursor"?: string | null };
export type WaitingResult = { readonly "documentId": string; readonly "flowActionId": string; readonly "userId": string; readonly "isDone": boolean; readonly "code": string | null; readonly "message": string | null };
export type WaitingResults = { readonly "results": readonly (WaitingResult)[] };
export type WaitingSession = { readonly "ticket": string; readonly "endDate": string };
export type WaitingSignatures = { readonly "ticket": string; readonly "typedName"?: string | null; readonly "documents": readonly ({ readonly "documentId": string; readonly "flowActionId": string; readonly "userId": string; readonly "documentVersion": number; readonly "actionDate": string })[] };
export type WaitingTicket = { readonly "ticket": string };
export type Webhook = { readonly "id": string; readonly "url": string; readonly "authType": "NoAuth" | "Basic" | "Bearer" | "ApiKey"; readonly "isSigned": boolean; readonly "isDisabled": boolean; readonly "disabledReason": string | null; readonly "events": readonly ("DocumentsCreated" | "DocumentSigned" | "DocumentApproved" | "DocumentRefused" | "DocumentConcluded" | "DocumentCanceled" | "DocumentExpired" | "DocumentDeleted" | "DocumentOpened" | "DocumentViewed" | "DocumentReminded" | "DocumentExpiring" | "DocumentPassedOn" | "MailFailed")[] | null };

export interface PortalOperations {
  /** Stores one file, or with a ticket one segment of a file. */
  readonly "POST /api/uploads": {
    readonly params: {  };
    readonly query: { readonly "ticket"?: string };
    readonly body: FormData;
    readonly answer: Upload;
    readonly code: "BadRequest" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Stores one file that is sent as Base64. */
  readonly "POST /api/uploads/bytes": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewBytes;
    readonly answer: { readonly "id": string; readonly "size": number; readonly "digest": string };
    readonly code: "BadRequest" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Returns a ticket for a file that is sent in segments. */
  readonly "POST /api/uploads/segmented-upload-ticket": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: string;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Sends an upload to a client with its ticket. */
  readonly "GET /api/uploads/{id}/preview": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "ticket"?: string };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "BadRequest" | "InternalError" | "RangeNotSatisfiable" | "ServiceBusy";
  };
  /** Creates documents from uploads, with a flow of participants who sign or approve them. */
  readonly "POST /api/documents": {
    readonly params: {  };
    readonly query: { readonly "isEnvelope"?: boolean; readonly "envelopeName"?: string };
    readonly body: NewDocuments;
    readonly answer: readonly (CreatedDocument)[];
    readonly code: "BadRequest" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Lists documents of the organization. */
  readonly "GET /api/documents": {
    readonly params: {  };
    readonly query: { readonly "status"?: "Pending" | "Refused" | "Concluded" | "Canceled" | "Expired" | "PendingOrRefused" | "CanceledOrExpired"; readonly "isConcluded"?: boolean; readonly "folderId"?: string; readonly "folderType"?: "Normal" | "WithoutFolder"; readonly "q"?: string; readonly "queryType"?: "Name" | "Key" | "Id" | "CreatorName" | "Tag" | "Any"; readonly "participantQ"?: string; readonly "participantQueryType"?: "Name" | "Identifier" | "Email" | "Phone"; readonly "filterByPendingSignature"?: boolean; readonly "filterByDocumentType"?: boolean; readonly "documentType"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport"; readonly "tags"?: string; readonly "isDeleted"?: boolean; readonly "externalId"?: string; readonly "createdFrom"?: string; readonly "createdTo"?: string; readonly "limit"?: number; readonly "offset"?: number; readonly "order"?: "Asc" | "Desc"; readonly "cursor"?: string };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (DocumentListItem)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns a document with its flow. */
  readonly "GET /api/documents/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Document;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Deletes a document. */
  readonly "DELETE /api/documents/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "LegalHold" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns the URLs of the signing page for one participant. */
  readonly "POST /api/documents/{id}/action-url": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: ActionUrlRequest | undefined;
    readonly answer: { readonly "url": string; readonly "embedUrl": string };
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "NoPendingActionFoundForEmailAndIdentifier" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Cancels a document for good. */
  readonly "POST /api/documents/{id}/cancellation": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: DocumentReason;
    readonly answer: undefined;
    readonly code: "BadRequest" | "CannotCancelExpiredDocument" | "DocumentAlreadyCanceled" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Refuses a document on behalf of the organization. */
  readonly "POST /api/documents/{id}/refusal": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: DocumentReason;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Retries the failed processing of a document now. */
  readonly "POST /api/documents/{id}/retry": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "ServiceBusy" | "SigningFailed" | "TooManyRequests" | "Unauthorized";
  };
  /** Replaces the file of a document and restarts its flow. */
  readonly "POST /api/documents/{id}/versions": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewVersion;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentUnreadable" | "EnvelopeRequiresPdf" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTextTag" | "LegalHold" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Replaces the files of an envelope and restarts its flow. */
  readonly "POST /api/documents/{id}/envelope/versions": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewEnvelopeVersion;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeRequiresPdf" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTextTag" | "LegalHold" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Changes the flow of a pending document. */
  readonly "POST /api/documents/{id}/flow": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: FlowEdit | undefined;
    readonly answer: { readonly "rectifiedParticipants": readonly ({ readonly "userId": string; readonly "requested": Participant; readonly "rectified": Participant })[] };
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "FieldsNotEditable" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Lists the history of a document, oldest entry first, with the proof that it was not changed. */
  readonly "GET /api/documents/{id}/history": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: HistoryPage;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Replaces the addresses that are notified when the document is concluded. */
  readonly "PUT /api/documents/{id}/notified-emails": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NotifiedEmails;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Sends the list of documents as a CSV file. */
  readonly "GET /api/documents/export": {
    readonly params: {  };
    readonly query: { readonly "status"?: "Pending" | "Refused" | "Concluded" | "Canceled" | "Expired" | "PendingOrRefused" | "CanceledOrExpired"; readonly "isConcluded"?: boolean; readonly "folderId"?: string; readonly "folderType"?: "Normal" | "WithoutFolder"; readonly "q"?: string; readonly "queryType"?: "Name" | "Key" | "Id" | "CreatorName" | "Tag" | "Any"; readonly "participantQ"?: string; readonly "participantQueryType"?: "Name" | "Identifier" | "Email" | "Phone"; readonly "filterByPendingSignature"?: boolean; readonly "filterByDocumentType"?: boolean; readonly "documentType"?: "Deed" | "PowerOfAttorney" | "Prescription" | "MedicalCertificate" | "ExamRequest" | "LabReport" | "DischargeSummary" | "ClinicalRecord" | "DrugDispensing" | "Vaccination" | "MedicalReport"; readonly "tags"?: string; readonly "isDeleted"?: boolean; readonly "externalId"?: string; readonly "createdFrom"?: string; readonly "createdTo"?: string; readonly "order"?: "Asc" | "Desc" };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Cancels or deletes all documents that match a filter, reminds their participants, or counts them. */
  readonly "POST /api/documents/operations": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewDocumentOperation;
    readonly answer: (DocumentOperation) | (DocumentOperationCount);
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Lists operations on documents, newest first. */
  readonly "GET /api/documents/operations": {
    readonly params: {  };
    readonly query: { readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (DocumentOperation)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns an operation on documents with its progress. */
  readonly "GET /api/documents/operations/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: DocumentOperation;
    readonly code: "BadRequest" | "DocumentOperationNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Cancels an operation on documents after the batch in progress. */
  readonly "POST /api/documents/operations/{id}/cancellation": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: DocumentOperation;
    readonly code: "BadRequest" | "DocumentOperationEnded" | "DocumentOperationNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Moves a document into a folder, or out of its folder. */
  readonly "POST /api/documents/{id}/folder": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: DocumentMove | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "FolderNotFound" | "Forbidden" | "InternalError" | "LegalHold" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Moves several documents, and returns the result for each. */
  readonly "POST /api/documents/batch/folder": {
    readonly params: {  };
    readonly query: {  };
    readonly body: DocumentsMove;
    readonly answer: readonly ({ readonly "id": string; readonly "success": boolean; readonly "errorMessage": string | null })[];
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Sends a file of the document, whole or one range of it. */
  readonly "GET /api/documents/{id}/content": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "type"?: "Original" | "Signatures" | "PrinterFriendlyVersion" | "SigningTags" | "SignatureMarks" | "OriginalWithMarks" | "SignaturesManifest" };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentIsDeleted" | "DocumentNotFound" | "DownloadTypeNotAvailable" | "Forbidden" | "InternalError" | "RangeNotSatisfiable" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Sends an attachment of the document, whole or one range of it. */
  readonly "GET /api/documents/{id}/attachments/{attachmentId}/content": {
    readonly params: { readonly "id": string; readonly "attachmentId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "AttachmentNotFound" | "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "RangeNotSatisfiable" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Sends a file of the document as Base64. */
  readonly "GET /api/documents/{id}/content-b64": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "type"?: "Original" | "Signatures" | "PrinterFriendlyVersion" | "SigningTags" | "SignatureMarks" | "OriginalWithMarks" | "SignaturesManifest" };
    readonly body: undefined;
    readonly answer: { readonly "bytes": string; readonly "name": string; readonly "contentType": string };
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentIsDeleted" | "DocumentNotFound" | "DownloadTypeNotAvailable" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns a path from which a file of the document can be downloaded without a key for one hour. */
  readonly "GET /api/documents/{id}/ticket": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "type"?: "Original" | "Signatures" | "PrinterFriendlyVersion" | "SigningTags" | "SignatureMarks" | "OriginalWithMarks" | "SignaturesManifest"; readonly "preview"?: boolean };
    readonly body: undefined;
    readonly answer: { readonly "location": string };
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentIsDeleted" | "DocumentNotFound" | "DownloadTypeNotAvailable" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Sends the file of a ticket. */
  readonly "GET /api/documents/{id}/download": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "ticket"?: string };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentIsDeleted" | "DocumentNotFound" | "DownloadTypeNotAvailable" | "InternalError" | "RangeNotSatisfiable" | "ServiceBusy";
  };
  /** Sends a ZIP file with one file of each document. */
  readonly "POST /api/documents/archive": {
    readonly params: {  };
    readonly query: {  };
    readonly body: DocumentPackage;
    readonly answer: never;
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentIsDeleted" | "DocumentNotFound" | "DownloadTypeNotAvailable" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Sends one PDF with the pages of several documents, without their signatures. */
  readonly "POST /api/documents/combined": {
    readonly params: {  };
    readonly query: {  };
    readonly body: DocumentPackage;
    readonly answer: never;
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentUnreadable" | "DownloadTypeNotAvailable" | "EnvelopeRequiresPdf" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Signs electronically, with a key. */
  readonly "POST /api/documents/{id}/electronic-signature": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: ElectronicSignature | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentNotRead" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidAuthenticationCode" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "SigningFailed" | "TooManyRequests" | "TooManyWrongCodes" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound" | "VersionChanged";
  };
  /** Signs electronically, with a ticket. */
  readonly "POST /api/documents/keys/{key}/electronic-signature": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: ElectronicSignature | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentNotRead" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidAuthenticationCode" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "SigningFailed" | "TooManyRequests" | "TooManyWrongCodes" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound" | "VersionChanged";
  };
  /** Starts a signature with a certificate whose key stays with the participant, with a key. */
  readonly "POST /api/documents/{id}/signature/certificate": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: CertificateSignatureStart;
    readonly answer: { readonly "success": boolean; readonly "token": string | null; readonly "toSignHash": string | null; readonly "toSign": string | null; readonly "digestAlgorithm": string | null; readonly "validationResults": ValidationResults };
    readonly code: "BadRequest" | "CertificateNotFound" | "CpfMismatch" | "CpfNotExpected" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentUnreadable" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "SigningFailed" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound" | "VersionChanged";
  };
  /** Starts a signature with a certificate whose key stays with the participant, with a ticket. */
  readonly "POST /api/documents/keys/{key}/signature/certificate": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: CertificateSignatureStart;
    readonly answer: { readonly "success": boolean; readonly "token": string | null; readonly "toSignHash": string | null; readonly "toSign": string | null; readonly "digestAlgorithm": string | null; readonly "validationResults": ValidationResults };
    readonly code: "BadRequest" | "CertificateNotFound" | "CpfMismatch" | "CpfNotExpected" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentUnreadable" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "SigningFailed" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound" | "VersionChanged";
  };
  /** Completes a signature with a certificate, with a key. */
  readonly "POST /api/documents/{id}/signature": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: CertificateSignature;
    readonly answer: { readonly "success": boolean; readonly "validationResults": ValidationResults; readonly "token"?: string | null; readonly "toSignHash"?: string | null; readonly "toSign"?: string | null; readonly "digestAlgorithm"?: string | null };
    readonly code: "BadRequest" | "CertificateNotFound" | "CpfMismatch" | "CpfNotExpected" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentNotRead" | "DocumentUnreadable" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "SigningFailed" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound" | "VersionChanged";
  };
  /** Completes a signature with a certificate, with a ticket. */
  readonly "POST /api/documents/keys/{key}/signature": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: CertificateSignature;
    readonly answer: { readonly "success": boolean; readonly "validationResults": ValidationResults; readonly "token"?: string | null; readonly "toSignHash"?: string | null; readonly "toSign"?: string | null; readonly "digestAlgorithm"?: string | null };
    readonly code: "BadRequest" | "CertificateNotFound" | "CpfMismatch" | "CpfNotExpected" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentNotRead" | "DocumentUnreadable" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "SigningFailed" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound" | "VersionChanged";
  };
  /** Approves as a participant, with a ticket. */
  readonly "POST /api/documents/keys/{key}/approval": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: Approval | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentNotRead" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "Unauthorized" | "UnsupportedMediaType" | "VersionChanged";
  };
  /** Refuses as a participant, with a ticket. */
  readonly "POST /api/documents/keys/{key}/participant-refusal": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: ParticipantRefusal;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "Unauthorized" | "UnsupportedMediaType" | "VersionChanged";
  };
  /** Hands the action of a participant on to another person, with a ticket. */
  readonly "POST /api/documents/keys/{key}/passing-on": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: PassingOn;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidAuthenticationCode" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTicket" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "TooManyWrongCodes" | "Unauthorized" | "UnsupportedMediaType" | "VersionChanged";
  };
  /** Records that a participant has opened the document, or has seen its last page. */
  readonly "POST /api/documents/keys/{key}/view": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: DocumentOpening | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "Unauthorized" | "UnsupportedMediaType" | "VersionChanged";
  };
  /** Sends the participant a code of six digits by e-mail, SMS or WhatsApp. */
  readonly "POST /api/documents/keys/{key}/email-authentication-code": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: EmailCodeRequest | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "TooManyWrongCodes" | "Unauthorized" | "UnsupportedMediaType" | "VersionChanged";
  };
  /** Sends the participant a code by SMS or WhatsApp, as the action requires. */
  readonly "POST /api/documents/sms-authentication-code": {
    readonly params: {  };
    readonly query: {  };
    readonly body: SmsCodeRequest;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "TooManyWrongCodes" | "Unauthorized" | "UnsupportedMediaType" | "VersionChanged";
  };
  /** Answers what the browser of a participant is asked for a passkey. */
  readonly "POST /api/documents/keys/{key}/passkey-options": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: PasskeyOptionsRequest | undefined;
    readonly answer: PasskeyOptions;
    readonly code: "BadRequest" | "DocumentInvalidKey" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "Unauthorized" | "UnsupportedMediaType" | "VersionChanged";
  };
  /** Removes the authenticator app and the passkeys of a participant, who lost them. */
  readonly "POST /api/documents/authenticator-app-reset": {
    readonly params: {  };
    readonly query: {  };
    readonly body: AuthenticatorAppReset;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "InvalidFlowAction" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Takes a file that a participant attaches, with a ticket. */
  readonly "POST /api/documents/keys/{key}/uploads": {
    readonly params: { readonly "key": string };
    readonly query: { readonly "ticket"?: string; readonly "field": string };
    readonly body: FormData;
    readonly answer: FieldUpload;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidTicket" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Sends a code to a mailbox, if documents wait for it. */
  readonly "POST /api/waiting/code": {
    readonly params: {  };
    readonly query: {  };
    readonly body: WaitingCode;
    readonly answer: undefined;
    readonly code: "BadRequest" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "TooManyWrongCodes" | "UnsupportedMediaType";
  };
  /** Takes the code of a mailbox and begins a session. */
  readonly "POST /api/waiting/session": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewWaitingSession;
    readonly answer: WaitingSession;
    readonly code: "BadRequest" | "InternalError" | "InvalidAuthenticationCode" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "TooManyWrongCodes" | "UnsupportedMediaType";
  };
  /** Lists the documents of all organizations that wait for the mailbox of a session. */
  readonly "POST /api/waiting/documents": {
    readonly params: {  };
    readonly query: {  };
    readonly body: WaitingQuery;
    readonly answer: WaitingDocuments;
    readonly code: "BadRequest" | "InternalError" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Signs or approves documents that ask no more than that, in one act. */
  readonly "POST /api/waiting/signatures": {
    readonly params: {  };
    readonly query: {  };
    readonly body: WaitingSignatures;
    readonly answer: WaitingResults;
    readonly code: "BadRequest" | "InternalError" | "InvalidTicket" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Ends the session of a mailbox. */
  readonly "POST /api/waiting/session/end": {
    readonly params: {  };
    readonly query: {  };
    readonly body: WaitingTicket;
    readonly answer: undefined;
    readonly code: "BadRequest" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Returns the deputies of the person of a session, and the people whose deputy the person is. */
  readonly "POST /api/waiting/deputies/view": {
    readonly params: {  };
    readonly query: {  };
    readonly body: DeputiesQuery;
    readonly answer: Deputies;
    readonly code: "BadRequest" | "InternalError" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Names a deputy with a start and an end. */
  readonly "POST /api/waiting/deputies": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewDeputy;
    readonly answer: Deputy;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "InvalidAuthenticationCode" | "InvalidFlowAction" | "InvalidTicket" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "UnsupportedMediaType";
  };
  /** Ends a deputy now, by the person or by the deputy. */
  readonly "POST /api/waiting/deputies/end": {
    readonly params: {  };
    readonly query: {  };
    readonly body: DeputyToEnd;
    readonly answer: undefined;
    readonly code: "BadRequest" | "InternalError" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Lists what waits for a person and may be done by a deputy. */
  readonly "POST /api/waiting/deputies/documents": {
    readonly params: {  };
    readonly query: {  };
    readonly body: DeputyQuery;
    readonly answer: DeputyDocuments;
    readonly code: "BadRequest" | "InternalError" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Sends the file of a document to the deputy of its person. */
  readonly "POST /api/waiting/deputies/content": {
    readonly params: {  };
    readonly query: {  };
    readonly body: DeputyReading;
    readonly answer: never;
    readonly code: "BadRequest" | "DocumentNotFound" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "RangeNotSatisfiable" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Signs or approves in place of the person whose deputy the person of a session is. */
  readonly "POST /api/waiting/deputies/act": {
    readonly params: {  };
    readonly query: {  };
    readonly body: DeputyAct;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentNotFound" | "InternalError" | "InvalidDocumentStatus" | "InvalidFlowAction" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Returns the deputies who may act on a document now. */
  readonly "GET /api/documents/{id}/deputies": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: readonly (DocumentDeputy)[];
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Validates the signatures of a document by its validation key. */
  readonly "GET /api/documents/keys/{key}/signatures": {
    readonly params: { readonly "key": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: ValidationRecord;
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentInvalidKey" | "DocumentIsDeleted" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Validates the signatures of a document. */
  readonly "GET /api/documents/{id}/signatures-details": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: ValidationRecord;
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns the validation report of a document (ETSI TS 119 102-2). */
  readonly "GET /api/documents/{id}/validation-report": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentUnreadable" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Validates the signatures of an uploaded file. */
  readonly "POST /api/documents/validate-signatures": {
    readonly params: {  };
    readonly query: {  };
    readonly body: FileToValidate;
    readonly answer: readonly (Signature)[];
    readonly code: "BadRequest" | "DocumentHasNoSignatures" | "DocumentUnreadable" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Reminds a participant whose action is pending. */
  readonly "POST /api/notifications/flow-action-reminder": {
    readonly params: {  };
    readonly query: {  };
    readonly body: ParticipantReminder;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "FlowActionNotFound" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Replaces the schedule of reminders and of warnings before expiry. */
  readonly "PUT /api/documents/{id}/reminders": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewReminders | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Sends each address an e-mail that lists its pending documents. */
  readonly "POST /api/users/notify-pending": {
    readonly params: {  };
    readonly query: {  };
    readonly body: PendingNotification;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "InvalidFlowAction" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Creates a folder. */
  readonly "POST /api/folders": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewFolder;
    readonly answer: Folder;
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Lists folders of the organization. */
  readonly "GET /api/folders": {
    readonly params: {  };
    readonly query: { readonly "q"?: string; readonly "filterByParent"?: boolean; readonly "parentId"?: string; readonly "limit"?: number; readonly "offset"?: number; readonly "order"?: "Asc" | "Desc" };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (Folder)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns a folder with its organization. */
  readonly "GET /api/folders/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: FolderDetail;
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns a folder with its access rules, of which there are none. */
  readonly "GET /api/folders/{id}/details": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: { readonly "id": string; readonly "name": string; readonly "folderAccesses": readonly ({ readonly "id": string; readonly "userId": string; readonly "folderRoles": readonly ("Admin" | "Manager" | "Basic")[]; readonly "organizationRoles": readonly (string)[]; readonly "userName": string | null; readonly "userIdentifier": string | null })[] };
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Deletes a folder, and moves or deletes its content. */
  readonly "POST /api/folders/{id}/delete": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: FolderDeletion;
    readonly answer: undefined;
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "LegalHold" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Returns who has which right on a folder. */
  readonly "GET /api/folders/{id}/grants": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: FolderGrants;
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Replaces the grants of a folder. */
  readonly "PUT /api/folders/{id}/grants": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewFolderGrants;
    readonly answer: FolderGrants;
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "GrantsChanged" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UserNotFound";
  };
  /** Finds users and groups to whom a right can be given. */
  readonly "GET /api/folders/{id}/grantees": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "q"?: string };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (Grantee)[] };
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Erases a person from the documents of the organization. */
  readonly "POST /api/erasures": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewErasure;
    readonly answer: Erasure;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Lists the reports of erasures, newest first. */
  readonly "GET /api/erasures": {
    readonly params: {  };
    readonly query: { readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (Erasure)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns the rules by which documents of the organization are deleted. */
  readonly "GET /api/retention": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Retention;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Replaces the rules by which documents of the organization are deleted. */
  readonly "PUT /api/retention": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewRetention;
    readonly answer: Retention;
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Lists what is held, what a rule will delete, and what a rule has deleted. */
  readonly "GET /api/retention/documents": {
    readonly params: {  };
    readonly query: { readonly "list"?: "Held" | "Planned" | "Deleted"; readonly "limit"?: number; readonly "offset"?: number; readonly "order"?: "Asc" | "Desc" };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (RetentionItem)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns the legal hold on a document, and when a rule will delete it. */
  readonly "GET /api/documents/{id}/retention": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: DocumentRetention;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Puts a document under legal hold, or ends the hold. */
  readonly "PUT /api/documents/{id}/hold": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: LegalHold | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Puts a folder under legal hold, or ends the hold. */
  readonly "PUT /api/folders/{id}/hold": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: LegalHold | undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Lists drafts that are not sent. */
  readonly "GET /api/document-drafts": {
    readonly params: {  };
    readonly query: { readonly "q"?: string; readonly "limit"?: number; readonly "offset"?: number; readonly "order"?: "Asc" | "Desc" };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (DocumentDraftItem)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates a draft: a request for documents, which may be incomplete, with its files. */
  readonly "POST /api/document-drafts": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewDocumentDraft;
    readonly answer: DocumentDraftItem;
    readonly code: "BadRequest" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Returns a draft with its request. */
  readonly "GET /api/document-drafts/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: DocumentDraft;
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Replaces the name and the request of a draft. */
  readonly "PUT /api/document-drafts/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewDocumentDraft;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Deletes a draft. */
  readonly "DELETE /api/document-drafts/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates the documents of a draft; a repeated call returns the same documents. */
  readonly "POST /api/document-drafts/{id}/send": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: readonly (CreatedDocument)[];
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "ServiceBusy" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UploadNotFound";
  };
  /** Creates a link to the editor for a draft or for files. */
  readonly "POST /api/editor-sessions": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewEditorSession | undefined;
    readonly answer: EditorSessionLink;
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Uses a link and starts its session. */
  readonly "POST /api/editor-sessions/open": {
    readonly params: {  };
    readonly query: {  };
    readonly body: EditorSessionOpening;
    readonly answer: OpenedEditorSession;
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "InternalError" | "InvalidTicket" | "PayloadTooLarge" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Returns the draft of the session. */
  readonly "GET /api/editor-sessions/current": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: EditorSession;
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Saves the draft of the session. */
  readonly "PUT /api/editor-sessions/current": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewDocumentDraft;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Ends the session; the draft is kept. */
  readonly "DELETE /api/editor-sessions/current": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Stores a file for the draft of the session. */
  readonly "POST /api/editor-sessions/current/uploads": {
    readonly params: {  };
    readonly query: {  };
    readonly body: FormData;
    readonly answer: Upload;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Creates the documents of the draft of the session; a repeated call returns the same documents. */
  readonly "POST /api/editor-sessions/current/send": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: readonly (CreatedDocument)[];
    readonly code: "BadRequest" | "DocumentDraftNotFound" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "InternalError" | "InvalidDocumentStatus" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "ServiceBusy" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UploadNotFound";
  };
  /** Lists templates, each in its newest version. */
  readonly "GET /api/templates": {
    readonly params: {  };
    readonly query: { readonly "q"?: string; readonly "limit"?: number; readonly "offset"?: number; readonly "order"?: "Asc" | "Desc"; readonly "role"?: string; readonly "cursor"?: string };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (TemplateItem)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates a template: a creation request with its files, in which the titles of flow actions are roles. */
  readonly "POST /api/templates": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewTemplate;
    readonly answer: TemplateItem;
    readonly code: "BadRequest" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Returns a template in its newest version, or in another one that is kept. */
  readonly "GET /api/templates/{id}": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "version"?: number };
    readonly body: undefined;
    readonly answer: Template;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TemplateNotFound" | "TemplateVersionNotFound" | "TooManyRequests" | "Unauthorized";
  };
  /** Adds a version to a template; documents created from earlier versions do not change. */
  readonly "PUT /api/templates/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewTemplate;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TemplateNotFound" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Deletes a template with all its versions; documents created from it do not change. */
  readonly "DELETE /api/templates/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TemplateNotFound" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates a template from the files, flow and fields of a document, without its people. */
  readonly "POST /api/templates/from-document": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewTemplateOfDocument;
    readonly answer: TemplateItem;
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Lists the versions of a template that are kept, newest first. */
  readonly "GET /api/templates/{id}/versions": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: readonly (TemplateItem)[];
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TemplateNotFound" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates documents from a template, with people for its roles and values for its fields. */
  readonly "POST /api/templates/{id}/documents": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: TemplateDocuments | undefined;
    readonly answer: readonly (CreatedDocument)[];
    readonly code: "BadRequest" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TemplateNotFound" | "TemplateVersionNotFound" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Creates documents from a template for every row of a table, whose columns are people and fields. */
  readonly "POST /api/templates/{id}/generation": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: TemplateGeneration;
    readonly answer: DocumentGeneration;
    readonly code: "BadRequest" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidGenerationFile" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TemplateNotFound" | "TemplateVersionNotFound" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Lists links for anybody, also those that have ended. */
  readonly "GET /api/public-links": {
    readonly params: {  };
    readonly query: { readonly "q"?: string; readonly "limit"?: number; readonly "offset"?: number; readonly "order"?: "Asc" | "Desc"; readonly "templateId"?: string; readonly "cursor"?: string };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (PublicLink)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates a link of a template that anybody can use: each visit makes one document. */
  readonly "POST /api/public-links": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewPublicLink;
    readonly answer: PublicLink;
    readonly code: "BadRequest" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidBranding" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TemplateNotFound" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Returns a link for anybody with its state. */
  readonly "GET /api/public-links/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: PublicLink;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "PublicLinkNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Ends a link for anybody; documents that were made with it do not change. */
  readonly "POST /api/public-links/{id}/end": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "PublicLinkNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Opens a device of the sender, such as a tablet at a counter, at which persons sign one after the other. */
  readonly "POST /api/public-links/{id}/devices": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewPublicLinkDevice;
    readonly answer: OpenedPublicLinkDevice;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "InvalidFlowAction" | "LimitExceeded" | "PayloadTooLarge" | "PublicLinkEnded" | "PublicLinkExpired" | "PublicLinkFull" | "PublicLinkNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Ends a device, wherever it is. */
  readonly "POST /api/public-links/{id}/devices/{deviceId}/end": {
    readonly params: { readonly "id": string; readonly "deviceId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "PublicLinkNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns what a link for anybody asks of its visitor. */
  readonly "POST /api/public-links/view": {
    readonly params: {  };
    readonly query: {  };
    readonly body: PublicLinkTicket;
    readonly answer: PublicLinkPage;
    readonly code: "BadRequest" | "InternalError" | "PayloadTooLarge" | "PublicLinkEnded" | "PublicLinkExpired" | "PublicLinkFull" | "PublicLinkNotFound" | "ServiceBusy" | "UnsupportedMediaType";
  };
  /** Sends the visitor of a link a code to the given address or number. */
  readonly "POST /api/public-links/code": {
    readonly params: {  };
    readonly query: {  };
    readonly body: PublicLinkCode;
    readonly answer: undefined;
    readonly code: "BadRequest" | "InternalError" | "PayloadTooLarge" | "PublicLinkEnded" | "PublicLinkExpired" | "PublicLinkFull" | "PublicLinkNotFound" | "ServiceBusy" | "TooManyRequests" | "TooManyWrongCodes" | "UnsupportedMediaType";
  };
  /** Makes the document of a visit and returns the address at which the visitor signs. */
  readonly "POST /api/public-links/documents": {
    readonly params: {  };
    readonly query: {  };
    readonly body: PublicLinkVisit;
    readonly answer: PublicLinkDocument;
    readonly code: "BadRequest" | "InternalError" | "InvalidAuthenticationCode" | "InvalidFieldValue" | "LimitExceeded" | "PayloadTooLarge" | "PublicLinkEnded" | "PublicLinkExpired" | "PublicLinkFull" | "PublicLinkNotFound" | "PublicLinkPersonFull" | "ServiceBusy" | "TooManyRequests" | "TooManyWrongCodes" | "UnsupportedMediaType";
  };
  /** Lists saved flows. */
  readonly "GET /api/document-flows": {
    readonly params: {  };
    readonly query: { readonly "q"?: string; readonly "limit"?: number; readonly "offset"?: number; readonly "order"?: "Asc" | "Desc" };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (SavedFlowItem)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Saves a flow. */
  readonly "POST /api/document-flows": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewSavedFlow;
    readonly answer: SavedFlowItem;
    readonly code: "BadRequest" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Returns a saved flow as it was sent. */
  readonly "GET /api/document-flows/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: SavedFlow;
    readonly code: "BadRequest" | "DocumentFlowNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Replaces a saved flow. */
  readonly "PUT /api/document-flows/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewSavedFlow;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentFlowNotFound" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Deletes a saved flow. */
  readonly "DELETE /api/document-flows/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DocumentFlowNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates documents from uploads with a saved flow and the people for its roles. */
  readonly "POST /api/document-flows/{id}/documents": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: SavedFlowDocuments;
    readonly answer: readonly (CreatedDocument)[];
    readonly code: "BadRequest" | "DocumentFlowNotFound" | "DocumentUnreadable" | "EnvelopeFileSigned" | "EnvelopeNameRequired" | "EnvelopeRequiresPdf" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidIdentifier" | "InvalidTextTag" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TimestampNotAvailable" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Creates a session in which a person places marks on uploads. */
  readonly "POST /api/marks-sessions": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewMarksSession;
    readonly answer: { readonly "id": string; readonly "embedUrl": string };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Creates a session in which a person places marks on the files of a creation request. */
  readonly "POST /api/marks-sessions/documents": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewDocuments;
    readonly answer: { readonly "id": string; readonly "embedUrl": string };
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Returns a marks session. */
  readonly "GET /api/marks-sessions/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: MarksSession;
    readonly code: "BadRequest" | "InternalError" | "MarksSessionNotFound" | "ServiceBusy";
  };
  /** Returns a marks session. */
  readonly "GET /api/marks-session/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: MarksSession;
    readonly code: "BadRequest" | "InternalError" | "MarksSessionNotFound" | "ServiceBusy";
  };
  /** Creates a document from a text template for every row of a table. */
  readonly "POST /api/documents/generation": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewDocumentGeneration;
    readonly answer: DocumentGeneration;
    readonly code: "BadRequest" | "FolderNotFound" | "Forbidden" | "IdempotencyConflict" | "InternalError" | "InvalidFieldValue" | "InvalidFlowAction" | "InvalidGenerationFile" | "InvalidIdentifier" | "LimitExceeded" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UploadNotFound";
  };
  /** Returns a generation with its progress. */
  readonly "GET /api/documents/generation/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: DocumentGeneration;
    readonly code: "BadRequest" | "DocumentGenerationNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Lists the rows of a generation, with their documents or the reason of a refusal. */
  readonly "GET /api/documents/generation/{id}/rows": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: { readonly "items": readonly (DocumentGenerationRow)[]; readonly "totalCount": number; readonly "nextCursor": string | null };
    readonly code: "BadRequest" | "DocumentGenerationNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Cancels a generation after the rows in progress; its documents stay. */
  readonly "POST /api/documents/generation/{id}/cancellation": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: DocumentGeneration;
    readonly code: "BadRequest" | "DocumentGenerationNotFound" | "DocumentOperationEnded" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates a report of the documents created in a period. */
  readonly "POST /api/reports/documents/date": {
    readonly params: {  };
    readonly query: {  };
    readonly body: Period | undefined;
    readonly answer: ReportLocation;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Counts the documents and envelopes created in a period. */
  readonly "POST /api/documents/date": {
    readonly params: {  };
    readonly query: {  };
    readonly body: Period | undefined;
    readonly answer: CreationTotals;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Sends the report of a ticket. */
  readonly "GET /api/reports/{id}": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "access_ticket"?: string };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "BadRequest" | "InternalError" | "RangeNotSatisfiable" | "ServiceBusy";
  };
  /** Lists the people of the organization. */
  readonly "GET /api/organizations/users": {
    readonly params: {  };
    readonly query: { readonly "q"?: string; readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: OrganizationUserPage;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Adds a person to the organization, or changes the access profile of a member. */
  readonly "POST /api/organizations/users": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewOrganizationUser;
    readonly answer: OrganizationUser;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "NameTaken" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Removes a person from the organization. */
  readonly "DELETE /api/organizations/users/{userId}": {
    readonly params: { readonly "userId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UserNotFound";
  };
  /** Exports sign-ins and ends of sessions of users, oldest first. */
  readonly "GET /api/organizations/sign-ins": {
    readonly params: {  };
    readonly query: { readonly "after"?: string; readonly "limit"?: number };
    readonly body: undefined;
    readonly answer: SignInPage;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Sends the entries of sign-ins as a CSV file, oldest first. */
  readonly "GET /api/organizations/sign-ins/export": {
    readonly params: {  };
    readonly query: { readonly "after"?: string };
    readonly body: undefined;
    readonly answer: never;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Lists the open sessions of a user in the organization, newest first. */
  readonly "GET /api/sessions": {
    readonly params: {  };
    readonly query: { readonly "userId"?: string };
    readonly body: undefined;
    readonly answer: Sessions;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UserNotFound";
  };
  /** Ends one session of a user, or all. */
  readonly "DELETE /api/sessions": {
    readonly params: {  };
    readonly query: { readonly "userId"?: string; readonly "id"?: string };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UserNotFound";
  };
  /** Lists the people of all organizations. */
  readonly "GET /api/users": {
    readonly params: {  };
    readonly query: { readonly "q"?: string; readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: UserPage;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates or changes the person with this id in another system. */
  readonly "PUT /api/users/{subject}": {
    readonly params: { readonly "subject": string };
    readonly query: {  };
    readonly body: NewUser;
    readonly answer: User;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "NameTaken" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "UserNotFound";
  };
  /** Lists the people of an organization. */
  readonly "GET /api/organizations/{id}/users": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "q"?: string; readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: OrganizationUserPage;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Adds a person to an organization, or changes the access profile of a member. */
  readonly "POST /api/organizations/{id}/users": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewOrganizationUser;
    readonly answer: OrganizationUser;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "NameTaken" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Removes a person from an organization. */
  readonly "DELETE /api/admin/organizations/{id}/users/{userId}": {
    readonly params: { readonly "id": string; readonly "userId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UserNotFound";
  };
  /** Returns the organization of the key, with its webhooks. */
  readonly "GET /api/organizations/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: OwnOrganization;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Lists the organizations of the instance. */
  readonly "GET /api/admin/organizations": {
    readonly params: {  };
    readonly query: { readonly "q"?: string; readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: OrganizationPage;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Creates an organization. */
  readonly "POST /api/admin/organizations": {
    readonly params: {  };
    readonly query: {  };
    readonly body: NewOrganization;
    readonly answer: Organization;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "NameTaken" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Returns an organization with its applications and their keys. */
  readonly "GET /api/admin/organizations/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Organization;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Changes settings of an organization; members that are left out do not change. */
  readonly "PATCH /api/admin/organizations/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: OrganizationChanges | undefined;
    readonly answer: Organization;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Creates an application, which has no key yet. */
  readonly "POST /api/admin/organizations/{id}/applications": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewApplication;
    readonly answer: Application;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "NameTaken" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Creates a key, which is returned only once; an application has at most two. */
  readonly "POST /api/admin/organizations/{id}/applications/{applicationId}/keys": {
    readonly params: { readonly "id": string; readonly "applicationId": string };
    readonly query: {  };
    readonly body: NewKey | undefined;
    readonly answer: CreatedKey;
    readonly code: "ApplicationNotFound" | "BadRequest" | "Forbidden" | "InternalError" | "KeyLimitReached" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Revokes a key. */
  readonly "DELETE /api/admin/organizations/{id}/applications/{applicationId}/keys/{keyId}": {
    readonly params: { readonly "id": string; readonly "applicationId": string; readonly "keyId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "ApplicationNotFound" | "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns the branding of the organization of the key. */
  readonly "GET /api/organizations/{id}/branding": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Branding;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Replaces colors, texts of mails and the page after signing; the logo stays. */
  readonly "PUT /api/organizations/{id}/branding": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewBranding | undefined;
    readonly answer: Branding;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "InvalidBranding" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Sets the logo: a PNG or JPEG file of at most 64 KiB and 1200 x 600 pixels. */
  readonly "PUT /api/organizations/{id}/branding/logo": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewLogo;
    readonly answer: Branding;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "InvalidBranding" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Removes the logo. */
  readonly "DELETE /api/organizations/{id}/branding/logo": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Branding;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns an e-mail with sample data; nothing is sent. */
  readonly "POST /api/organizations/{id}/branding/preview": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewMailPreview;
    readonly answer: MailPreview;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "InvalidBranding" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Lists the webhooks of the organization. */
  readonly "GET /api/organizations/{id}/webhooks": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: readonly (Webhook)[];
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Registers a webhook. */
  readonly "POST /api/organizations/{id}/webhooks": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewWebhook;
    readonly answer: Webhook;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "MaxWebhooksLimitReached" | "OperationNotSupportedInPersonalOrganizations" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "WebhookUrlNotAllowed";
  };
  /** Changes a webhook, and enables it again. */
  readonly "PUT /api/organizations/{id}/webhooks/{webhookId}": {
    readonly params: { readonly "id": string; readonly "webhookId": string };
    readonly query: {  };
    readonly body: NewWebhook;
    readonly answer: Webhook;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType" | "WebhookNotFound" | "WebhookUrlNotAllowed";
  };
  /** Removes a webhook. */
  readonly "DELETE /api/organizations/{id}/webhooks/{webhookId}": {
    readonly params: { readonly "id": string; readonly "webhookId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "WebhookNotFound";
  };
  /** Sends a test event to a webhook and returns the response. */
  readonly "POST /api/organizations/{id}/webhooks/{webhookId}/test": {
    readonly params: { readonly "id": string; readonly "webhookId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: Delivery;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "WebhookNotFound" | "WebhookUrlNotAllowed";
  };
  /** Lists deliveries of webhooks, newest first. */
  readonly "GET /api/organizations/{id}/deliveries": {
    readonly params: { readonly "id": string };
    readonly query: { readonly "webhookId"?: string; readonly "status"?: "Pending" | "Delivered" | "Failed"; readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: DeliveryPage;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "WebhookNotFound";
  };
  /** Sends a delivery again. */
  readonly "POST /api/organizations/{id}/deliveries/{deliveryId}/resend": {
    readonly params: { readonly "id": string; readonly "deliveryId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "DeliveryNotFound" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Sends the deliveries of a period again. */
  readonly "POST /api/organizations/{id}/deliveries/replay": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: DeliveryReplay;
    readonly answer: ReplayedDeliveries;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Lists the signing providers of the organization. */
  readonly "GET /api/organizations/{id}/signing-providers": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: readonly (SigningProvider)[];
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Adds a remote signing service at which participants sign with certificates that it keeps. */
  readonly "POST /api/organizations/{id}/signing-providers": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: NewSigningProvider;
    readonly answer: SigningProvider;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "LimitExceeded" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Changes a signing provider. */
  readonly "PUT /api/organizations/{id}/signing-providers/{providerId}": {
    readonly params: { readonly "id": string; readonly "providerId": string };
    readonly query: {  };
    readonly body: NewSigningProvider;
    readonly answer: SigningProvider;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Removes a signing provider. */
  readonly "DELETE /api/organizations/{id}/signing-providers/{providerId}": {
    readonly params: { readonly "id": string; readonly "providerId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Asks a signing provider whether it signs hashes and knows the client. */
  readonly "POST /api/organizations/{id}/signing-providers/{providerId}/test": {
    readonly params: { readonly "id": string; readonly "providerId": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: SigningProviderTest;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "OrganizationNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Lists the e-mails about a document with their delivery status, oldest first. */
  readonly "GET /api/documents/{id}/mails": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: readonly (Mail)[];
    readonly code: "BadRequest" | "DocumentIsDeleted" | "DocumentNotFound" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Lists the e-mails of all organizations, newest first. */
  readonly "GET /api/admin/mails": {
    readonly params: {  };
    readonly query: { readonly "status"?: "Queued" | "Waiting" | "Sent" | "Failed"; readonly "limit"?: number; readonly "offset"?: number };
    readonly body: undefined;
    readonly answer: MailPage;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Returns an e-mail with its delivery status and its last failed attempts. */
  readonly "GET /api/admin/mails/{id}": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: MailDetail;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "MailNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Sends an e-mail now that waits for its next attempt, or failed. */
  readonly "POST /api/admin/mails/{id}/retry": {
    readonly params: { readonly "id": string };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: undefined;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "MailAlreadySent" | "MailNotFound" | "ServiceBusy" | "TooManyRequests" | "Unauthorized";
  };
  /** Sends all e-mails again that failed since a time. */
  readonly "POST /api/admin/mails/retry": {
    readonly params: {  };
    readonly query: {  };
    readonly body: FailedMailsRetry;
    readonly answer: RetriedMails;
    readonly code: "BadRequest" | "Forbidden" | "InternalError" | "PayloadTooLarge" | "ServiceBusy" | "TooManyRequests" | "Unauthorized" | "UnsupportedMediaType";
  };
  /** Reports that the process is running. */
  readonly "GET /api/health": {
    readonly params: {  };
    readonly query: {  };
    readonly body: undefined;
    readonly answer: { readonly "status": "Healthy" };
    readonly code: "BadRequest" | "InternalError" | "ServiceBusy";
  };
}
