/** Definitions of the portal's actors, and the partitions of their effects. Each shard thread loads this module too. */
import type { ActorDefinition } from '@sealwright/runtime';
import type { ShardModule } from '@sealwright/runtime/shards';
import { brandingDefinition } from './branding/branding.ts';
import { documentDefinition } from './document-records/document-index.ts';
import { documentOperationDefinition } from './documents/document-operations.ts';
import { draftDefinition } from './drafts/drafts.ts';
import { editorSessionDefinition } from './drafts/editor-sessions.ts';
import { savedFlowDefinition } from './drafts/saved-flows.ts';
import { folderDefinition } from './folders/folders.ts';
import { generationDefinition } from './generation/generations.ts';
import { templateDefinition } from './generation/templates.ts';
import { idempotentRequestDefinition } from './idempotent-requests.ts';
import { mailDefinition } from './mail/mails.ts';
import { withRelatedActors } from './related-actors.ts';
import { reportDefinition } from './reports/reports.ts';
import { userGroupDefinition } from './scim/groups.ts';
import { authenticatorDefinition } from './signing/authenticators.ts';
import { marksSessionDefinition } from './signing/marks-sessions.ts';
import { flowActionDefinition } from './signing/signing-codes.ts';
import { organizationDefinition } from './tenants/organizations.ts';
import { portalUserDefinition } from './tenants/users.ts';
import { segmentedUploadDefinition } from './uploads/segmented-uploads.ts';
import { uploadDefinition } from './uploads/uploads.ts';
import { webhookDeliveryQueueDefinition } from './webhooks/deliveries.ts';
import { webhookSetDefinition } from './webhooks/webhooks.ts';

const all: readonly ActorDefinition[] = [
  documentDefinition,
  flowActionDefinition,
  authenticatorDefinition,
  uploadDefinition,
  segmentedUploadDefinition,
  organizationDefinition,
  brandingDefinition,
  folderDefinition,
  savedFlowDefinition,
  draftDefinition,
  editorSessionDefinition,
  templateDefinition,
  marksSessionDefinition,
  generationDefinition,
  documentOperationDefinition,
  mailDefinition,
  idempotentRequestDefinition,
  portalUserDefinition,
  userGroupDefinition,
  reportDefinition,
  webhookSetDefinition,
  webhookDeliveryQueueDefinition,
];

export const portalDefinitions: readonly ActorDefinition[] = all.map(withRelatedActors);

/** Functions for the partition of an effect, by its name; the handlers use the same. */
export const portalPartitions: ShardModule['partitions'] = {
  sendMail: ({ lane }) => String(lane),
  callWebhook: ({ webhookId }) => String(webhookId),
  operateDocuments: ({ organizationId }) => String(organizationId),
  generateDocuments: ({ organizationId }) => String(organizationId),
};
