/** Definitions of the portal's actors, and the partitions of their effects. Each shard thread loads this module too. */
import { ERASURE, ORGANIZATION, RETENTION } from './accounts/organizations.ts';
import { PORTAL_USER } from './accounts/users.ts';
import { BRANDING } from './branding/branding.ts';
import { DOCUMENT } from './document-records/document-index.ts';
import { DOCUMENT_OPERATION } from './documents/document-operations.ts';
import { FOLDER } from './folders/folders.ts';
import { GENERATION } from './generations/generations.ts';
import { TEMPLATE } from './generations/templates.ts';
import { IDEMPOTENT_REQUEST } from './idempotent-requests.ts';
import { MAIL } from './mails/mails.ts';
import { withRelatedActors } from './related-actors.ts';
import { REPORT } from './reports/reports.ts';
import { DRAFT } from './saved-requests/drafts.ts';
import { EDITOR_SESSION } from './saved-requests/editor-sessions.ts';
import { MARKS_SESSION } from './saved-requests/marks-sessions.ts';
import { SAVED_FLOW } from './saved-requests/saved-flows.ts';
import { USER_GROUP } from './scim/groups.ts';
import { LINK_CODES, LINK_VISITOR, PUBLIC_LINK } from './shared/link-records.ts';
import { MAILBOX } from './shared/mailbox-records.ts';
import { AUTHENTICATOR } from './signing/authenticators.ts';
import { FLOW_ACTION, MAILBOX_SESSION } from './signing/signing-codes.ts';
import { SEGMENTED_UPLOAD } from './uploads/segmented-uploads.ts';
import { UPLOAD } from './uploads/uploads.ts';
import { WEBHOOK_DELIVERY_QUEUE } from './webhooks/deliveries.ts';
import { WEBHOOK_SET } from './webhooks/webhooks.ts';

export const portalDefinitions = withRelatedActors([
  DOCUMENT,
  FLOW_ACTION,
  AUTHENTICATOR,
  MAILBOX,
  MAILBOX_SESSION,
  UPLOAD,
  SEGMENTED_UPLOAD,
  ORGANIZATION,
  BRANDING,
  FOLDER,
  SAVED_FLOW,
  DRAFT,
  EDITOR_SESSION,
  TEMPLATE,
  PUBLIC_LINK,
  LINK_VISITOR,
  LINK_CODES,
  MARKS_SESSION,
  GENERATION,
  DOCUMENT_OPERATION,
  MAIL,
  IDEMPOTENT_REQUEST,
  PORTAL_USER,
  USER_GROUP,
  REPORT,
  RETENTION,
  ERASURE,
  WEBHOOK_SET,
  WEBHOOK_DELIVERY_QUEUE,
]);
