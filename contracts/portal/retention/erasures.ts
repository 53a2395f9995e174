/** Erasure of people. Source: docs/decisions/0640-erasure.md. */
import { z } from 'zod';
import { entity, members, shown, text, time, word } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { identity, principal } from '../entities.ts';
import { ANA } from '../examples.ts';
import { pageOf, paging } from '../lists.ts';
import { operationsOf } from '../operation.ts';

/** Grounds on which concluded documents are kept: Article 17(3)(b) and (e) of the GDPR. */
export const KEPT_FOR = ['LegalObligation', 'LegalClaims'] as const;
export type KeptFor = (typeof KEPT_FOR)[number];

/** Documents that a report names. */
export const MAX_NAMED_DOCUMENTS = 200;

const GROUND =
  'Ground on which concluded documents in which the person acted are kept whole. Null: they are deleted.';

const ERASURE_OUTCOMES = ['Erased', 'Deleted', 'Kept', 'Refused'] as const;

const erased = entity('ErasedDocument', {
  documentId: identity,
  outcome: z
    .enum(ERASURE_OUTCOMES)
    .describe('`Erased`: the person is gone from its record. `Deleted`: so, and its files are gone.'),
  code: shown(
    z.string().nullable(),
    'Why it was refused: `InvalidDocumentStatus` (cancel it, or wait for its end), `LegalHold`. Null: it was not.',
    'LegalHold',
  ),
});
export type ErasedDocument = Value<typeof erased>;

const erasure = entity('Erasure', {
  id: identity,
  date: time.describe('Time of the request. Later documents are not looked at.'),
  by: principal.describe('Who asked for it.'),
  isDone: z.boolean().describe('False: the search for the person goes on.'),
  keptFor: z.enum(KEPT_FOR).nullable().describe(GROUND),
  erased: shown(z.int(), 'Documents from which the person was erased, deleted ones included.', 3),
  kept: shown(z.int(), 'Documents that were kept on the ground.', 1),
  refused: shown(z.int(), 'Documents that were refused. Ask again when the reasons are gone.', 1),
  mails: shown(z.int(), 'Kept mails that were removed.', 8),
  documents: z.array(erased).describe(`The first ${MAX_NAMED_DOCUMENTS} of these documents.`),
});
export type ErasureReport = Value<typeof erasure>;

const newErasure = members({
  email: shown(text, 'Address of the person. One in other capital letters is the same.', ANA.email),
  keepFor: word(KEPT_FOR).nullish().describe(GROUND),
})
  .transform(({ email, keepFor = null }) => ({ email, keepFor }))
  .meta({ id: 'NewErasure' });
export type NewErasure = Value<typeof newErasure>;

const operation = operationsOf({ group: 'Retention' });

export const erasePerson = operation('POST /api/erasures', {
  summary: 'Erases a person from the documents of the organization.',
  description:
    'Removes name, identifier, address, telephone, IP addresses, entered texts and pictures from records, lists, kept mails and webhook calls, and from the history, whose chain stays whole. Documents that have ended, and in which the person acted, are deleted with their files, but for concluded ones with `keepFor`. Open and held documents are refused. It goes on after the answer. The report does not name the person.',
  scope: 'Administer',
  body: newErasure,
  reply: erasure,
  examples: { request: { email: ANA.email, keepFor: 'LegalObligation' } },
  refusals: ['TooManyRequests'],
});

export const listErasures = operation('GET /api/erasures', {
  summary: 'Lists the reports of erasures, newest first.',
  description: 'They name documents and counts, not people.',
  scope: 'Read',
  sessionScope: 'Administer',
  query: members({ limit: paging.limit, offset: paging.offset }),
  reply: pageOf(erasure),
});
