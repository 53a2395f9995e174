/**
 * Templates of documents. Implements `DocumentTemplates`.
 *
 * View `templates` [organization, order, id] → { name, roles }; counters `templates/<organization>` and
 * `blob/<sha256>`, one for each version that names the file.
 *
 * Source: docs/decisions/0120-templates.md.
 */

import {
  type ActorStore,
  type ActorSystem,
  type ActorView,
  actorKind,
  type Clock,
  defineActor,
  type Ids,
  type MessageOf,
  type Row,
} from '@sealwright/runtime';
import { plainText } from '../../../contracts/plain-text.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { DocumentId, UploadId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { DocumentTemplate, FileEntry } from '../../../machines/portal/portal-types.ts';
import {
  TEMPLATE_REMOVED,
  type TemplateContent,
  type TemplateContext,
  type TemplateVersion,
  templateMachine,
} from '../../../machines/portal/template.ts';
import type { OrderNumbers } from '../../shared/order-numbers.ts';
import { containing, pageByPosition, pageOfRows } from '../../shared/row-pages.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import type { CreateDocuments, MadeDocument } from '../api/documents.ts';
import type { GenerationView } from '../api/generations.ts';
import type {
  DocumentTemplates,
  ReadTemplate,
  TemplateBody,
  TemplateDocuments,
  TemplateGeneration,
  TemplateItem,
  TemplateOfDocument,
  TemplateQuery,
  TemplateRequest,
  TemplateView,
} from '../api/templates.ts';
import type { DocumentDirectory } from '../document-records/document-directory.ts';
import { documentOf } from '../document-records/document-reader.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { cleanName } from '../shared/names.ts';
import { assertRoomForRecord, readRecord, recordOnce } from '../shared/organization-records.ts';
import { blobCounters } from '../uploads/blobs.ts';
import type { StoredUpload, Uploads } from '../uploads/uploads.ts';
import { requestOfDocument } from './document-template.ts';
import { rolesOf, withPeople, withProperties, withStandIns } from './template-request.ts';

const TEMPLATE = actorKind<typeof templateMachine>('template');

/** Characters of one version as JSON. */
const MAX_CONTENT_LENGTH = 256 * 1024;
/** Templates of one organization. */
const MAX_TEMPLATES = 1_000;
const MAX_DESCRIPTION_LENGTH = 2_000;

interface StoredTemplate extends TemplateContext {
  readonly id: string;
}

export const templateDefinition = defineActor(TEMPLATE, {
  machine: templateMachine,
  version: 1,
  rows: templateRows,
  counters: ({ context }) => ({
    [counterOf(context.organizationId)]: 1,
    ...blobCounters(context.versions.flatMap(({ uploads }) => uploads.map(({ blob }) => blob))),
  }),
  ends: ({ state }) => state === TEMPLATE_REMOVED,
});

function templateRows({ id, context }: ActorView<TemplateContext>): readonly Row[] {
  const { organizationId, order } = context;
  const item = itemOf({ ...context, id }, newestOf(context));
  const value = { ...item, createdBy: { ...item.createdBy }, updatedBy: { ...item.updatedBy } };
  return [{ view: 'templates', key: [organizationId, order, id], value }];
}

function counterOf(organization: string): string {
  return `templates/${organization}`;
}

export interface TemplatesDependencies {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly order: OrderNumbers;
  readonly uploads: Pick<Uploads, 'findUpload' | 'restore' | 'locationOf'>;
  readonly directory: DocumentDirectory;
  readonly creation: Pick<DocumentCreation, 'create' | 'check'>;
  readonly generations: {
    createOfTemplate(
      tenant: Tenant,
      used: TemplateInUse,
      request: Pick<TemplateGeneration, 'dataFile' | 'skipRefusedRows'>,
      seed?: string,
    ): Promise<GenerationView>;
  };
}

/** A version of a template, ready for its people: the request with the caller's members, and its files. */
export interface TemplateInUse {
  readonly template: DocumentTemplate;
  readonly request: CreateDocuments;
  readonly uploads: TemplateVersion['uploads'];
}

export class Templates implements DocumentTemplates {
  readonly #dependencies: TemplatesDependencies;

  constructor(dependencies: TemplatesDependencies) {
    this.#dependencies = dependencies;
  }

  async list({ organization }: Tenant, query: TemplateQuery): Promise<Page<TemplateItem>> {
    const { limit, offset, position, newestFirst } = query;
    const { store } = this.#dependencies;
    const range = {
      ...{ view: 'templates', prefix: [organization.id], newestFirst, limit },
      matches: matchesOf(query),
      counter: counterOf(organization.id),
    };
    const page =
      position === undefined
        ? await pageOfRows(store, { ...range, offset })
        : await pageByPosition(store, { ...range, position });
    const { rows, ...rest } = page;
    // A template may have a mebibyte of versions; a list reads the rows alone.
    return { ...rest, items: rows.map(({ value }) => itemOfRow(value)) };
  }

  create(tenant: Tenant, body: TemplateBody, read: ReadTemplate, seed?: string): Promise<TemplateItem> {
    return this.#create(tenant, seed, () => this.#content(tenant, body, read));
  }

  /** @param contentOf content of the template; asked for if the request has not made it already */
  async #create(
    tenant: Tenant,
    seed: string | undefined,
    contentOf: () => Promise<TemplateContent>,
  ): Promise<TemplateItem> {
    const { store, clock, order } = this.#dependencies;
    const { id: organizationId } = tenant.organization;
    const made = await recordOnce(this.#dependencies, TEMPLATE, seed, async () => {
      await assertRoomForRecord(store, counterOf(organizationId), MAX_TEMPLATES, 'templates');
      const content = await contentOf();
      const creationDate = clock.now();
      const createdBy = principalOf(tenant);
      return {
        ...{ organizationId, createdBy, creationDate, order: order.next().order },
        versions: [{ ...content, version: 1, createdBy, creationDate }],
      };
    });
    return itemOf({ ...made.context, id: made.id }, newestOf(made.context));
  }

  createOfDocument(
    tenant: Tenant,
    id: DocumentId,
    settings: TemplateOfDocument,
    read: ReadTemplate,
    seed?: string,
  ): Promise<TemplateItem> {
    return this.#create(tenant, seed, async () =>
      this.#content(tenant, await this.#bodyOf(tenant, id, settings), read),
    );
  }

  /** The request that makes a document like this one, with new uploads of its files. */
  async #bodyOf(
    tenant: Tenant,
    id: DocumentId,
    { name, description, expirationDays }: TemplateOfDocument,
  ): Promise<TemplateBody> {
    const { directory } = this.#dependencies;
    const { context } = await documentOf(directory, tenant, id);
    // Neither files that were merged into an envelope with their signatures nor those that participants attached.
    const given = context.attachments.filter(
      ({ signatures, fieldId }) => signatures === undefined && fieldId === undefined,
    );
    const file = await this.#uploadOf(tenant, context.file);
    const attachments = new Map<string, string>();
    for (const attachment of given)
      attachments.set(attachment.id, (await this.#uploadOf(tenant, attachment.file)).id);
    const document = requestOfDocument(context, { file: file.id, attachments });
    return { name: name || context.name, description, expirationDays, document };
  }

  /** A new upload with the content of a file of a document. Refusals: `UploadNotFound`. */
  async #uploadOf({ organization, application }: Tenant, file: FileEntry): Promise<StoredUpload> {
    const { ids, uploads, clock } = this.#dependencies;
    const { name, contentType, blob, md5 } = file;
    const upload: StoredUpload = {
      id: ids.uuid() as UploadId,
      ...{ organizationId: organization.id, applicationId: application.id },
      ...{ name, contentType, blob, md5, createdAt: clock.now() },
    };
    await uploads.restore(upload);
    return upload;
  }

  async locations({ organization }: Tenant, id: string): Promise<{ readonly [uploadId: string]: string }> {
    const { uploads } = this.#dependencies;
    const newest = newestOf(await this.#existing(organization.id, id));
    // Uploads are swept after a day; the template keeps their content.
    for (const upload of newest.uploads) await uploads.restore(upload);
    return Object.fromEntries(newest.uploads.map((upload) => [upload.id, uploads.locationOf(upload.id)]));
  }

  async get({ organization }: Tenant, id: string, version: number | null): Promise<TemplateView> {
    const template = await this.#existing(organization.id, id);
    const found = versionOf(template, version);
    return { ...itemOf(template, found), document: found.document };
  }

  async versions({ organization }: Tenant, id: string): Promise<readonly TemplateItem[]> {
    const template = await this.#existing(organization.id, id);
    return template.versions.toReversed().map((version) => itemOf(template, version));
  }

  async replace(
    tenant: Tenant,
    id: string,
    body: TemplateBody,
    read: ReadTemplate,
    request?: string,
  ): Promise<TemplateItem> {
    const { versions } = await this.#existing(tenant.organization.id, id);
    const earlier = versions.flatMap(({ uploads }) => uploads);
    const content = await this.#content(tenant, body, read, earlier);
    const template = await this.#send(tenant, id, {
      type: 'REPLACE',
      ...{ content, createdBy: principalOf(tenant), ...(request && { request }) },
    });
    return itemOf(template, newestOf(template));
  }

  async remove(tenant: Tenant, id: string): Promise<void> {
    await this.#send(tenant, id, { type: 'REMOVE' });
  }

  async createDocuments(
    tenant: Tenant,
    id: string,
    given: TemplateDocuments,
    read: ReadTemplate,
    seed?: string,
  ): Promise<readonly MadeDocument[]> {
    const { template, request } = await this.#use(tenant, id, given, read);
    return this.#dependencies.creation.create(tenant, withPeople(request, given), seed, { template });
  }

  async generate(
    tenant: Tenant,
    id: string,
    request: TemplateGeneration,
    read: ReadTemplate,
    seed?: string,
  ): Promise<GenerationView> {
    const used = await this.#use(tenant, id, request, read);
    return this.#dependencies.generations.createOfTemplate(tenant, used, request, seed);
  }

  /** Prepares a version for new documents. */
  async #use(tenant: Tenant, id: string, given: TemplateRequest, read: ReadTemplate): Promise<TemplateInUse> {
    const template = await this.#existing(tenant.organization.id, id);
    const { version, document, expirationDays, uploads } = versionOf(template, given.version);
    for (const upload of uploads) await this.#dependencies.uploads.restore(upload);
    const request = withProperties(read(document), expirationDays, given, this.#dependencies.clock.now());
    return { template: { id: template.id, version }, request, uploads };
  }

  /**
   * Refusals: those of creation, but for the folder.
   *
   * @param earlier uploads of the template, which may have expired
   */
  async #content(
    tenant: Tenant,
    body: TemplateBody,
    read: ReadTemplate,
    earlier: TemplateVersion['uploads'] = [],
  ): Promise<TemplateContent> {
    const { uploads, creation } = this.#dependencies;
    const { document, expirationDays } = body;
    if (JSON.stringify(document).length > MAX_CONTENT_LENGTH)
      throw new PortalRefusal('LimitExceeded', `A template may have ${MAX_CONTENT_LENGTH} characters.`);
    const description = plainText(body.description ?? '') || null;
    if ((description?.length ?? 0) > MAX_DESCRIPTION_LENGTH)
      throw new PortalRefusal(
        'LimitExceeded',
        `A description of a template may have ${MAX_DESCRIPTION_LENGTH} characters.`,
      );
    const request = read(document);
    const roles = rolesOf(request.flowActions);
    const uploadIds = new Set([...request.files, ...(request.attachments ?? [])].map((file) => file.id));
    const named = earlier.filter((upload) => uploadIds.has(upload.id));
    for (const upload of new Map(named.map((one) => [one.id, one])).values()) await uploads.restore(upload);
    await creation.check(tenant, withStandIns(request, roles));
    const found = await Promise.all(
      [...uploadIds].map((upload) => uploads.findUpload(tenant.organization.id, upload)),
    );
    return { name: cleanName(body.name), description, expirationDays, document, roles, uploads: found };
  }

  async #send({ organization }: Tenant, id: string, message: MessageOf<typeof TEMPLATE>) {
    const template = await this.#existing(organization.id, id);
    const outcome = await this.#dependencies.system.send({ kind: TEMPLATE, id: template.id }, message);
    if (!outcome.accepted)
      throw new PortalRefusal(outcome.reason === 'unknown-actor' ? 'TemplateNotFound' : 'ServiceBusy');
    await outcome.durable;
    return { ...outcome.actor.context, id: template.id };
  }

  async #existing(organization: string, id: string): Promise<StoredTemplate> {
    const actor = await readRecord(this.#dependencies.system, TEMPLATE, organization, id);
    if (actor === undefined) throw new PortalRefusal('TemplateNotFound');
    return { ...actor.context, id: actor.id };
  }
}

function matchesOf({ q, role }: TemplateQuery): ((row: Row) => boolean) | undefined {
  const named = containing(q, (row) => itemOfRow(row.value).name);
  const withRole = containing(role, (row) => itemOfRow(row.value).roles.join('\n'));
  if (named === undefined || withRole === undefined) return named ?? withRole;
  return (row) => named(row) && withRole(row);
}

function newestOf({ versions }: Pick<TemplateContext, 'versions'>): TemplateVersion {
  const newest = versions.at(-1);
  if (newest === undefined) throw new Error('A template has a version.');
  return newest;
}

/** Refusals: `TemplateVersionNotFound`. */
function versionOf(template: TemplateContext, version: number | null): TemplateVersion {
  if (version === null) return newestOf(template);
  const found = template.versions.find((one) => one.version === version);
  if (found === undefined) throw new PortalRefusal('TemplateVersionNotFound');
  return found;
}

function itemOf(template: StoredTemplate, version: TemplateVersion): TemplateItem {
  const { name, description, expirationDays, roles } = version;
  return {
    ...{ id: template.id, version: version.version, name, description, expirationDays, roles },
    creationDate: template.creationDate,
    createdBy: template.createdBy,
    updateDate: version.creationDate,
    updatedBy: version.createdBy,
  };
}

/** The value that `templateRows` wrote. */
function itemOfRow(value: Row['value']): TemplateItem {
  return value as object as TemplateItem;
}
