/**
 * Creates the documents of a generation in batches. A repeated attempt continues with the missing ones: the id of each
 * document derives from generation and row.
 *
 * Source: docs/portal-values.md §20.
 */
import { readFile, rm } from 'node:fs/promises';
import type {
  GenerateDocumentsEffect,
  GenerationContext,
  GenerationMessage,
} from '../../../machines/portal/generation.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type EffectContext, type EffectHandler, Fatal, Retryable } from '../../../runtime/index.ts';
import type { SigningPool } from '../../pool/pool.ts';
import { type DataRow, type DataTable, rowsOf } from '../../shared/generation/generation-data.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import type { Blobs } from '../uploads/blobs.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { filePath, readGenerationFiles, refusalOf } from './generation-files.ts';
import { documentSeed, documentsRequested, GENERATION } from './generations.ts';

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** Documents made side by side. */
const BATCH_SIZE = 4;

export interface GenerateDocumentsDependencies {
  readonly blobs: Blobs;
  readonly pool: SigningPool;
  readonly uploads: Pick<Uploads, 'open' | 'accept'>;
  readonly creation: Pick<DocumentCreation, 'create' | 'isMade'>;
}

export function generateDocumentsHandler(
  dependencies: GenerateDocumentsDependencies,
): EffectHandler<GenerateDocumentsEffect> {
  return {
    after: 'durable',
    partitioning: { atOnce: 2, perPartition: 1, queueKey: ({ organizationId }) => organizationId },
    async run(_, { actor, signal }, { system, clock }): Promise<WithoutTime<GenerationMessage>> {
      const found = await system.read({ kind: GENERATION, id: actor.id });
      if (found === undefined) throw new Fatal('internal', 'The generation is missing.');
      const context = found.context;
      try {
        const table = await readGenerationFiles(
          actor.id,
          context.organization.id,
          context.data,
          dependencies,
        );
        const rows = rowsOf(table);
        for (let from = 0; from < rows.length; from += BATCH_SIZE) {
          if (signal.aborted) throw new Retryable('stopping', 'The service stops; the rest is made later.');
          const batch = rows.slice(from, from + BATCH_SIZE);
          await Promise.all(
            batch.map((row, at) =>
              createBatch({ ...dependencies, clock }, actor.id, context, table, row, from + at),
            ),
          );
        }
        return { type: 'MADE' };
      } catch (error) {
        if (!(error instanceof PortalRefusal)) throw error;
        if (error.code === 'ServiceBusy') throw new Retryable('busy', error.message);
        return { type: 'FAILED', code: error.code, message: error.message };
      }
    },
    failed: (_, { code, message }) => ({ type: 'FAILED', code, message }),
  };
}

async function createBatch(
  dependencies: GenerateDocumentsDependencies & Pick<EffectContext, 'clock'>,
  generationId: string,
  context: GenerationContext,
  table: DataTable,
  row: DataRow,
  index: number,
): Promise<void> {
  const seed = documentSeed(generationId, index);
  const creation = dependencies.creation;
  if (await creation.isMade(seed)) return;
  const tenant: Tenant = {
    organization: context.organization,
    application: {
      id: context.createdBy.id as Tenant['application']['id'],
      name: context.createdBy.name,
      role: 'Normal',
    },
  };
  const { displayName, request } = documentsRequested(context, row, index);
  const { bytes, isPages } = await fill(dependencies, generationId, context, table, index, displayName);
  const contentType = isPages ? 'application/pdf' : context.template.contentType;
  const extension = isPages ? '.pdf' : (/\.[^.]{1,10}$/.exec(context.template.name)?.[0] ?? '');
  const name = `${displayName.replace(/[/\\]/g, '-')}${extension}`;
  const uploads = dependencies.uploads;
  const sink = await uploads.open();
  await sink.write(bytes);
  const { id } = await uploads.accept(tenant, sink, { name, contentType });
  const file = { displayName, id, name, contentType };
  await creation.create(tenant, { ...request, files: [file] }, seed, { generationId });
}

/** The filled template: a PDF, or a text like the template. */
async function fill(
  { blobs, pool, clock }: GenerateDocumentsDependencies & Pick<EffectContext, 'clock'>,
  generationId: string,
  { template, organization }: GenerationContext,
  { columns, rows }: DataTable,
  index: number,
  title: string,
): Promise<{ readonly bytes: Buffer; readonly isPages: boolean }> {
  const output = blobs.temporaryPath();
  try {
    const task = {
      task: 'portal.fill',
      documentId: generationId,
      template: filePath(template, blobs),
      ...{ columns, cells: rows[index] ?? [], title, output, at: clock.now() },
    } as const;
    const answer = await pool.run(task, { organization: organization.id });
    if (!answer.ok) throw refusalOf(answer);
    return { bytes: await readFile(output), isPages: answer.result.makes === 'pages' };
  } finally {
    await rm(output, { force: true });
  }
}
