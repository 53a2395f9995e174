/**
 * Makes the documents of a generation, some at a time. A try that was cut short goes on with what is missing: each
 * document has an id that derives from its generation and row.
 *
 * Source: portal-gaps §20, "Generation".
 */
import { readFile, rm } from 'node:fs/promises';
import type {
  GenerateDocumentsEffect,
  GenerationContext,
  GenerationEvent,
} from '../../../machines/generation.ts';
import { PortalRefusal } from '../../../machines/portal-refusals.ts';
import {
  type ActorSystem,
  type Clock,
  type EffectHandler,
  Fatal,
  Retryable,
} from '../../../runtime/index.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { Tenant } from '../api.ts';
import type { Blobs } from '../blobs.ts';
import type { DocumentCreation } from '../document-creation.ts';
import { inAscii } from '../document-files.ts';
import type { DataRow } from '../generation-data.ts';
import { readData } from '../generation-files.ts';
import { filledText, readTemplate, type Template } from '../generation-template.ts';
import { documentSeed, wantedOf } from '../generations.ts';
import type { Uploads } from '../uploads.ts';

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** Documents made side by side. */
const PIECE = 4;

export interface GenerateDocumentsParts {
  readonly system: () => ActorSystem;
  readonly clock: Pick<Clock, 'now'>;
  readonly blobs: Blobs;
  readonly pool: SigningPool;
  readonly uploads: () => Pick<Uploads, 'open' | 'accept'>;
  readonly creation: () => Pick<DocumentCreation, 'create' | 'isMade'>;
}

export function generateDocumentsHandler(
  parts: GenerateDocumentsParts,
): EffectHandler<GenerateDocumentsEffect> {
  return {
    after: 'durable',
    lanes: { atOnce: 2, perLane: 1, of: ({ organizationId }) => organizationId },
    async run(_, { actor, signal }): Promise<WithoutTime<GenerationEvent>> {
      const found = await parts.system().read(actor);
      if (found === undefined) throw new Fatal('internal', 'The generation is missing.');
      const context = found.context as GenerationContext;
      try {
        const text = await readFile(parts.blobs.pathOf(context.template.blob));
        const template = readTemplate(text, context.template);
        const { rows } = await readData(context.data, actor.id, parts);
        for (let from = 0; from < rows.length; from += PIECE) {
          if (signal.aborted) throw new Retryable('stopping', 'The service stops; the rest is made later.');
          const piece = rows.slice(from, from + PIECE);
          await Promise.all(piece.map((row, at) => make(parts, actor.id, context, template, row, from + at)));
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

async function make(
  parts: GenerateDocumentsParts,
  generationId: string,
  context: GenerationContext,
  template: Template,
  row: DataRow,
  index: number,
): Promise<void> {
  const seed = documentSeed(generationId, index);
  const creation = parts.creation();
  if (await creation.isMade(seed)) return;
  const tenant: Tenant = {
    organization: context.organization,
    application: {
      id: context.createdBy.id as Tenant['application']['id'],
      name: context.createdBy.name,
      role: 'Normal',
    },
  };
  const { displayName, request } = wantedOf(context, row, index);
  const text = filledText(template.text, row, template.escape);
  const isPages = template.makes === 'pages';
  const bytes = isPages ? await pagesOf(parts, generationId, text, displayName) : Buffer.from(text);
  const contentType = isPages ? 'application/pdf' : context.template.contentType;
  const extension = isPages ? '.pdf' : (/\.[^.]{1,10}$/.exec(context.template.name)?.[0] ?? '');
  const name = `${displayName.replace(/[/\\]/g, '-')}${extension}`;
  const uploads = parts.uploads();
  const sink = await uploads.open();
  await sink.write(bytes);
  const { id } = await uploads.accept(tenant, sink, { name, contentType });
  const file = { displayName, id, name, contentType };
  await creation.create(tenant, { ...request, files: [file] }, seed, generationId);
}

async function pagesOf(
  { blobs, pool, clock }: GenerateDocumentsParts,
  generationId: string,
  text: string,
  title: string,
): Promise<Buffer> {
  const output = blobs.temporaryPath();
  try {
    const answer = await pool.run({
      task: 'portal.typeset',
      documentId: generationId,
      ...{ text, title, output, at: clock.now() },
    });
    if (!answer.ok) throw new Retryable('typeset.failed', inAscii(answer.message));
    return await readFile(output);
  } finally {
    await rm(output, { force: true });
  }
}
