/**
 * Ids in paths and bodies. A malformed id is treated as unknown.
 *
 * Source: docs/portal-values.md §2 (422).
 */

import { z } from 'zod';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import { type PortalIds, parsePortalId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

/** @param unknown refusal of a text that is no id */
function reader<Kind extends keyof PortalIds>(kind: Kind, unknown: PortalRefusalCode) {
  return (text: string): PortalIds[Kind] => {
    const id = parsePortalId(kind, text);
    if (id === undefined) throw new PortalRefusal(unknown);
    return id;
  };
}

export const documentId = reader('DocumentId', 'DocumentNotFound');
export const flowActionId = reader('FlowActionId', 'FlowActionNotFound');
/** Of a participant in a flow. */
export const userId = reader('UserId', 'FlowActionNotFound');
export const folderId = reader('FolderId', 'FolderNotFound');
export const organizationId = reader('OrganizationId', 'OrganizationNotFound');
export const applicationId = reader('ApplicationId', 'ApplicationNotFound');
export const webhookId = reader('WebhookId', 'WebhookNotFound');

/** Of pages, whose services say what there is. */
export const idParams = z.object({ id: z.string().max(64) });
