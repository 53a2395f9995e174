/**
 * Documents generated from a template and a table. Implements `PortalGenerations`; the documents are made by
 * `effects/generate-documents.ts`.
 *
 * Counters of the documents: `generation/<id>/<made, open or concluded>`.
 *
 * Source: docs/portal-values.md §20.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parsePortalId } from '../../../machines/ids.ts';
import {
  GENERATION_EXPIRED,
  type GenerationFile,
  type GenerationInput,
  generationMachine,
} from '../../../machines/portal/generation.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type ActorStore,
  type ActorSystem,
  actorKind,
  type Clock,
  defineActor,
  type Ids,
} from '../../../runtime/index.ts';
import type { SigningPool } from '../../pool/pool.ts';
import { type DataRow, invalid, rowsOf } from '../../shared/generation/generation-data.ts';
import { filledIn, filledText } from '../../shared/generation/generation-template.ts';
import type { Tenant } from '../api/callers.ts';
import type { CreateDocuments } from '../api/documents.ts';
import type { GenerateDocuments, GenerationView, PortalGenerations } from '../api/generations.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { derivedId } from '../shared/effect-ids.ts';
import { type Blobs, blobCounters } from '../uploads/blobs.ts';
import { cleanContentType, cleanName } from '../uploads/upload-names.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { readGenerationFiles } from './generation-files.ts';

export const GENERATION = actorKind<typeof generationMachine>('generation');

/** Bytes of the table. */
const MAX_TABLE = 1024 * 1024;
/** Maximum bytes of the template, and characters of a filled one: layout takes about 4 ms per page. */
const MAX_TEXT = 256 * 1024;
/** Characters filled on the main thread before it yields to other work. */
const CHARACTERS_PER_TURN = 64 * 1024;

export const generationDefinition = defineActor(GENERATION, {
  machine: generationMachine,
  version: 1,
  counters: ({ state, context }): { readonly [name: string]: number } => {
    const { template, data } = context;
    return state === 'Making' ? blobCounters([template.blob, data.blob]) : {};
  },
  ends: ({ state }) => state === GENERATION_EXPIRED,
});

/** Seed of the id of the document of one row, from 0. */
export function documentSeed(generationId: string, row: number): string {
  return `generation ${generationId} ${row}`;
}

/** The request for the document of one row, without its file. */
export function documentsRequested(
  { wanted, template, type, folderId }: GenerationInput,
  row: DataRow,
  index: number,
) {
  const base = template.name.replace(/\.[^.]{1,10}$/, '');
  const filled = filledText(base, row).trim();
  const displayName = filled === base || filled === '' ? `${base} ${index + 1}` : filled;
  const request: Omit<CreateDocuments, 'files'> = {
    ...(filledIn(wanted, row) as unknown as Pick<CreateDocuments, 'flowActions'>),
    ...{ type, folderId },
  };
  return { displayName, request };
}

export interface GenerationsDependencies {
  readonly system: ActorSystem;
  readonly store: Pick<ActorStore, 'counters'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly blobs: Blobs;
  /** Reads the files. */
  readonly pool: Pick<SigningPool, 'run'>;
  readonly uploads: Pick<Uploads, 'findUpload'>;
  readonly creation: Pick<DocumentCreation, 'assertPossible' | 'folder'>;
}

export class Generations implements PortalGenerations {
  readonly #dependencies: GenerationsDependencies;

  constructor(dependencies: GenerationsDependencies) {
    this.#dependencies = dependencies;
  }

  async create(tenant: Tenant, request: GenerateDocuments, seed?: string): Promise<GenerationView> {
    const { system, clock, ids, creation } = this.#dependencies;
    const { templateFile, dataFile, folderId, newFolderName, type, ...rest } = request;
    // As it is stored: without what is not there.
    const wanted = JSON.parse(JSON.stringify(rest)) as GenerationInput['wanted'];
    const id = seed === undefined ? ids.uuid() : derivedId('generation', seed);
    if (seed !== undefined && (await this.#find(tenant, id)) !== undefined) return this.get(tenant, id);
    const template = await this.#file(tenant, templateFile, MAX_TEXT);
    const data = await this.#file(tenant, dataFile, MAX_TABLE);
    const check = { template, texts: wanted, maxCharacters: MAX_TEXT };
    const table = await readGenerationFiles(id, tenant.organization.id, data, this.#dependencies, check);
    const base: GenerationInput = {
      organization: { id: tenant.organization.id, name: tenant.organization.name },
      createdBy: { id: tenant.application.id, type: 'Application', name: tenant.application.name },
      createdAt: clock.now(),
      ...{ template, data, wanted },
      total: table.rows.length,
      folderId: null,
      type: type ?? null,
    };
    await this.#assertRows(base, rowsOf(table));
    // A refused call creates nothing.
    const folder = await creation.folder(tenant, folderId ?? null, newFolderName ?? null);
    const input = { ...base, folderId: folder };
    const made = await system.create({ kind: GENERATION, id }, input);
    if (!made.accepted && made.because !== 'exists') throw new PortalRefusal('ServiceBusy');
    if (made.accepted) await made.durable;
    return this.get(tenant, id);
  }

  async get(tenant: Tenant, id: string): Promise<GenerationView> {
    const found = await this.#find(tenant, id);
    if (found === undefined) throw new PortalRefusal('DocumentGenerationNotFound');
    const { state, context } = found;
    const counted = await this.#dependencies.store.counters(`generation/${id}/`);
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
    const actor = known && (await this.#dependencies.system.read({ kind: GENERATION, id: known }));
    const context = actor?.context;
    if (!actor || context?.organization.id !== tenant.organization.id) return undefined;
    return { state: actor.state, context };
  }

  /** Refusals: `UploadNotFound`, `InvalidGenerationFile`. */
  async #file(
    { organization }: Tenant,
    { id, ...given }: GenerateDocuments['dataFile'],
    largest: number,
  ): Promise<GenerationFile> {
    const { uploads } = this.#dependencies;
    const { blob } = await uploads.findUpload(organization.id, id);
    const name = cleanName(given.name);
    const contentType = cleanContentType(given.contentType);
    if (blob.length > largest) throw invalid(`The file ${name} has more than ${largest} bytes.`);
    return { name, contentType, blob };
  }

  /** Checks the requests of all rows before the first document is created. */
  async #assertRows(input: GenerationInput, rows: readonly DataRow[]): Promise<void> {
    const rowsPerTurn = Math.ceil(CHARACTERS_PER_TURN / (JSON.stringify(input.wanted).length + 1024));
    for (const [index, row] of rows.entries()) {
      if (index % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
      const { request } = documentsRequested(input, row, index);
      try {
        this.#dependencies.creation.assertPossible(request, input.createdAt);
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
