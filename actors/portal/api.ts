/**
 * The portal, as its HTTP layer calls it. Times are milliseconds since the epoch; HTTP writes them as ISO 8601. Every
 * method refuses with a `PortalRefusal`; ids of another organization are treated as unknown.
 *
 * Source: docs/portal-values.md §0; docs/portal-values.md (sections named at each part).
 */

export type * from './api/activity.ts';
export * from './api/callers.ts';
export type * from './api/documents.ts';
export * from './api/signing.ts';
export type { BrandingService } from './branding/branding.ts';
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
export type { Drafts } from './drafts/drafts.ts';
export type { EditorSessionPage, EditorSessionService } from './drafts/editor-sessions.ts';
export type { SavedFlowService } from './drafts/saved-flows.ts';
export type { FolderGrants } from './folders/folder-grants.ts';
export type { Folders, FolderView } from './folders/folders.ts';
export type { Generations, TablePreview } from './generation/generations.ts';
export type { Templates } from './generation/templates.ts';
export type { MailboxEntry, Mails, OperatorMails } from './mail/mails.ts';
export type { Portal as PortalService } from './portal.ts';
export type { Reports } from './reports/reports.ts';
export * from './scim/provisioning.ts';
export * from './scim/refusal.ts';
export * from './scim/schemas.ts';
export { mayChange, mayGrant, reachesFolder } from './shared/folder-access.ts';
export { parsedInput } from './shared/parsed-input.ts';
export type { MarksSessionService } from './signing/marks-sessions.ts';
export type { SigningPages } from './signing/signing-pages.ts';
export type { Signing } from './signing/signing-service.ts';
export type { Administration, ApplicationView, OrganizationView } from './tenants/administration.ts';
export type { OperatorKeys } from './tenants/operator-keys.ts';
export type { PasskeyCreation, PasskeyRequest } from './tenants/passkeys.ts';
export type { PortalProvider, ProviderOutcome, ProviderSignIn } from './tenants/provider-sign-in.ts';
export type {
  FactorEnrolment,
  FactorOutcome,
  FactorOwner,
  FactorState,
  GivenProof,
  PendingSignIn,
  SecondFactors,
} from './tenants/second-factors.ts';
export type { SignedInUser, SignInLinkView, UserSignIn } from './tenants/sign-in.ts';
export type { SessionView, UserSessions } from './tenants/user-sessions.ts';
export type { UserDirectory } from './tenants/users.ts';
export type { BlobSink } from './uploads/blob-sink.ts';
export type { StoredFile } from './uploads/blobs.ts';
export type { Uploads, UploadView } from './uploads/uploads.ts';
export type { Deliveries } from './webhooks/deliveries.ts';
export type { OperatorWebhooks } from './webhooks/operator-deliveries.ts';
