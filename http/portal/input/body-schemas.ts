/** Schemas of the bodies that may be too large for the main thread. */
import type { z } from 'zod';
import { editFlow, replaceEnvelope, replaceFile } from '../../../contracts/portal/document-changes.ts';
import {
  createMarksSession,
  createMarksSessionOfDocuments,
} from '../../../contracts/portal/marks-sessions.ts';
import { createDocuments } from '../../../contracts/portal/new-documents.ts';
import { nameOf } from '../../../contracts/portal/operation.ts';
import { draftInput } from '../routes/drafts.ts';
import { generationInput } from '../routes/generation.ts';
import { flowInput } from '../routes/saved-flows.ts';
import { templateInput } from '../routes/templates.ts';
import { savedFlowDocumentsInput, templateDocumentsInput, templateGenerationInput } from './flow-inputs.ts';
import { electronicInput } from './signing-inputs.ts';

export const LARGE_BODIES: { readonly [name: string]: z.ZodType } = {
  ...bodiesOf(createDocuments, replaceFile, replaceEnvelope, editFlow),
  ...bodiesOf(createMarksSession, createMarksSessionOfDocuments),
  draft: draftInput,
  generation: generationInput,
  'saved-flow': flowInput,
  'saved-flow-documents': savedFlowDocumentsInput,
  template: templateInput,
  'template-documents': templateDocumentsInput,
  'template-generation': templateGenerationInput,
  'electronic-signature': electronicInput,
};

/** Bodies of declared operations, by the names of the operations. */
function bodiesOf(...operations: readonly (Parameters<typeof nameOf>[0] & { readonly body: z.ZodType })[]): {
  readonly [name: string]: z.ZodType;
} {
  return Object.fromEntries(operations.map((operation) => [nameOf(operation), operation.body]));
}
