/** Which actors the portal has, and the lanes their slow work runs in; each thread that hosts actors loads it too. */
import type { ActorDefinition, ShardParts } from '../../runtime/index.ts';
import { webhookLaneDefinition } from './deliveries.ts';
import { documentDefinition } from './document-index.ts';
import { folderDefinition } from './folders.ts';
import { generationDefinition } from './generations.ts';
import { idempotentRequestDefinition } from './idempotent-requests.ts';
import { mailDefinition } from './mails.ts';
import { marksSessionDefinition } from './marks-sessions.ts';
import { organizationDefinition } from './organizations.ts';
import { withRelatives } from './relatives.ts';
import { reportDefinition } from './reports.ts';
import { savedFlowDefinition } from './saved-flows.ts';
import { segmentedUploadDefinition } from './segmented-uploads.ts';
import { flowActionDefinition } from './signing-codes.ts';
import { uploadDefinition } from './uploads.ts';
import { portalUserDefinition } from './users.ts';
import { webhookSetDefinition } from './webhooks.ts';

const all: readonly ActorDefinition[] = [
  documentDefinition,
  flowActionDefinition,
  uploadDefinition,
  segmentedUploadDefinition,
  organizationDefinition,
  folderDefinition,
  savedFlowDefinition,
  marksSessionDefinition,
  generationDefinition,
  mailDefinition,
  idempotentRequestDefinition,
  portalUserDefinition,
  reportDefinition,
  webhookSetDefinition,
  webhookLaneDefinition,
];

export const portalDefinitions: readonly ActorDefinition[] = all.map(withRelatives);

/** By effect: the lane it names itself. The handlers use the same. */
export const portalLanes: ShardParts['lanes'] = {
  sendMail: ({ lane }) => String(lane),
  callWebhook: ({ webhookId }) => String(webhookId),
  generateDocuments: ({ organizationId }) => String(organizationId),
};
