/**
 * Ids in paths and bodies. A malformed id is treated as unknown.
 *
 * Source: docs/portal-values.md §2 (422).
 */
import {
  type ApplicationId,
  type DocumentId,
  type FlowActionId,
  type FolderId,
  type OrganizationId,
  parsePortalId,
  type UserId,
  type WebhookId,
} from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

/** Refusals: `DocumentNotFound`. */
export function documentId(text: string): DocumentId {
  const id = parsePortalId('DocumentId', text);
  if (id === undefined) throw new PortalRefusal('DocumentNotFound');
  return id;
}

/** Refusals: `FlowActionNotFound`. */
export function flowActionId(text: string): FlowActionId {
  const id = parsePortalId('FlowActionId', text);
  if (id === undefined) throw new PortalRefusal('FlowActionNotFound');
  return id;
}

/** Parses the id of a participant in a flow. Refusals: `FlowActionNotFound`. */
export function userId(text: string): UserId {
  const id = parsePortalId('UserId', text);
  if (id === undefined) throw new PortalRefusal('FlowActionNotFound');
  return id;
}

/** Refusals: `FolderNotFound`. */
export function folderId(text: string): FolderId {
  const id = parsePortalId('FolderId', text);
  if (id === undefined) throw new PortalRefusal('FolderNotFound');
  return id;
}

/** Refusals: `OrganizationNotFound`. */
export function organizationId(text: string): OrganizationId {
  const id = parsePortalId('OrganizationId', text);
  if (id === undefined) throw new PortalRefusal('OrganizationNotFound');
  return id;
}

/** Refusals: `ApplicationNotFound`. */
export function applicationId(text: string): ApplicationId {
  const id = parsePortalId('ApplicationId', text);
  if (id === undefined) throw new PortalRefusal('ApplicationNotFound');
  return id;
}

/** Refusals: `WebhookNotFound`. */
export function webhookId(text: string): WebhookId {
  const id = parsePortalId('WebhookId', text);
  if (id === undefined) throw new PortalRefusal('WebhookNotFound');
  return id;
}
