/** Schemas of the bodies that may be too large for the main thread. */
import type { z } from 'zod';
import { draftInput } from '../routes/drafts.ts';
import { generationInput } from '../routes/generation.ts';
import { marksInput, marksOfDocumentsInput } from '../routes/marks-sessions.ts';
import { flowInput } from '../routes/saved-flows.ts';
import { templateInput } from '../routes/templates.ts';
import {
  createDocumentsInput,
  flowEditInput,
  newEnvelopeVersionInput,
  newVersionInput,
  savedFlowDocumentsInput,
  templateDocumentsInput,
  templateGenerationInput,
} from './flow-inputs.ts';
import { electronicInput } from './signing-inputs.ts';

export const LARGE_BODIES: { readonly [name: string]: z.ZodType } = {
  documents: createDocumentsInput,
  draft: draftInput,
  version: newVersionInput,
  'envelope-version': newEnvelopeVersionInput,
  'flow-edit': flowEditInput,
  generation: generationInput,
  marks: marksInput,
  'marks-of-documents': marksOfDocumentsInput,
  'saved-flow': flowInput,
  'saved-flow-documents': savedFlowDocumentsInput,
  template: templateInput,
  'template-documents': templateDocumentsInput,
  'template-generation': templateGenerationInput,
  'electronic-signature': electronicInput,
};
