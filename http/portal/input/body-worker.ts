/** Worker thread that parses large JSON bodies and validates them by the schemas of routes. */

import type { z } from 'zod';
import { parsedInput } from '../../../actors/portal/api.ts';
import { namingIgnored } from '../../../contracts/ignored-members.ts';
import { editFlow, replaceEnvelope, replaceFile } from '../../../contracts/portal/document-changes.ts';
import { createDocuments } from '../../../contracts/portal/new-documents.ts';
import { nameOf } from '../../../contracts/portal/operation.ts';
import { drafts } from '../../../contracts/portal/saved-requests/drafts.ts';
import { saveEditorSession } from '../../../contracts/portal/saved-requests/editor-sessions.ts';
import { createGeneration } from '../../../contracts/portal/saved-requests/generations.ts';
import {
  createMarksSession,
  createMarksSessionOfDocuments,
} from '../../../contracts/portal/saved-requests/marks-sessions.ts';
import {
  createSavedFlowDocuments,
  savedFlows,
} from '../../../contracts/portal/saved-requests/saved-flows.ts';
import {
  createTemplateDocuments,
  generateTemplateDocuments,
  templates,
} from '../../../contracts/portal/saved-requests/templates.ts';
import { signElectronically } from '../../../contracts/portal/signing/signing.ts';
import type { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { credentialsOf } from '../credentials.ts';
import type { BodyAnswer, BodyTask } from './body-wire.ts';
import { parseJsonObject } from './json-body.ts';

/** Schemas of the bodies that may be too large for the main thread. */
const LARGE_BODIES: { readonly [name: string]: z.ZodType } = {
  ...bodiesOf(createDocuments, replaceFile, replaceEnvelope, editFlow, ...signElectronically),
  ...bodiesOf(createMarksSession, createMarksSessionOfDocuments),
  ...bodiesOf(savedFlows.create, savedFlows.replace, createSavedFlowDocuments),
  ...bodiesOf(drafts.create, drafts.replace, saveEditorSession),
  ...bodiesOf(templates.create, templates.replace, createTemplateDocuments),
  ...bodiesOf(generateTemplateDocuments, createGeneration),
};

/** Bodies of declared operations, by the names of the operations. */
function bodiesOf(...operations: readonly (Parameters<typeof nameOf>[0] & { readonly body: z.ZodType })[]): {
  readonly [name: string]: z.ZodType;
} {
  return Object.fromEntries(operations.map((operation) => [nameOf(operation), operation.body]));
}

/** Never throws for client input. */
export function run(task: BodyTask): BodyAnswer {
  try {
    const given = parseJsonObject(task.bytes);
    if (task.task === 'credentials') return { credentials: credentialsOf(given) };
    const schema = LARGE_BODIES[task.schema];
    if (schema === undefined) throw new TypeError(`No schema is named ${task.schema}.`);
    const read = namingIgnored(given, () => parsedInput(schema, given));
    return { body: { ...read, fingerprint: fingerprintOf(given) } };
  } catch (thrown) {
    const { name, code, message, errors } = thrown as PortalRefusal;
    if (name !== 'PortalRefusal') throw thrown;
    return { fault: { code, message, errors: errors && { ...errors } } };
  }
}
