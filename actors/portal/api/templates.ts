/** Templates: creation requests with roles, kept in versions. Source: docs/decisions/0120-templates.md. */

import type { Principal } from '../../../contracts/portal/entities.ts';
import type { NewField, NewFile, NewParticipant } from '../../../contracts/portal/flow.ts';
import type { ListPosition, Page, RecordQuery } from '../../../contracts/portal/lists.ts';
import type { DocumentId, Millis } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';
import type { CreateDocuments, MadeDocument } from './documents.ts';
import type { GenerationView } from './generations.ts';

export interface TemplateItem {
  readonly id: string;
  /** The newest version, or the one that was asked for. */
  readonly version: number;
  readonly name: string;
  readonly description: string | null;
  readonly expirationDays: number | null;
  /** Roles that somebody must take. */
  readonly roles: readonly string[];
  /** Of the template. */
  readonly creationDate: Millis;
  readonly createdBy: Principal;
  /** Of the version. */
  readonly updateDate: Millis;
  readonly updatedBy: Principal;
}

export interface TemplateView extends TemplateItem {
  /** The creation request as it was sent. */
  readonly document: unknown;
}

export interface TemplateBody {
  readonly name: string;
  readonly description: string | null;
  readonly expirationDays: number | null;
  /** The creation request as it was sent. */
  readonly document: unknown;
}

/** Settings of a template that a document does not have. */
export interface TemplateOfDocument extends Omit<TemplateBody, 'document'> {
  /** Empty: that of the document. */
  readonly name: string;
}

export interface TemplateQuery extends RecordQuery {
  /** Roles contain this text. */
  readonly role?: string | undefined;
  /** A page by position instead of number. @default pages by number */
  readonly position?: 'start' | ListPosition | undefined;
}

/** Replaces members of the template's request. */
export interface TemplateRequest {
  /** Null = the newest. */
  readonly version: number | null;
  readonly documentName: string | null;
  readonly properties: Partial<Omit<CreateDocuments, 'files' | 'flowActions'>>;
}

export interface TemplateDocuments extends TemplateRequest {
  readonly participants: readonly { readonly role: string; readonly user: NewParticipant }[];
  /** By name of field. */
  readonly fieldValues: Readonly<Record<string, NewField['value']>>;
}

/** Documents of a template, for each row of a table. */
export interface TemplateGeneration extends TemplateRequest {
  readonly dataFile: Omit<NewFile, 'displayName'>;
  /** True: rows that are refused become no documents; false: they refuse the whole call. */
  readonly skipRefusedRows: boolean;
}

/** Reads the kept request. Refusals: `BadRequest`. */
export type ReadTemplate = (document: unknown) => CreateDocuments;

/** Refusals of all that take an id: `TemplateNotFound`. */
export interface DocumentTemplates {
  list(tenant: Tenant, query: TemplateQuery): Promise<Page<TemplateItem>>;
  /** Refusals: those of creation; `LimitExceeded`. @param seed as in `DocumentService.create` */
  create(tenant: Tenant, body: TemplateBody, read: ReadTemplate, seed?: string): Promise<TemplateItem>;
  /** The flow of a document with its files, without its people. Refusals: those of creation; `DocumentNotFound`. */
  createOfDocument(
    tenant: Tenant,
    document: DocumentId,
    body: TemplateOfDocument,
    read: ReadTemplate,
    seed?: string,
  ): Promise<TemplateItem>;
  /** Paths with a ticket from which the files of the newest version can be read, by upload id. */
  locations(tenant: Tenant, id: string): Promise<{ readonly [uploadId: string]: string }>;
  /** @param version null = the newest. Refusals: `TemplateVersionNotFound`. */
  get(tenant: Tenant, id: string, version: number | null): Promise<TemplateView>;
  /** The versions that are kept, newest first. */
  versions(tenant: Tenant, id: string): Promise<readonly TemplateItem[]>;
  /** Adds a version. @param request the same request adds one version. Refusals: as `create`. */
  replace(
    tenant: Tenant,
    id: string,
    body: TemplateBody,
    read: ReadTemplate,
    request?: string,
  ): Promise<TemplateItem>;
  remove(tenant: Tenant, id: string): Promise<void>;
  /** Refusals: those of creation; `TemplateVersionNotFound`. @param seed as in `DocumentService.create` */
  createDocuments(
    tenant: Tenant,
    id: string,
    request: TemplateDocuments,
    read: ReadTemplate,
    seed?: string,
  ): Promise<readonly MadeDocument[]>;
  /** Every row is checked before it resolves. Refusals: those of creation; `InvalidGenerationFile`. */
  generate(
    tenant: Tenant,
    id: string,
    request: TemplateGeneration,
    read: ReadTemplate,
    seed?: string,
  ): Promise<GenerationView>;
}
