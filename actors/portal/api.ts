/**
 * The portal, as its HTTP layer calls it. Times are milliseconds since the epoch; HTTP writes them as ISO 8601. Every
 * method refuses with a `PortalRefusal`; ids of another organization are treated as unknown.
 *
 * Source: docs/portal-values.md §0; docs/portal-values.md (sections named at each part).
 */
import type { IdempotentRequests, Tenants } from './api/callers.ts';
import type { BrandingService } from './branding/branding.ts';
import type { DocumentEdits } from './documents/document-edits.ts';
import type { DocumentExports } from './documents/document-export.ts';
import type { DocumentOperations } from './documents/document-operations.ts';
import type { DocumentPackages } from './documents/document-packages.ts';
import type { DocumentService } from './documents/documents.ts';
import type { PendingReminders } from './documents/pending-reminders.ts';
import type { Validation } from './documents/validation.ts';
import type { Drafts } from './drafts/drafts.ts';
import type { EditorSessionService } from './drafts/editor-sessions.ts';
import type { SavedFlowService } from './drafts/saved-flows.ts';
import type { Folders } from './folders/folders.ts';
import type { Generations } from './generation/generations.ts';
import type { Templates } from './generation/templates.ts';
import type { Mails } from './mail/mails.ts';
import type { Reports } from './reports/reports.ts';
import type { MarksSessionService } from './signing/marks-sessions.ts';
import type { SigningPages } from './signing/signing-pages.ts';
import type { Signing } from './signing/signing-service.ts';
import type { Administration } from './tenants/administration.ts';
import type { UserSignIn } from './tenants/sign-in.ts';
import type { UserDirectory } from './tenants/users.ts';
import type { Uploads } from './uploads/uploads.ts';
import type { Deliveries } from './webhooks/deliveries.ts';

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
export type { Validation } from './documents/validation.ts';
export type { Drafts } from './drafts/drafts.ts';
export type { EditorSessionPage, EditorSessionService } from './drafts/editor-sessions.ts';
export type { SavedFlowService } from './drafts/saved-flows.ts';
export type { Folders, FolderView } from './folders/folders.ts';
export type { Generations } from './generation/generations.ts';
export type { Templates } from './generation/templates.ts';
export type { MailboxEntry, Mails, MailTextState, OperatorMails } from './mail/mails.ts';
export type { Reports } from './reports/reports.ts';
export { parsedInput } from './shared/parsed-input.ts';
export type { MarksSessionService } from './signing/marks-sessions.ts';
export type { SigningPages } from './signing/signing-pages.ts';
export type { Signing } from './signing/signing-service.ts';
export type { Administration, ApplicationView, OrganizationView } from './tenants/administration.ts';
export type { OperatorKeys } from './tenants/operator-keys.ts';
export type { SignedInUser, SignInLinkView, UserSignIn } from './tenants/sign-in.ts';
export type { UserDirectory } from './tenants/users.ts';
export type { BlobSink } from './uploads/blob-sink.ts';
export type { StoredFile } from './uploads/blobs.ts';
export type { Uploads, UploadView } from './uploads/uploads.ts';
export type { Deliveries } from './webhooks/deliveries.ts';
export type { OperatorWebhooks } from './webhooks/operator-deliveries.ts';

/** The portal as HTTP sees it. */
export interface PortalService {
  readonly tenants: Tenants;
  readonly uploads: Uploads;
  readonly documents: DocumentService;
  readonly documentEdits: DocumentEdits;
  readonly documentExports: DocumentExports;
  readonly pendingReminders: PendingReminders;
  readonly documentOperations: DocumentOperations;
  readonly documentPackages: DocumentPackages;
  readonly signing: Signing;
  readonly signingPages: SigningPages;
  readonly validation: Validation;
  readonly folders: Folders;
  readonly drafts: Drafts;
  readonly editorSessions: EditorSessionService;
  readonly templates: Templates;
  readonly savedFlows: SavedFlowService;
  readonly marksSessions: MarksSessionService;
  readonly generations: Generations;
  readonly webhooks: Deliveries;
  readonly mails: Mails;
  readonly administration: Administration;
  readonly branding: BrandingService;
  readonly reports: Reports;
  readonly users: UserDirectory;
  readonly signIn: UserSignIn;
  readonly idempotency: IdempotentRequests;
}
