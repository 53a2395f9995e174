/**
 * Schemas of requests for documents from saved flows, templates and drafts.
 *
 * Source: docs/portal-values.md §5.
 */
import type { z } from 'zod';
import { list, map, maybeFlag, maybeText, members, textUpTo, wholeFrom } from '../../../contracts/fields.ts';
import {
  fileReference,
  newFieldValue,
  newFile,
  newFlowAction,
  newParticipant,
} from '../../../contracts/portal/flow.ts';
import { creationMembers } from '../../../contracts/portal/new-documents.ts';

const rolesInput = list(
  members({
    role: textUpTo(500).describe('Title of the flow actions that this person takes, in any case.'),
    user: newParticipant,
  }),
  { most: 100 },
).nullish();

const fieldValuesInput = map(newFieldValue.nullable())
  .nullish()
  .describe('Values by name of field; participants may change those of fields that are not read-only.');

/** A creation request whose flow actions are those of a saved flow. */
export const savedFlowDocumentsInput = members({
  files: list(newFile, { least: 1 }),
  participants: rolesInput,
  ...creationMembers,
  fieldValues: fieldValuesInput,
});

/** A creation request of a template: its members replace those of the template. */
const templateMembers = {
  ...creationMembers,
  version: wholeFrom(1, 1_000_000).nullish().describe('Version of the template; left out: the newest.'),
  documentName: maybeText.describe('Name of the document, which mails have in their subject.'),
};

function templateRequest({
  version,
  documentName,
  participantsDataFile: _participants,
  securityContextId: _context,
  templateId: _template,
  templateFieldValues: _values,
  ...properties
}: z.output<z.ZodObject<typeof templateMembers>>) {
  return { version: version ?? null, documentName: documentName ?? null, properties };
}

export const templateGenerationInput = members({
  dataFile: fileReference,
  skipRefusedRows: maybeFlag.describe(
    'True: rows that are refused become no documents, and the others do. Otherwise one such row refuses the call.',
  ),
  ...templateMembers,
}).transform(({ dataFile, skipRefusedRows, ...given }) => ({
  ...templateRequest(given),
  dataFile,
  skipRefusedRows: skipRefusedRows === true,
}));

export const templateDocumentsInput = members({
  participants: rolesInput,
  fieldValues: fieldValuesInput,
  ...templateMembers,
}).transform(({ participants, fieldValues, ...given }) => ({
  ...templateRequest(given),
  participants: participants ?? [],
  fieldValues: fieldValues ?? {},
}));

/** A creation request that is kept, and may still lack files and flow actions. */
export const draftedDocumentsInput = members({
  files: list(newFile).nullish(),
  flowActions: list(newFlowAction).nullish(),
  ...creationMembers,
});
