/**
 * The body of a webhook call, made once when the event is announced. Source: docs/portal-values.md §19; timestamps as §1, row 9.
 */
import { announcedOf } from '../../../contracts/portal/kept-members.ts';
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

/** JSON text. The same event gives the same text as long as its folder and organization keep their names, and the portal its address. */
export async function payloadOf(event: DocumentEvent, places: PayloadLookups): Promise<string> {
  return JSON.stringify({ type: event.type, data: await dataOf(event, places) });
}

async function dataOf(event: DocumentEvent, places: PayloadLookups): Promise<object> {
  const { type, document, documents = [document] } = event;
  const all = () => Promise.all(documents.slice(0, MAX_LISTED).map((one) => commonFields(one, places)));
  if (type === 'DocumentsCreated') return { documents: await all() };
  if (type === 'DocumentDeleted')
    return { action: event.action ?? 'DeletedByUserOrApplication', documents: await all() };
  return { ...(await commonFields(document, places)), ...ownFields(event) };
}

/** Source: docs/portal-values.md §19, DocumentDeleted: "at most 100". */
const MAX_LISTED = 100;

function ownFields(event: DocumentEvent): object {
  switch (event.type) {
    case 'DocumentSigned':
      return { signature: { ...turnFields(event), ...valueFields(event) } };
    case 'DocumentApproved':
      return { approval: turnFields(event) };
    case 'DocumentRefused':
      return { refusal: { ...turnFields(event), reason: event.reason ?? null } };
    case 'DocumentCanceled':
      return { canceledBy: event.canceledBy ?? null, reason: event.reason ?? null };
    case 'DocumentExpired':
    case 'DocumentExpiring':
      return expiryFields(event);
    case 'DocumentOpened':
    case 'DocumentViewed':
      return { view: turnFields(event) };
    case 'DocumentReminded':
      return { reminder: { flowActionId: event.by?.flowActionId ?? null, date: timestamp(event.at) } };
    case 'MailFailed':
      return { mail: { ...turnFields(event), reason: event.reason ?? null } };
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

/** Left out where the participant had no fields: receivers may know no such member. */
function valueFields({ values }: DocumentEvent): object {
  if (values === undefined) return {};
  return { fieldValues: Object.fromEntries(values.map(({ name, value }) => [name, value])) };
}

function expiryFields({ expirationDate }: DocumentEvent): object {
  const date = expirationDate === undefined ? null : timestamp(expirationDate);
  return { expirationDate: date, expirationDateWithoutTime: date === null ? null : date.slice(0, 10) };
}

async function commonFields(document: DocumentSummary, places: PayloadLookups): Promise<object> {
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
    link: `${places.publicUrl()}/account/documents/${document.id}`,
    ...(document.tags && { tags: document.tags }),
    ...announcedOf(document),
  };
}

function timestamp(at: number): string {
  return new Date(at).toISOString();
}
