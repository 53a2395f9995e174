/**
 * Documents generated from a template and a table; they are made by `generate-documents.ts`.
 *
 * Counters of the documents: `generation/<id>/<made, open or concluded>`.
 *
 * Source: docs/portal-values.md §20.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ActorView, defineActor, type Row } from '@sealwright/runtime';
import type { Value } from '../../../contracts/operation.ts';
import { isBlank } from '../../../contracts/plain-text.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type {
  GenerationRow,
  GenerationView,
  listGenerationRows,
  NewGeneration,
} from '../../../contracts/portal/saved-requests/generations.ts';
import type { TemplateGeneration } from '../../../contracts/portal/saved-requests/templates.ts';
import { DOCUMENT_TYPES } from '../../../contracts/portal/words.ts';
import type { Millis } from '../../../machines/ids.ts';
import {
  GENERATION_EXPIRED,
  type GenerationContext,
  type GenerationFile,
  type GenerationInput,
  generateDocuments,
  generationMachine,
  MAX_REFUSED_ROWS,
} from '../../../machines/portal/generation.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  columnName,
  type DataRow,
  type DataTable,
  invalid,
  rowsOf,
} from '../../shared/generation/data-table.ts';
import { filledIn, filledText } from '../../shared/generation/placeholders.ts';
import type { Tenant } from '../api/callers.ts';
import type { CreateDocuments } from '../api/documents.ts';
import { seededId } from '../document-records/document-index.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { type RecordRuntime, Records } from '../shared/records.ts';
import { blobCounters } from '../uploads/blobs.ts';
import { cleanContentType, cleanName } from '../uploads/upload-names.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { type GenerationReaders, readGenerationFiles } from './generation-files.ts';
import type { TemplateInUse } from './template-request.ts';
import { assertColumns, columnsFor, requestOfRow, type TemplateColumn } from './template-rows.ts';

/** Bytes of the table. */
const MAX_TABLE = 8 * 1024 * 1024;
/** Maximum bytes of the template, and characters of a filled one: layout takes about 4 ms per page. */
const MAX_TEXT = 256 * 1024;
/** Rows that a refusal names, and characters of what it says about one. */
const MAX_NAMED_ROWS = 20;
const MAX_MESSAGE_LENGTH = 500;
/** Characters filled on the main thread before it yields to other work. */
const CHARACTERS_PER_TURN = 64 * 1024;

type StoredGeneration = ActorView<GenerationContext>;

/** View of the generations of a template: [organization, template, time of creation, id] → 0. */
const OF_TEMPLATE = 'generations-of-template';

function generationCounters({ state, context }: StoredGeneration): { readonly [name: string]: number } {
  const { template, data, source } = context;
  if (state !== 'Making' && state !== 'Canceling') return {};
  const files = [...(template === null ? [] : [template]), ...(source?.uploads ?? [])];
  return blobCounters([data, ...files].map(({ blob }) => blob));
}

function generationRows({ id, context }: StoredGeneration): readonly Row[] {
  const { organization, source, createdAt } = context;
  return source === undefined
    ? []
    : [{ view: OF_TEMPLATE, key: [organization.id, source.id, createdAt, id], value: 0 }];
}

export const GENERATION = defineActor('generation', {
  machine: generationMachine,
  effects: [generateDocuments],
  version: 2,
  migrations: {
    // Version 1 had no rows.
    1: {
      migrate: (stored) => stored,
      facts: (stored) => ({ rows: [], counters: generationCounters(stored) }),
    },
  },
  rows: generationRows,
  counters: generationCounters,
  ends: ({ state }) => state === GENERATION_EXPIRED,
});

/** Seed of the id of the document of one row, from 0. */
export function documentSeed(generationId: string, row: number): string {
  return `generation ${generationId} ${row}`;
}

/** The request for the document of one row, without its file. */
export function documentsRequested(
  {
    wanted,
    template,
    type,
    folderId,
  }: Pick<GenerationInput, 'wanted' | 'type' | 'folderId'> & { readonly template: GenerationFile },
  row: DataRow,
  index: number,
) {
  const base = template.name.replace(/\.[^.]{1,10}$/, '');
  const filled = filledText(base, row).trim();
  const displayName = filled === base || filled === '' ? `${base} ${index + 1}` : filled;
  const request: Omit<CreateDocuments, 'files'> = {
    ...(filledIn(wanted, row) as unknown as Pick<CreateDocuments, 'flowActions'>),
    type: DOCUMENT_TYPES.find((one) => one === type),
    folderId,
  };
  return { displayName, request };
}

/** Refusals of all that take an id: `DocumentGenerationNotFound`. */
export class Generations {
  readonly #records: Records<typeof GENERATION>;

  constructor(
    private readonly runtime: RecordRuntime,
    private readonly files: GenerationReaders,
    private readonly uploads: Uploads,
    private readonly creation: DocumentCreation,
  ) {
    this.#records = new Records(runtime, {
      actor: GENERATION,
      notFound: 'DocumentGenerationNotFound',
      folderOf: ({ folderId }) => folderId,
    });
  }

  /** Every row is checked before it resolves; the documents come later. @param seed as of `DocumentService.create` */
  create(tenant: Tenant, request: NewGeneration, seed?: string): Promise<GenerationView> {
    const { templateFile, dataFile, skipHiddenRows, folderId, newFolderName, type, ...rest } = request;
    // As it is stored: without what is not there.
    const wanted = JSON.parse(JSON.stringify(rest)) as GenerationInput['wanted'];
    return this.#start(tenant, seed, request, async (id) => {
      const template = await this.#file(tenant, templateFile, MAX_TEXT);
      const data = await this.#file(tenant, dataFile, MAX_TABLE);
      const check = { template, texts: wanted, maxCharacters: MAX_TEXT };
      const given = { data, hiddenRows: skipHiddenRows ? 'skip' : 'refuse', check } as const;
      const table = await readGenerationFiles(id, tenant.organization.id, given, this.files);
      const base = {
        ...this.#ownerOf(tenant),
        template,
        data,
        wanted,
        ...(skipHiddenRows && { skipHiddenRows }),
        total: table.rows.length,
        folderId: null,
        type: type ?? null,
      };
      const at = base.createdAt;
      const rows = rowsOf(table.columns, table.rows);
      const faults = await this.#faultsOf(rows, JSON.stringify(wanted).length, (row, index) => {
        const filled = documentsRequested(base, row, index).request;
        assertNamed(filled);
        this.creation.assertPossible(filled, at);
      });
      refuseRows(faults);
      return base;
    });
  }

  /** Starts a generation of a document template. @param seed as of `DocumentService.create` */
  createOfTemplate(
    tenant: Tenant,
    { template: used, request, uploads }: TemplateInUse,
    { dataFile, skipRefusedRows, skipHiddenRows }: TableOfTemplate,
    seed?: string,
  ): Promise<GenerationView> {
    return this.#start(tenant, seed, request, async (id) => {
      const data = await this.#file(tenant, dataFile, MAX_TABLE);
      const given = { data, hiddenRows: skipHiddenRows ? 'skip' : 'refuse' } as const;
      const table = await readGenerationFiles(id, tenant.organization.id, given, this.files);
      const wanted = await this.#wantedOf(tenant, request);
      const documentsPerRow = request.isEnvelope === true ? 1 : request.files.length;
      const base: GenerationInput = {
        ...this.#ownerOf(tenant),
        template: null,
        source: { ...used, uploads },
        data,
        ...wanted,
        documentsPerRow,
        ...(skipHiddenRows && { skipHiddenRows }),
        total: table.rows.length * documentsPerRow,
        type: request.type ?? null,
      };
      const faults = await this.#faultsInRows(wanted, table, base.createdAt);
      const isRefused = faults.size === table.rows.length || faults.size > MAX_REFUSED_ROWS;
      if (!skipRefusedRows || isRefused) refuseRows(faults);
      return base;
    });
  }

  /** Prepares the request into which the rows of a table are filled. */
  async #wantedOf(tenant: Tenant, request: CreateDocuments) {
    const { folderId: _folder, newFolderName: _newFolder, ...rest } = request;
    const taggedFields = await this.creation.taggedFields(tenant, request);
    return {
      wanted: JSON.parse(JSON.stringify(rest)) as GenerationInput['wanted'],
      folderId: null,
      ...(taggedFields.length > 0 && { taggedFields }),
    };
  }

  /** Refusals: `InvalidGenerationFile` for a column that is not known. */
  #faultsInRows(
    wanted: Pick<GenerationInput, 'wanted' | 'folderId' | 'taggedFields'>,
    table: DataTable,
    at: Millis,
  ): Promise<ReadonlyMap<number, PortalRefusal>> {
    assertColumns(wanted, table.columns);
    const length = JSON.stringify(wanted.wanted).length;
    return this.#faultsOf(rowsOf(table.columns, table.rows), length, (row) =>
      this.creation.assertPossible(requestOfRow(wanted, table.columns, row), at),
    );
  }

  /**
   * Reads and checks a table for a template; makes nothing. Refusals: `InvalidGenerationFile`, `UploadNotFound`.
   * @param chosen the column of the template for each column of the table, empty = none; absent: by their names
   */
  async preview(
    tenant: Tenant,
    { request }: Pick<TemplateInUse, 'request'>,
    dataFile: NewGeneration['dataFile'],
    chosen?: readonly string[],
  ): Promise<TablePreview> {
    const data = await this.#file(tenant, dataFile, MAX_TABLE);
    const wantedTable = { data, hiddenRows: 'skip' } as const;
    const given = await readGenerationFiles(dataFile.id, tenant.organization.id, wantedTable, this.files);
    const wanted = await this.#wantedOf(tenant, request);
    const known = columnsFor(wanted);
    const columnNamed = columnsByName(known);
    const columns = given.columns.map((name, at) => chosen?.[at] ?? columnNamed(name));
    const table = tableWith(given, columns);
    const faults = await this.#faultsInRows(wanted, table, this.#ownerOf(tenant).createdAt);
    return {
      given,
      columns,
      known,
      table,
      faults: [...faults].map(([row, fault]) => ({
        row: row + 1,
        code: fault.code,
        text: describeRefusal(fault),
      })),
    };
  }

  /** Names of columns for a table: name and address of each person, and each field by its label where that names it. */
  async columnNames(tenant: Tenant, { request }: Pick<TemplateInUse, 'request'>): Promise<readonly string[]> {
    const known = columnsFor(await this.#wantedOf(tenant, request));
    const columnNamed = columnsByName(known);
    const names = known.flatMap(({ column, role, text, isProperty }) => {
      if (isProperty) return [];
      if (role === undefined) return [columnNamed(columnName(text)) === column ? text : column];
      return text === 'name' || text === 'email' ? [`${role}.${text}`] : [];
    });
    return [...new Set(names)];
  }

  #ownerOf(tenant: Tenant) {
    const { createdBy, creationDate: createdAt } = this.#records.origin(tenant);
    const { id, name } = tenant.organization;
    return { organization: { id, name }, createdBy, createdAt } as const;
  }

  async #start(
    tenant: Tenant,
    seed: string | undefined,
    { folderId, newFolderName }: Pick<CreateDocuments, 'folderId' | 'newFolderName'>,
    checked: (id: string) => Promise<GenerationInput>,
  ): Promise<GenerationView> {
    const { id } = await this.#records.create(tenant, seed, async (made) => {
      const base = await checked(made);
      // A refused call creates nothing.
      const folder = await this.creation.folders.ofDocument(tenant, { folderId, newFolderName });
      // JSON drops undefined members, which are not stored.
      return JSON.parse(JSON.stringify({ ...base, folderId: folder })) as GenerationInput;
    });
    return this.get(tenant, id);
  }

  /** The documents that exist stay. Refusals: `DocumentOperationEnded`. */
  async cancel(tenant: Tenant, given: string): Promise<GenerationView> {
    const { id } = await this.#records.toChange(tenant, given);
    const canceled = await this.#records.send(id, { type: 'CANCEL' });
    if (canceled === undefined && (await this.#records.read(id))?.state !== 'Canceling')
      throw new PortalRefusal('DocumentOperationEnded');
    return this.get(tenant, id);
  }

  async rows(
    tenant: Tenant,
    given: string,
    { limit, offset }: Value<typeof listGenerationRows.query>,
  ): Promise<Page<GenerationRow>> {
    const { id, context } = await this.#records.existing(tenant, given);
    const { documentsPerRow = 1, refused = [] } = context;
    const totalCount = context.total / documentsPerRow;
    const first = Math.min(offset * limit, totalCount);
    const length = Math.min(limit, totalCount - first);
    const items = await Promise.all(
      Array.from({ length }, async (_, at): Promise<GenerationRow> => {
        const row = first + at;
        const fault = refused.find((one) => one.row === row);
        const error = fault === undefined ? null : { code: fault.code, message: fault.message };
        const seed = documentSeed(id, row);
        const isMade = error === null && (await this.creation.isMade(seed));
        const documentIds = isMade
          ? Array.from({ length: documentsPerRow }, (_document, index) => seededId(seed, index))
          : [];
        const status = error === null ? (isMade ? 'Made' : 'Pending') : 'Refused';
        return { row: row + 1, status, documentIds, error };
      }),
    );
    return { items, totalCount };
  }

  async get(tenant: Tenant, given: string): Promise<GenerationView> {
    const { id, state, context } = await this.#records.existing(tenant, given);
    const counted = await this.runtime.store.counters(`generation/${id}/`);
    const count = (what: string) => counted[`generation/${id}/${what}`] ?? 0;
    const initializedCount = count('made');
    const { type, folderId, source, error } = context;
    return {
      id,
      status: statusOf(state, initializedCount, count('open')),
      type,
      agentId: context.createdBy.id,
      folderId,
      subscriptionId: null,
      totalDocumentsCount: context.total,
      initializedCount,
      completedCount: count('concluded'),
      error,
      refusedRowsCount: context.refused?.length ?? 0,
      template: source === undefined ? null : { id: source.id, version: source.version },
    };
  }

  /** The newest generations of a template, with the times at which they were asked for. */
  async ofTemplate(
    tenant: Tenant,
    templateId: string,
    limit: number,
  ): Promise<readonly { readonly at: Millis; readonly generation: GenerationView }[]> {
    const prefix = [tenant.organization.id, templateId];
    const rows = await this.runtime.store.rows({ view: OF_TEMPLATE, prefix, reverse: true, limit });
    const found = await Promise.all(
      rows.map(async ({ key }) => {
        const id = String(key[3]);
        const made = await this.#records.find(tenant.organization.id, id);
        if (made === undefined || !this.#records.knows(tenant, made)) return undefined;
        return { at: key[2] as Millis, generation: await this.get(tenant, id) };
      }),
    );
    return found.filter((one) => one !== undefined);
  }

  /** Refusals: `UploadNotFound`, `InvalidGenerationFile`. */
  async #file(
    { organization }: Tenant,
    { id, ...given }: NewGeneration['dataFile'],
    largest: number,
  ): Promise<GenerationFile> {
    const { blob } = await this.uploads.findUpload(organization.id, id);
    const name = cleanName(given.name);
    const contentType = cleanContentType(given.contentType);
    if (blob.length > largest) throw invalid(`The file ${name} has more than ${largest} bytes.`);
    return { name, contentType, blob };
  }

  /**
   * Checks the requests of all rows before the first document is created.
   * @param length characters of a request
   */
  async #faultsOf(
    rows: readonly DataRow[],
    length: number,
    check: (row: DataRow, index: number) => unknown,
  ): Promise<ReadonlyMap<number, PortalRefusal>> {
    const rowsPerTurn = Math.ceil(CHARACTERS_PER_TURN / (length + 1024));
    const faults = new Map<number, PortalRefusal>();
    for (const [index, row] of rows.entries()) {
      if (index % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
      try {
        check(row, index);
      } catch (error) {
        if (!(error instanceof PortalRefusal)) throw error;
        faults.set(index, error);
      }
    }
    return faults;
  }
}

/** The table of a template, and what becomes of rows of it. */
type TableOfTemplate = Pick<TemplateGeneration, 'dataFile' | 'skipRefusedRows' | 'skipHiddenRows'>;

/** A table for a template, with the columns that its cells fill. */
export interface TablePreview {
  /** As it was read. */
  readonly given: DataTable;
  /** Columns of the template for those of the table; empty = none. */
  readonly columns: readonly string[];
  /** Columns that there may be. */
  readonly known: readonly TemplateColumn[];
  /** The columns that are used. */
  readonly table: DataTable;
  /** Rows that become no documents, numbered from 1. */
  readonly faults: readonly { readonly row: number; readonly code: string; readonly text: string }[];
}

/**
 * Finds the column of a template that a name means: the same, the label of one field, or a part of the only person; empty =
 * none.
 */
function columnsByName(known: readonly TemplateColumn[]): (name: string) => string {
  const named = new Map<string, string>();
  for (const { column, role, text } of known) {
    if (role !== undefined) continue;
    const name = columnName(text);
    // A label of several fields names none of them.
    named.set(name, named.has(name) ? '' : column);
  }
  for (const { column } of known) named.set(column, column);
  const roles = new Set(known.flatMap(({ role }) => role ?? []));
  return (name) => {
    const part = roles.size === 1 ? (PERSON_WORDS.get(name) ?? name) : undefined;
    const ofPerson = known.find(({ role, text }) => role !== undefined && text === part);
    return named.get(name) ?? ofPerson?.column ?? '';
  };
}

/** Names of columns for the parts of a person in the languages of the pages. */
const PERSON_WORDS: ReadonlyMap<string, string> = new Map([
  ...[
    'e-mail',
    'mail',
    'correo',
    'correo electrónico',
    'e-mail-adresse',
    'courriel',
    'adresse e-mail',
    'indirizzo e-mail',
  ].map((word) => [word, 'email'] as const),
  ...['nome', 'nombre', 'nom'].map((word) => [word, 'name'] as const),
  ...['telefon', 'telefone', 'teléfono', 'téléphone', 'telefono'].map((word) => [word, 'phone'] as const),
  ...['idioma', 'sprache', 'langue', 'lingua'].map((word) => [word, 'language'] as const),
]);

/** The columns that are used, each once. Refusals: `InvalidGenerationFile`. */
function tableWith({ columns: names, rows, leftOut }: DataTable, columns: readonly string[]): DataTable {
  const used = columns.filter((column) => column !== '');
  if (used.length === 0) throw invalid('No column of the table is used.');
  if (new Set(used).size < used.length) throw invalid('Two columns of the table are used for the same.');
  const places = names.flatMap((_, at) => ((columns[at] ?? '') === '' ? [] : [at]));
  return { columns: used, rows: rows.map((cells) => places.map((at) => cells[at] ?? '')), leftOut };
}

/** A cell without a name must not make a document for a nameless person. Refusals: `InvalidFlowAction`. */
function assertNamed({ flowActions, observers }: Omit<CreateDocuments, 'files'>): void {
  const people = [
    ...flowActions.flatMap(({ user, signRuleUsers }) => [user, ...(signRuleUsers ?? [])]),
    ...(observers ?? []).map(({ user }) => user),
  ];
  if (people.some((one) => typeof one?.name === 'string' && isBlank(one.name)))
    throw new PortalRefusal('InvalidFlowAction', 'A participant has no name.');
}

/** Refuses with the code of the first row, and names the others. */
function refuseRows(faults: ReadonlyMap<number, PortalRefusal>): void {
  const [first] = faults;
  if (first === undefined) return;
  const [index, { code, errors, ...refusal }] = first;
  const named = [...faults].slice(0, MAX_NAMED_ROWS);
  throw new PortalRefusal(
    code,
    `Row ${index + 1}: ${describeRefusal({ ...refusal, message: first[1].message })}`,
    {
      ...(errors && { errors }),
      details: Object.fromEntries(named.map(([row, fault]) => [`row ${row + 1}`, describeRefusal(fault)])),
    },
  );
}

/** The message of a refusal with what it names, as one line. */
export function describeRefusal({ message, details }: Pick<PortalRefusal, 'message' | 'details'>): string {
  const named = Object.entries(details ?? {}).map(([name, fault]) => `${name}: ${fault}`);
  return [message, ...named].join(' ').slice(0, MAX_MESSAGE_LENGTH);
}

function statusOf(state: string, initialized: number, open: number): GenerationView['status'] {
  if (state === 'Canceling' || state === 'Canceled') return state;
  if (state === 'Failed') return 'Error';
  if (state === 'Making') return initialized === 0 ? 'Pending' : 'Init';
  return open > 0 ? 'WaitingSignatures' : 'Completed';
}
