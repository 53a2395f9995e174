/**
 * Templates: creation requests with roles, kept in versions.
 *
 * Source: docs/decisions/0120-templates.md.
 */
import { defineActor, type Row } from '@sealwright/runtime';
import type { ListPosition, Page } from '../../../contracts/portal/lists.ts';
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import type { GenerationView } from '../../../contracts/portal/saved-requests/generations.ts';
import type { RecordQuery } from '../../../contracts/portal/saved-requests/records.ts';
import type {
  NewTemplate,
  TemplateDocuments,
  TemplateGeneration,
  TemplateItem,
  TemplateOfDocument,
  TemplateReplacements,
  TemplateView,
} from '../../../contracts/portal/saved-requests/templates.ts';
import type { DocumentId, UploadId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { DocumentSource, FileEntry } from '../../../machines/portal/portal-types.ts';
import type {
  RequestContent,
  RequestContext,
  RequestVersion,
} from '../../../machines/portal/saved-request.ts';
import type { OrderNumbers } from '../../shared/ids/order-numbers.ts';
import { containing } from '../../shared/tables/texts.ts';
import type { FolderRightsReader, Tenant } from '../api/callers.ts';
import type { CreateDocuments, DocumentOfRequest } from '../api/documents.ts';
import { type DocumentDirectory, documentOf } from '../document-records/document-reader.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { uploadIdsOf } from '../saved-requests/drafts.ts';
import {
  assertLength,
  factsWithoutFolder,
  itemOfRow,
  newestOf,
  requestActors,
  type SavedRequest,
  SavedRequests,
} from '../saved-requests/saved-requests.ts';
import { cleanName } from '../shared/names.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import { folderNamed, isKnown, type RecordRuntime } from '../shared/records.ts';
import type { StoredUpload, Uploads } from '../uploads/uploads.ts';
import { requestOfDocument } from './document-template.ts';
import type { Generations, TablePreview } from './generations.ts';
import { rolesOf, type TemplateInUse, withPeople, withProperties, withStandIns } from './template-request.ts';

const TEMPLATES = requestActors('template', { most: 50, view: 'templates', itemOf });

export const TEMPLATE = defineActor('template', {
  ...TEMPLATES,
  version: 2,
  migrations: {
    // The rows of version 1 did not name the folder.
    1: { migrate: (stored) => stored, facts: (template) => factsWithoutFolder(TEMPLATES, template) },
  },
});

export interface TemplateQuery extends RecordQuery {
  /** Roles contain this text. */
  readonly role?: string | undefined;
  /** A page by position instead of number. @default pages by number */
  readonly position?: 'start' | ListPosition | undefined;
}

/** Refusals of all that take an id: `TemplateNotFound`. */
export class Templates extends SavedRequests<NewTemplate, TemplateItem> {
  constructor(
    private readonly needs: {
      readonly runtime: RecordRuntime;
      readonly order: OrderNumbers;
      readonly uploads: Uploads;
      readonly directory: DocumentDirectory;
      readonly creation: DocumentCreation;
      readonly generations: Generations;
      readonly folderRights: Pick<FolderRightsReader, 'isRestricted'>;
    },
  ) {
    super(needs.runtime, {
      actor: TEMPLATE,
      notFound: 'TemplateNotFound',
      view: 'templates',
      items: 'templates',
      itemOf,
    });
  }

  override list(tenant: Tenant, query: TemplateQuery): Promise<Page<TemplateItem>> {
    const roles = ({ value }: Row) => itemOfRow<TemplateItem>(value).roles.join('\n');
    return super.list(tenant, query, containing(query.role, roles));
  }

  protected override origin(): Partial<RequestContext> {
    return { order: this.needs.order.next().order };
  }

  /** The flow of a document with its files, without its people. Refusals: those of creation; `DocumentNotFound`. */
  createOfDocument(
    tenant: Tenant,
    id: DocumentId,
    settings: Omit<TemplateOfDocument, 'documentId'>,
    seed?: string,
  ): Promise<TemplateItem> {
    return this.create(tenant, () => this.#bodyOf(tenant, id, settings), seed);
  }

  /** The request that makes a document like this one, with new uploads of its files. */
  async #bodyOf(
    tenant: Tenant,
    id: DocumentId,
    { name, ...settings }: Omit<TemplateOfDocument, 'documentId'>,
  ): Promise<NewTemplate> {
    const { context } = await documentOf(this.needs.directory, tenant, id);
    // Neither files that were merged into an envelope with their signatures nor those that participants attached.
    const given = context.attachments.filter(
      ({ signatures, fieldId }) => signatures === undefined && fieldId === undefined,
    );
    const file = await this.#uploadOf(tenant, context.file);
    const attachments = new Map<string, string>();
    for (const attachment of given)
      attachments.set(attachment.id, (await this.#uploadOf(tenant, attachment.file)).id);
    const { folderId } = context;
    // Whom the folder hides the document from must not find its content in the template.
    const isRestricted =
      folderId !== null && (await this.needs.folderRights.isRestricted(tenant.organization.id, folderId));
    const uploads = { file: file.id, attachments };
    const sent = { ...requestOfDocument(context, uploads), ...(isRestricted && { folderId }) };
    return { name: name?.trim() || context.name, ...settings, document: { read: requestOf(sent), sent } };
  }

  /** A new upload with the content of a file of a document. Refusals: `UploadNotFound`. */
  async #uploadOf({ organization, application }: Tenant, file: FileEntry): Promise<StoredUpload> {
    const { ids, clock } = this.needs.runtime;
    const { name, contentType, isPdf, blob, md5 } = file;
    const upload: StoredUpload = {
      id: ids.uuid() as UploadId,
      organizationId: organization.id,
      applicationId: application.id,
      name,
      contentType,
      blob,
      md5,
      createdAt: clock.now(),
      ...(isPdf && { isPdf }),
    };
    await this.needs.uploads.restore(upload);
    return upload;
  }

  /** Paths with a ticket from which the files of the newest version can be read, by upload id. */
  async locations(tenant: Tenant, id: string): Promise<{ readonly [uploadId: string]: string }> {
    return this.needs.uploads.locationsOf(newestOf(await this.records.existing(tenant, id)).uploads);
  }

  /** @param version null = the newest. Refusals: `TemplateVersionNotFound`. */
  async get(tenant: Tenant, id: string, version: number | null): Promise<TemplateView> {
    const template = await this.records.existing(tenant, id);
    const found = versionOf(template, version);
    const folderId = folderNamed(found.document);
    if (!isKnown(tenant, folderId)) throw new PortalRefusal('TemplateVersionNotFound');
    return { ...itemOf(template, found), document: found.document };
  }

  /** The versions that are kept, newest first. */
  async versions(tenant: Tenant, id: string): Promise<readonly TemplateItem[]> {
    const template = await this.records.existing(tenant, id);
    return template.context.versions.toReversed().map((version) => itemOf(template, version));
  }

  /** Refusals: those of creation; `TemplateVersionNotFound`. @param seed as in `DocumentService.create` */
  async createDocuments(
    tenant: Tenant,
    id: string,
    given: TemplateDocuments & Pick<DocumentSource, 'publicLink'>,
    seed?: string,
  ): Promise<readonly DocumentOfRequest[]> {
    const { template, request } = await this.#use(tenant, id, given);
    const { publicLink } = given;
    const source = { template, ...(publicLink && { publicLink }) };
    return this.needs.creation.create(tenant, withPeople(request, given), seed, source);
  }

  /** Every row is checked before it resolves. Refusals: those of creation; `InvalidGenerationFile`. */
  async generate(
    tenant: Tenant,
    id: string,
    request: TemplateGeneration,
    seed?: string,
  ): Promise<GenerationView> {
    return this.needs.generations.createOfTemplate(
      tenant,
      await this.#use(tenant, id, request),
      request,
      seed,
    );
  }

  /** Name of the newest version, and names of columns for a table of it. Refusals: those of its files. */
  async columnNames(
    tenant: Tenant,
    id: string,
  ): Promise<{ readonly template: string; readonly names: readonly string[] }> {
    const { name } = await this.get(tenant, id, null);
    const given = { documentName: null, properties: {}, version: null };
    const names = await this.needs.generations.columnNames(tenant, await this.#use(tenant, id, given));
    return { template: name, names };
  }

  /** Reads and checks a table; makes nothing. Refusals and parameters as of `Generations.preview`. */
  async preview(
    tenant: Tenant,
    id: string,
    { dataFile, ...given }: TemplateReplacements & Pick<TemplateGeneration, 'dataFile'>,
    chosen?: readonly string[],
  ): Promise<TablePreview> {
    return this.needs.generations.preview(tenant, await this.#use(tenant, id, given), dataFile, chosen);
  }

  /**
   * Creates a document for each row of a table that can be one; the columns of the template are those that were chosen.
   * Refusals: as `generate`.
   */
  async generateWith(
    tenant: Tenant,
    id: string,
    {
      given,
      chosen,
      seed,
    }: {
      readonly given: TemplateReplacements & Pick<TemplateGeneration, 'dataFile'>;
      readonly chosen: readonly string[];
      readonly seed?: string | undefined;
    },
  ): Promise<GenerationView> {
    const { given: read, table, columns } = await this.preview(tenant, id, given, chosen);
    const isSame = read.columns.every((name, at) => name === columns[at]);
    const dataFile = isSame ? given.dataFile : await this.#tableFile(tenant, table);
    const skipped = { skipRefusedRows: true, skipHiddenRows: true };
    return this.generate(tenant, id, { ...given, dataFile, ...skipped }, seed);
  }

  /** An upload with a table. Of CSV, lines without a cell would not count as rows. */
  async #tableFile(
    tenant: Tenant,
    { columns, rows }: TablePreview['table'],
  ): Promise<TemplateGeneration['dataFile']> {
    const file = { name: 'table.json', contentType: 'application/json' };
    const sink = await this.needs.uploads.open();
    await sink.write(Buffer.from(JSON.stringify([columns, ...rows])));
    const { id } = await this.needs.uploads.accept(tenant, sink, file);
    return { ...file, id };
  }

  /** Prepares a version for new documents. */
  async #use(tenant: Tenant, id: string, given: TemplateReplacements): Promise<TemplateInUse> {
    const template = await this.records.existing(tenant, id);
    const { version, document, expirationDays = null, uploads } = versionOf(template, given.version);
    await this.needs.uploads.restoreAll(uploads);
    const at = this.needs.runtime.clock.now();
    const request = withProperties(requestOf(document), expirationDays, given, at);
    return { template: { id: template.id, version }, request, uploads };
  }

  protected override async contentOf(
    tenant: Tenant,
    { name, description = null, expirationDays = null, document: { read, sent } }: NewTemplate,
    earlier: RequestContent['uploads'],
  ): Promise<RequestContent> {
    assertLength(sent, 'A template');
    const roles = rolesOf(read.flowActions);
    const uploadIds = uploadIdsOf(read);
    await this.needs.uploads.restoreAll(earlier.filter((upload) => uploadIds.has(upload.id)));
    await this.needs.creation.check(tenant, withStandIns(read, roles));
    const uploads = await this.needs.uploads.findUploads(tenant.organization.id, uploadIds);
    return { name: cleanName(name), description, expirationDays, document: sent, roles, uploads };
  }
}

/** Reads the request of a template. Refusals: `BadRequest`. */
function requestOf(document: unknown): CreateDocuments {
  return parsedInput(newDocuments, document);
}

/** Refusals: `TemplateVersionNotFound`. */
function versionOf(template: SavedRequest, version: number | null): RequestVersion {
  if (version === null) return newestOf(template);
  const found = template.context.versions.find((one) => one.version === version);
  if (found === undefined) throw new PortalRefusal('TemplateVersionNotFound');
  return found;
}

function itemOf(template: SavedRequest, version: RequestVersion): TemplateItem {
  const { name, description = null, expirationDays = null, roles = [] } = version;
  return {
    id: template.id,
    version: version.version,
    name,
    description,
    expirationDays,
    roles,
    creationDate: template.context.creationDate,
    createdBy: template.context.createdBy,
    updateDate: version.creationDate,
    updatedBy: version.createdBy,
  };
}
