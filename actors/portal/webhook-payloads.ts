/**
 * The body of a webhook call, made once when the event is announced. Source: portal-gaps §19; timestamps as §1, row 9.
 */
import type { OrganizationId } from '../../machines/ids.ts';
import type { DocumentEvent, DocumentSummary } from '../../machines/portal-words.ts';

/** What a document summary says by id only. */
export interface PayloadPlaces {
  /** Undefined when it is gone. */
  organization(
    id: OrganizationId,
  ): Promise<{ readonly name: string; readonly identifier: string | null } | undefined>;
  /** Undefined when it is gone. */
  folder(id: string): Promise<{ readonly name: string; readonly parentId: string | null } | undefined>;
}

/** JSON text. The same event gives the same text as long as its folder and organization keep their names. */
export async function payloadOf(event: DocumentEvent, places: PayloadPlaces): Promise<string> {
  return JSON.stringify({ type: event.type, data: await dataOf(event, places) });
}

async function dataOf(event: DocumentEvent, places: PayloadPlaces): Promise<object> {
  const { type, document, documents = [document] } = event;
  const all = () => Promise.all(documents.slice(0, MOST_LISTED).map((one) => commonFields(one, places)));
  if (type === 'DocumentsCreated') return { documents: await all() };
  if (type === 'DocumentDeleted')
    return { action: event.action ?? 'DeletedByUserOrApplication', documents: await all() };
  return { ...(await commonFields(document, places)), ...ownFields(event) };
}

/** Source: portal-gaps §19, DocumentDeleted: "at most 100". */
const MOST_LISTED = 100;

function ownFields(event: DocumentEvent): object {
  switch (event.type) {
    case 'DocumentSigned':
      return { signature: turnFields(event) };
    case 'DocumentApproved':
      return { approval: turnFields(event) };
    case 'DocumentRefused':
      return { refusal: { ...turnFields(event), reason: event.reason ?? null } };
    case 'DocumentCanceled':
      return { canceledBy: event.canceledBy ?? null, reason: event.reason ?? null };
    case 'DocumentExpired':
      return expiryFields(event);
    default:
      return {};
  }
}

function turnFields({ by, at }: DocumentEvent): object {
  return {
    flowActionId: by?.flowActionId ?? null,
    date: timestamp(at),
    userId: by?.userId ?? null,
    name: by?.name ?? null,
    identifier: by?.identifier ?? null,
    emailAddress: by?.emailAddress ?? null,
  };
}

function expiryFields({ expirationDate }: DocumentEvent): object {
  const date = expirationDate === undefined ? null : timestamp(expirationDate);
  return { expirationDate: date, expirationDateWithoutTime: date === null ? null : date.slice(0, 10) };
}

async function commonFields(document: DocumentSummary, places: PayloadPlaces): Promise<object> {
  const { organizationId, folderId, createdBy } = document;
  const organization = await places.organization(organizationId);
  const folder = folderId === null ? undefined : await places.folder(folderId);
  return {
    id: document.id,
    name: document.name,
    creationDate: timestamp(document.creationDate),
    updateDate: timestamp(document.updateDate),
    folder: folder
      ? {
          id: folderId,
          name: folder.name,
          parentId: folder.parentId,
          organizationName: organization?.name ?? null,
        }
      : null,
    organization: organization
      ? { id: organizationId, name: organization.name, identifier: organization.identifier, owner: null }
      : null,
    createdBy: { id: createdBy.id, name: createdBy.name },
  };
}

function timestamp(at: number): string {
  return new Date(at).toISOString();
}
