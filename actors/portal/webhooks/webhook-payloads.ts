/**
 * The body of a webhook call, made once when the event is announced. Source: docs/portal-values.md §19; timestamps as §1, row 9.
 */
import { type Encoder, encoderOf } from '../../../contracts/encoder.ts';
import { PORTAL_WEBHOOKS } from '../../../contracts/portal/webhooks/webhook-events.ts';
import { isoDayEndingAt } from '../../../contracts/times.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import type { DocumentEvent, DocumentSummary } from '../../../machines/portal/portal-types.ts';

/** Objects that a document summary names by id only. */
export interface PayloadLookups {
  /** `Portal:PublicUrl`, without a slash at its end. */
  publicUrl(): string;
  /** Undefined when it is gone. */
  organization(
    id: OrganizationId,
  ): Promise<{ readonly name: string; readonly identifier: string | null } | undefined>;
  /** Undefined when it is gone. */
  folder(id: string): Promise<{ readonly name: string; readonly parentId: string | null } | undefined>;
}

const ENCODERS = Object.fromEntries(
  Object.entries(PORTAL_WEBHOOKS).map(([type, { payload }]) => [type, encoderOf(payload)]),
) as Record<keyof typeof PORTAL_WEBHOOKS, Encoder>;

/** Source: docs/portal-values.md §19, DocumentDeleted: "at most 100". */
const MAX_LISTED = 100;

/**
 * JSON text, of the members that `webhook-events.ts` declares for the type. The same event gives the same text as long as
 * its folder and organization keep their names, and the portal its address.
 */
export async function payloadOf(event: DocumentEvent, places: PayloadLookups): Promise<string> {
  const { type, at, by, document, documents = [document], values, reason } = event;
  const listed = await Promise.all(documents.slice(0, MAX_LISTED).map((one) => documentMembers(one, places)));
  const fieldValues = values && Object.fromEntries(values.map(({ name, value }) => [name, value]));
  const turn = { ...by, date: at, reason, fieldValues };
  const data = {
    ...event,
    ...listed[0],
    documents: listed,
    action: event.action ?? 'DeletedByUserOrApplication',
    expirationDateWithoutTime: isoDayEndingAt(event.expirationDate ?? null),
    signature: turn,
    approval: turn,
    refusal: turn,
    passingOn: turn,
    view: turn,
    reminder: turn,
    mail: turn,
  };
  return JSON.stringify(ENCODERS[type]({ type, data }));
}

async function documentMembers(document: DocumentSummary, places: PayloadLookups): Promise<object> {
  const { organizationId, folderId } = document;
  const organization = await places.organization(organizationId);
  const folder = folderId === null ? undefined : await places.folder(folderId);
  return {
    ...document,
    folder: folder && { ...folder, id: folderId, organizationName: organization?.name },
    organization: organization && { ...organization, id: organizationId, owner: null },
    link: `${places.publicUrl()}/account/documents/${document.id}`,
  };
}
