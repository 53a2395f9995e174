/**
 * The portal, as its HTTP layer calls it. Times are milliseconds since the epoch; HTTP writes them as ISO 8601. Every
 * method refuses with a `PortalRefusal`; ids of another organization are treated as unknown.
 *
 * Source: docs/portal-values.md §0; docs/portal-values.md (sections named at each part).
 */

export type { AskedSecret } from '../shared/key-services/csc-secrets.ts';
export type { Administration, ApplicationView, OrganizationView } from './accounts/administration.ts';
export type { OperatorKeys } from './accounts/operator-keys.ts';
export type { PasskeyCreation, PasskeyRequest } from './accounts/passkeys.ts';
export type { PortalProvider, ProviderOutcome, ProviderSignIn } from './accounts/provider-sign-in.ts';
export type {
  FactorEnrolment,
  FactorOutcome,
  FactorOwner,
  FactorState,
  PendingSignIn,
  SecondFactorProof,
  SecondFactors,
} from './accounts/second-factors.ts';
export { formTokenOf } from './accounts/session-tokens.ts';
export type { SignedInUser, SignInLinkView, UserSignIn } from './accounts/sign-in.ts';
export type { SessionView, UserSessions } from './accounts/user-sessions.ts';
export type { UserDirectory } from './accounts/users.ts';
export type * from './api/activity.ts';
export * from './api/callers.ts';
export type * from './api/documents.ts';
export * from './api/signing.ts';
export type { BrandingService } from './branding/branding.ts';
export type { Deputies } from './deputies/deputies.ts';
export type { DeputySigning } from './deputies/deputy-signing.ts';
export type { DocumentEdits } from './documents/document-edits.ts';
export type { DocumentExports } from './documents/document-export.ts';
export type { DocumentOperations } from './documents/document-operations.ts';
export type { DocumentPackages, TemporaryFile } from './documents/document-packages.ts';
export type { DocumentService } from './documents/documents.ts';
export type { PendingReminders } from './documents/pending-reminders.ts';
export type {
  OverviewCounts,
  OverviewItem,
  OverviewKind,
  OverviewPerson,
  SenderOverview,
} from './documents/sender-overview.ts';
export type { CheckedDocument, Validation } from './documents/validation.ts';
export type { Erasures } from './erasure/erasures.ts';
export type { FolderGrants } from './folders/folder-grants.ts';
export type { Folders, FolderView } from './folders/folders.ts';
export type { Generations, TablePreview } from './generations/generations.ts';
export type { Templates } from './generations/templates.ts';
export type { LinkDevices } from './links/link-devices.ts';
export { type LinkVisits, VISIT_OUTCOMES } from './links/link-visits.ts';
export type { PublicLinks } from './links/public-links.ts';
export type { MailboxEntry, Mails, OperatorMails } from './mails/mails.ts';
export type { Portal as PortalService } from './portal.ts';
export type { Reports } from './reports/reports.ts';
export type { LegalHolds } from './retention/legal-holds.ts';
export type { Retention } from './retention/retention.ts';
export type { Drafts } from './saved-requests/drafts.ts';
export type { EditorSessionPage, EditorSessionService } from './saved-requests/editor-sessions.ts';
export type { MarksSessionService } from './saved-requests/marks-sessions.ts';
export type { SavedFlowService } from './saved-requests/saved-flows.ts';
export * from './scim/provisioning.ts';
export * from './scim/refusal.ts';
export * from './scim/schemas.ts';
export { mayChange, mayGrant, reachesFolder } from './shared/folder-access.ts';
export { parsedInput } from './shared/parsed-input.ts';
export type { OrganizationProviders } from './signing/organization-providers.ts';
export {
  PROVIDER_STEP_MS,
  type ProviderSigning,
  type ProviderTrouble,
  type SealedVisit,
  type ShownCredential,
  type SigningStepOutcome,
} from './signing/provider-signing.ts';
export type { SigningPages } from './signing/signing-pages.ts';
export type { Signing } from './signing/signing-service.ts';
export type { WaitingDocuments } from './signing/waiting-documents.ts';
export type { BlobSink } from './uploads/blob-sink.ts';
export type { StoredFile } from './uploads/blobs.ts';
export type { Uploads, UploadView } from './uploads/uploads.ts';
export type { Deliveries } from './webhooks/deliveries.ts';
export type { OperatorWebhooks } from './webhooks/operator-deliveries.ts';
