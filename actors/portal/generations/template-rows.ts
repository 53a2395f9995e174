/** Rows of a table as people and values of a document template. Source: docs/decisions/0120-templates.md. */

import { MAX_TEXT } from '../../../contracts/fields.ts';
import { isBlank, plainLine } from '../../../contracts/plain-text.ts';
import { MAX_EXTERNAL_ID } from '../../../contracts/portal/document-properties.ts';
import type { NewField, NewFieldValues, NewParticipant, NewRole } from '../../../contracts/portal/flow.ts';
import { LANGUAGES, type Language } from '../../../contracts/portal/words.ts';
import type { GenerationInput } from '../../../machines/portal/generation.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { columnName, type DataRow, invalid } from '../../shared/generation/data-table.ts';
import type { CreateDocuments } from '../api/documents.ts';
import { roleKey } from '../saved-requests/flow-roles.ts';
import { withName, withPeople } from './template-request.ts';

/** Columns of a person, behind the role and a dot. */
const PERSON_COLUMNS = {
  name: 'name',
  email: 'email',
  'e-mail': 'email',
  identifier: 'identifier',
  phone: 'phone',
  language: 'language',
} as const satisfies { readonly [column: string]: keyof NewParticipant };

const DOCUMENT_NAME = 'documentname';
const EXTERNAL_ID = 'externalid';
const DESCRIPTION = 'description';

type Wanted = Pick<GenerationInput, 'wanted' | 'folderId' | 'taggedFields'>;

function requestOf({ wanted, folderId }: Wanted): CreateDocuments {
  return { ...(wanted as unknown as CreateDocuments), folderId };
}

/** A column that a table for a template may have. */
export interface TemplateColumn {
  readonly column: string;
  /** Of a person; absent for fields and properties. */
  readonly role?: string;
  /** Part of the person, or label of the field, or name of the property. */
  readonly text: string;
  /** True for a property of the document. */
  readonly isProperty?: true;
}

/** Columns that a table for a template may have: those of its people and fields, and of the document. */
export function columnsFor(given: Wanted): readonly TemplateColumn[] {
  const request = requestOf(given);
  const fields = fieldsOf(given, request).map(({ name, label }) => ({
    column: columnName(name),
    text: label?.trim() || name.trim(),
  }));
  const ofFields = new Set(fields.map(({ column }) => column));
  const columns: readonly TemplateColumn[] = [
    ...rolesIn(request).flatMap((role) =>
      Object.entries(PERSON_COLUMNS).map(([part, text]) => ({ column: columnOf(role, part), role, text })),
    ),
    ...fields,
    ...[DOCUMENT_NAME, EXTERNAL_ID, DESCRIPTION]
      .filter((column) => !ofFields.has(column))
      .map((column) => ({ column, text: column, isProperty: true as const })),
  ];
  return [...new Map(columns.map((one) => [one.column, one])).values()];
}

/** Asserts that each column is one of a role, a field, or a property. Refusals: `InvalidGenerationFile`. */
export function assertColumns(given: Wanted, columns: readonly string[]): void {
  const known = new Set(columnsFor(given).map(({ column }) => column));
  const unknown = columns.find((column) => !known.has(column));
  if (unknown !== undefined)
    throw invalid(
      `The column ${unknown} is neither a field of the template nor one of its roles with .name, .email, .identifier, .phone or .language.`,
    );
}

/** The request for the documents of one row. Refusals: `InvalidFlowAction`, `InvalidFieldValue`. */
export function requestOfRow(given: Wanted, columns: readonly string[], row: DataRow): CreateDocuments {
  const request = requestOf(given);
  const filled = (column: string) => {
    const cell = row.get(column) ?? '';
    return isBlank(cell) ? undefined : cell.trim();
  };
  const participants = rolesIn(request).flatMap((role): readonly NewRole[] => {
    const entries = Object.entries(PERSON_COLUMNS).flatMap(([column, member]) => {
      const value = filled(columnOf(role, column));
      return value === undefined ? [] : [[member, value] as const];
    });
    if (entries.length === 0) return [];
    const { language, ...texts } = Object.fromEntries(entries);
    const user: NewParticipant = {
      ...texts,
      ...(language !== undefined && { language: languageOf(language) }),
    };
    if (user.name === undefined && columns.includes(columnOf(role, 'name')))
      throw new PortalRefusal('InvalidFlowAction', 'A participant has no name.');
    return [{ role, user }];
  });
  const fields = fieldsOf(given, request);
  const fieldValues: NewFieldValues = Object.fromEntries(
    fields.flatMap(({ name, type }) => {
      const value = filled(columnName(name));
      if (value === undefined) return [];
      return [[name.trim(), type === 'Checkbox' ? value.toLowerCase() : value] as const];
    }),
  );
  const isField = (column: string) => fields.some(({ name }) => columnName(name) === column);
  const property = (column: string) =>
    columns.includes(column) && !isField(column) ? filled(column) : undefined;
  const name = property(DOCUMENT_NAME);
  const externalId = within('ExternalId', plainLine(property(EXTERNAL_ID) ?? ''), MAX_EXTERNAL_ID);
  const description = within('Description', property(DESCRIPTION) ?? '', MAX_TEXT);
  const people = withPeople(request, { participants, fieldValues });
  return {
    ...(name === undefined ? people : withName(people, name)),
    ...(externalId !== '' && { externalId }),
    ...(description !== '' && { description }),
  };
}

function fieldsOf(
  { taggedFields = [] }: Wanted,
  { flowActions }: CreateDocuments,
): readonly Pick<NewField, 'name' | 'type' | 'label'>[] {
  return [...flowActions.flatMap(({ fields }) => fields ?? []), ...taggedFields];
}

/** The text of a cell, which has the bound of its member in requests. Refusals: `BadRequest`. */
function within(name: string, cell: string, most: number): string {
  if (cell.length <= most) return cell;
  throw badField(name, 'is too long');
}

/** Names of the languages in each of them, and their tags; made for the first table that has a language. */
let languageWords: ReadonlyMap<string, Language> | undefined;

function namesOfLanguages(): ReadonlyMap<string, Language> {
  const words = new Map<string, Language>(LANGUAGES.map((language) => [language, language]));
  for (const reader of LANGUAGES) {
    const names = new Intl.DisplayNames([reader], { type: 'language' });
    for (const language of LANGUAGES) words.set((names.of(language) ?? language).toLowerCase(), language);
  }
  return words;
}

/** Reads a tag such as `pt` or `pt-BR`, or a name such as `Portuguese`. Refusals: `InvalidFlowAction`. */
function languageOf(cell: string): Language {
  const word = cell.trim().toLowerCase();
  languageWords ??= namesOfLanguages();
  const named = languageWords.get(word) ?? languageWords.get(/^[a-z]{2}(?=[-_])/.exec(word)?.[0] ?? '');
  if (named !== undefined) return named;
  throw new PortalRefusal(
    'InvalidFlowAction',
    `The language of a participant is one of ${LANGUAGES.join(', ')}.`,
  );
}

/** Titles of the actions that a person can take, each once. */
function rolesIn({ flowActions }: CreateDocuments): readonly string[] {
  const actions = flowActions.filter(({ type }) => type !== 'SignRule' && type !== 'ApproverRule');
  const titles = actions.map(({ title }) => title?.trim() ?? '').filter((title) => title !== '');
  return [...new Map(titles.map((title) => [roleKey(title), title])).values()];
}

function columnOf(role: string, column: string): string {
  return columnName(`${role}.${column}`);
}
