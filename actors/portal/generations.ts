/**
 * Documents generated from a template and a table. Implements `PortalGenerations`; the documents are made by
 * `effects/generate-documents.ts`.
 *
 * Counters of the documents: `generation/<id>/<made, open or concluded>`.
 *
 * Source: portal-gaps §20, "Generation".
 */
import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  GENERATION_EXPIRED,
  type GenerationContext,
  type GenerationFile,
  type GenerationInput,
  generationMachine,
} from '../../machines/generation.ts';
import { parsePortalId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { ActorDefinition, ActorStore, ActorSystem, Clock, Ids, Json } from '../../runtime/index.ts';
import type { SigningPool } from '../pool/pool.ts';
import type { CreateDocuments, GenerateDocuments, GenerationView, PortalGenerations, Tenant } from './api.ts';
import { type Blobs, blobCounters } from './blobs.ts';
import type { DocumentCreation } from './document-creation.ts';
import { derivedId } from './effect-ids.ts';
import { type DataRow, invalid } from './generation-data.ts';
import { readData } from './generation-files.ts';
import {
  filledIn,
  filledLength,
  filledText,
  type Places,
  placesIn,
  readTemplate,
} from './generation-template.ts';
import { cleanContentType, cleanName } from './upload-names.ts';
import type { Uploads } from './uploads.ts';

export const GENERATION = 'generation';

/** Bytes of the table. */
const LARGEST_TABLE = 1024 * 1024;
/** Bytes of the template, and characters of what becomes of it: a page takes some 4 ms to set. */
const LARGEST_TEXT = 256 * 1024;
/** Rows looked at before others get their turn. */
const PIECE = 32;

export const generationDefinition: ActorDefinition = {
  kind: GENERATION,
  machine: generationMachine,
  version: 1,
  counters: ({ state, context }): { readonly [name: string]: number } => {
    const { template, data } = context as GenerationContext;
    return state === 'Making' ? blobCounters([template.blob, data.blob]) : {};
  },
  ends: ({ state }) => state === GENERATION_EXPIRED,
};

/** What the id of the document of one row, from 0, is made from. */
export function documentSeed(generationId: string, row: number): string {
  return `generation ${generationId} ${row}`;
}

/** What is asked for of the document of one row, its file aside. */
export function wantedOf({ wanted, template, type, folderId }: GenerationInput, row: DataRow, index: number) {
  const base = template.name.replace(/\.[^.]{1,10}$/, '');
  const filled = filledText(base, row).trim();
  const displayName = filled === base || filled === '' ? `${base} ${index + 1}` : filled;
  const request: Omit<CreateDocuments, 'files'> = {
    ...(filledIn(wanted, row) as unknown as Pick<CreateDocuments, 'flowActions'>),
    ...{ type, folderId },
  };
  return { displayName, request };
}

export interface GenerationsParts {
  readonly system: ActorSystem;
  readonly store: Pick<ActorStore, 'counters'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly blobs: Blobs;
  /** Reads spreadsheets. */
  readonly pool: Pick<SigningPool, 'run'>;
  readonly uploads: Pick<Uploads, 'findUpload'>;
  readonly creation: Pick<DocumentCreation, 'assertPossible' | 'folder'>;
}

export class Generations implements PortalGenerations {
  readonly #parts: GenerationsParts;

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
  }

  async create(tenant: Tenant, request: GenerateDocuments, seed?: string): Promise<GenerationView> {
    const { system, clock, ids, blobs, creation } = this.#parts;
    const { templateFile, dataFile, folderId, newFolderName, type, ...rest } = request;
    // As it is stored: without what is not there.
    const wanted = JSON.parse(JSON.stringify(rest)) as GenerationInput['wanted'];
    const id = seed === undefined ? ids.uuid() : derivedId('generation', seed);
    if (seed !== undefined && (await this.#find(tenant, id)) !== undefined) return this.get(tenant, id);
    const template = await this.#file(tenant, templateFile, LARGEST_TEXT);
    const data = await this.#file(tenant, dataFile, LARGEST_TABLE);
    const { text } = readTemplate(await readFile(blobs.pathOf(template.blob)), template);
    const { columns, rows } = await readData(data, id, this.#parts);
    const base: GenerationInput = {
      organization: { id: tenant.organization.id, name: tenant.organization.name },
      createdBy: { id: tenant.application.id, type: 'Application', name: tenant.application.name },
      createdAt: clock.now(),
      ...{ template, data, wanted },
      total: rows.length,
      folderId: null,
      type: type ?? null,
    };
    const places = placesIn([text, template.name, wanted], columns);
    await this.#assertRows(base, rows, places);
    // Nothing is made of a call that is refused.
    const folder = await creation.folder(tenant, folderId ?? null, newFolderName ?? null);
    const input = { ...base, folderId: folder };
    const made = await system.create({ kind: GENERATION, id }, input as unknown as Json);
    if (!made.accepted && made.because !== 'exists') throw new PortalRefusal('ServiceBusy');
    if (made.accepted) await made.durable;
    return this.get(tenant, id);
  }

  async get(tenant: Tenant, id: string): Promise<GenerationView> {
    const found = await this.#find(tenant, id);
    if (found === undefined) throw new PortalRefusal('DocumentGenerationNotFound');
    const { state, context } = found;
    const counted = await this.#parts.store.counters(`generation/${id}/`);
    const count = (what: string) => counted[`generation/${id}/${what}`] ?? 0;
    const initialized = count('made');
    return {
      id,
      status: statusOf(state, initialized, count('open')),
      type: context.type,
      agentId: context.createdBy.id,
      folderId: context.folderId,
      total: context.total,
      initialized,
      completed: count('concluded'),
      error: context.error,
    };
  }

  async #find(tenant: Tenant, id: string) {
    // Its ids are shaped as those of the portal.
    const known = parsePortalId('DocumentId', id);
    const actor = known && (await this.#parts.system.read({ kind: GENERATION, id: known }));
    const context = actor?.context as GenerationContext | undefined;
    if (!actor || context?.organization.id !== tenant.organization.id) return undefined;
    return { state: actor.state, context };
  }

  /** Refusals: `UploadNotFound`, `InvalidGenerationFile`. */
  async #file(
    { organization }: Tenant,
    { id, ...given }: GenerateDocuments['dataFile'],
    largest: number,
  ): Promise<GenerationFile> {
    const { uploads } = this.#parts;
    const { blob } = await uploads.findUpload(organization.id, id);
    const name = cleanName(given.name);
    const contentType = cleanContentType(given.contentType);
    if (blob.length > largest) throw invalid(`The file ${name} has more than ${largest} bytes.`);
    return { name, contentType, blob };
  }

  /** Every row is looked at before the first document is made. */
  async #assertRows(input: GenerationInput, rows: readonly DataRow[], places: Places): Promise<void> {
    for (const [index, row] of rows.entries()) {
      if (index % PIECE === PIECE - 1) await nextTurn();
      if (filledLength(places, row) > LARGEST_TEXT)
        throw invalid(`The document of row ${index + 1} would have more than ${LARGEST_TEXT} characters.`);
      const { request } = wantedOf(input, row, index);
      try {
        this.#parts.creation.assertPossible(request, input.createdAt);
      } catch (error) {
        if (!(error instanceof PortalRefusal)) throw error;
        const { code, message, errors } = error;
        throw new PortalRefusal(code, `Row ${index + 1}: ${message}`, { ...(errors && { errors }) });
      }
    }
  }
}

function statusOf(state: string, initialized: number, open: number): GenerationView['status'] {
  if (state === 'Failed') return 'Error';
  if (state === 'Making') return initialized === 0 ? 'Pending' : 'Init';
  return open > 0 ? 'WaitingSignatures' : 'Completed';
}
