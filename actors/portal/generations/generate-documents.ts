/**
 * Creates the documents of a generation in batches. A repeated attempt continues with the missing ones: the id of each
 * document derives from generation and row.
 *
 * Source: docs/portal-values.md §20.
 */

import { readFile, rm } from 'node:fs/promises';
import { Fatal, Retryable } from '@sealwright/runtime';
import type { WithoutTime } from '@sealwright/runtime/actions';
import type { Millis } from '../../../machines/ids.ts';
import {
  type GenerationContext,
  type GenerationFile,
  type GenerationMessage,
  generateDocuments,
  MAX_REFUSED_AT_ONCE,
  MAX_REFUSED_ROWS,
  type RefusedRow,
} from '../../../machines/portal/generation.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SigningPool } from '../../pool/pool.ts';
import { finalErrors } from '../../shared/failures/final-errors.ts';
import { type DataRow, type DataTable, rowsOf } from '../../shared/generation/data-table.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import type { Blobs } from '../uploads/blobs.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { filePath, readGenerationFiles, refusalOf } from './generation-files.ts';
import { describeRefusal, documentSeed, documentsRequested, GENERATION } from './generations.ts';
import { requestOfRow } from './template-rows.ts';

type RowsRefused = Extract<WithoutTime<GenerationMessage>, { readonly type: 'ROWS_REFUSED' }>;

/** Attempts after errors that nobody foresaw: about 15 seconds. */
const ATTEMPTS = 5;

/** Documents made side by side. */
const BATCH_SIZE = 4;

export function generateDocumentsHandler(
  { actors, clock }: Pick<ServiceRuntime, 'actors' | 'clock'>,
  {
    blobs,
    pool,
    uploads,
    creation,
  }: {
    readonly blobs: Blobs;
    readonly pool: SigningPool;
    readonly uploads: Uploads;
    readonly creation: DocumentCreation;
  },
) {
  const rowDocuments = new RowDocuments(blobs, pool, uploads, creation);
  return generateDocuments.handledBy({
    // A repetition finds what is made, so what may pass is waited for.
    run: finalErrors(async (_: object, { actor, signal }): Promise<WithoutTime<GenerationMessage>> => {
      const found = await actors.read(GENERATION, actor.id);
      if (found === undefined) throw new Fatal('internal', 'The generation is missing.');
      const context = found.context;
      const refusals = new Refusals(context.refused?.length ?? 0, (message) =>
        actors.send(GENERATION, actor.id, message),
      );
      try {
        const { organization, data, source } = context;
        // A generation of an earlier version may have hidden rows; later ones without the member have none.
        const hiddenRows = context.skipHiddenRows === true ? 'skip' : 'read';
        const wanted = { data, hiddenRows } as const;
        const table = await readGenerationFiles(actor.id, organization.id, wanted, { pool, blobs });
        const rows = rowsOf(table.columns, table.rows);
        const isStopped = async () => (await actors.read(GENERATION, actor.id))?.state !== 'Making';
        for (let from = 0; from < rows.length; from += BATCH_SIZE) {
          if (signal.aborted) throw new Retryable('stopping', 'The service stops; the rest is made later.');
          if (await isStopped()) {
            await refusals.tell();
            return { type: 'STOPPED' };
          }
          // Deleting a document may end an upload that it was made of.
          await uploads.restoreAll(source?.uploads ?? []);
          const batch = rows.slice(from, from + BATCH_SIZE);
          await Promise.all(
            batch.map(async (row, at) => {
              const given = { generationId: actor.id, context, table, row, index: from + at };
              const refused = await rowDocuments.create(given, clock.now());
              if (refused !== undefined) refusals.add(refused);
            }),
          );
          if (refusals.length >= MAX_REFUSED_AT_ONCE - BATCH_SIZE) await refusals.tell();
          if (refusals.count > MAX_REFUSED_ROWS) {
            const message = `More than ${MAX_REFUSED_ROWS} rows were refused. Correct the table.`;
            return { type: 'FAILED', code: 'LimitExceeded', message };
          }
        }
        await refusals.tell();
        return { type: 'MADE' };
      } catch (error) {
        if (!(error instanceof PortalRefusal)) throw error;
        if (error.code === 'ServiceBusy') throw new Retryable('busy', error.message);
        await refusals.tell();
        return { type: 'FAILED', code: error.code, message: error.message };
      }
    }, ATTEMPTS),
    failed: (_, { code, message }) => ({ type: 'FAILED', code, message }),
  });
}

/**
 * Refused rows that are not yet reported to the generation. After a crash they are tried again, since they are neither made
 * nor refused.
 */
class Refusals {
  #rows: RefusedRow[] = [];
  /** Of this attempt and earlier ones, reported or not. */
  count: number;

  constructor(
    earlier: number,
    private readonly send: (message: RowsRefused) => Promise<unknown>,
  ) {
    this.count = earlier;
  }

  get length(): number {
    return this.#rows.length;
  }

  add(row: RefusedRow): void {
    this.#rows.push(row);
    this.count += 1;
  }

  async tell(): Promise<void> {
    const rows = this.#rows;
    if (rows.length === 0) return;
    this.#rows = [];
    await this.send({ type: 'ROWS_REFUSED', rows });
  }
}

interface RowRequest {
  readonly generationId: string;
  readonly context: GenerationContext;
  readonly table: DataTable;
  readonly row: DataRow;
  /** From 0. */
  readonly index: number;
}

class RowDocuments {
  constructor(
    private readonly blobs: Blobs,
    private readonly pool: SigningPool,
    private readonly uploads: Uploads,
    private readonly creation: DocumentCreation,
  ) {}

  /** Creates the documents of a row. @returns why a row of a document template became none */
  async create(given: RowRequest, at: Millis): Promise<RefusedRow | undefined> {
    const { generationId, context, index } = given;
    const seed = documentSeed(generationId, index);
    if (context.refused?.some(({ row }) => row === index) || (await this.creation.isMade(seed)))
      return undefined;
    const { createdBy, source, template } = context;
    const tenant: Tenant = {
      organization: context.organization,
      application: { id: createdBy.id as Tenant['application']['id'], name: createdBy.name, role: 'Normal' },
      ...(createdBy.type === 'User' && { user: { id: createdBy.id, name: createdBy.name } }),
    };
    if (source !== undefined) {
      try {
        const request = requestOfRow(context, given.table.columns, given.row);
        const { id, version } = source;
        await this.creation.create(tenant, request, seed, { generationId, template: { id, version } });
        return undefined;
      } catch (error) {
        if (!(error instanceof PortalRefusal) || error.code === 'ServiceBusy') throw error;
        return { row: index, code: error.code, message: describeRefusal(error) };
      }
    }
    if (template === null) throw new Fatal('internal', 'The generation has no template.');
    const { displayName, request } = documentsRequested({ ...context, template }, given.row, index);
    const { bytes, isPages } = await this.#fill(given, template, displayName, at);
    const contentType = isPages ? 'application/pdf' : template.contentType;
    const extension = isPages ? '.pdf' : (/\.[^.]{1,10}$/.exec(template.name)?.[0] ?? '');
    const name = `${displayName.replace(/[/\\]/g, '-')}${extension}`;
    const sink = await this.uploads.open();
    await sink.write(bytes);
    const { id } = await this.uploads.accept(tenant, sink, { name, contentType });
    const file = { displayName, id, name, contentType };
    await this.creation.create(tenant, { ...request, files: [file] }, seed, { generationId });
    return undefined;
  }

  /** The filled template: a PDF, or a text like the template. */
  async #fill(
    { generationId, context: { organization }, table: { columns, rows }, index }: RowRequest,
    template: GenerationFile,
    title: string,
    at: Millis,
  ): Promise<{ readonly bytes: Buffer; readonly isPages: boolean }> {
    const output = this.blobs.temporaryPath();
    try {
      const task = {
        task: 'portal.fill',
        documentId: generationId,
        template: await filePath(template, this.blobs),
        columns,
        cells: rows[index] ?? [],
        title,
        output,
        at,
      } as const;
      const answer = await this.pool.run(task, { organization: organization.id });
      if (!answer.ok) throw refusalOf(answer);
      return { bytes: await readFile(output), isPages: answer.result.makes === 'pages' };
    } finally {
      await rm(output, { force: true });
    }
  }
}
