/** Flows kept to be used again. Source: docs/portal-values.md §20. */

import { z } from 'zod';
import { anyObject, asSent, entity, list, maybeFlag, members, shown } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { recordName, recordNames } from '../entities.ts';
import { ANA, FILE, SIGNER } from '../examples.ts';
import { fieldValues, newFlowAction, newObserver, roles } from '../flow.ts';
import { idIn } from '../ids.ts';
import {
  CREATION_REFUSALS,
  createdDocument,
  creationMembers,
  FEW_ACTIONS,
  FEW_OBSERVERS,
  FLOW_ACTIONS,
  newFiles,
  newFlowActions,
  OBSERVERS,
} from '../new-documents.ts';
import { operation } from '../operation.ts';
import { UNKNOWN_FILES } from '../refusals.ts';
import { recordOperations, recordTimes } from './records.ts';

const ORDERED =
  'Whether actions without a `step` act one after the other, as they are listed. Default false: they act in step 0. A given `step` is kept.';

const savedFlowItem = entity('SavedFlowItem', { ...recordNames, ...recordTimes });

const savedFlow = savedFlowItem
  .extend({
    areActionsOrdered: z.boolean().describe(ORDERED),
    flowActions: shown(z.array(anyObject), 'As they were sent.', [SIGNER]),
    observers: shown(z.array(anyObject), 'As they were sent.', [{ user: ANA }]),
  })
  .meta({ id: 'SavedFlow' });

const newSavedFlow = members({
  name: recordName,
  areActionsOrdered: maybeFlag.describe(ORDERED),
  flowActions: list(asSent(newFlowAction), FEW_ACTIONS).describe(FLOW_ACTIONS),
  observers: list(asSent(newObserver), FEW_OBSERVERS).nullish().describe(OBSERVERS),
})
  .transform(({ name, areActionsOrdered, flowActions, observers }) => ({
    name,
    areActionsOrdered: areActionsOrdered ?? false,
    flowActions,
    observers: observers ?? [],
  }))
  .meta({ id: 'NewSavedFlow' });

/** Actions and observers of a saved flow, as its documents get them. */
export const savedActions = members({
  flowActions: newFlowActions,
  observers: list(newObserver),
});

const savedFlowDocuments = members({
  files: newFiles,
  participants: roles,
  ...creationMembers,
  fieldValues,
}).meta({ id: 'SavedFlowDocuments' });

const params = z.object({ id: idIn('Id of the saved flow.') });

export const savedFlows = recordOperations({
  path: '/api/document-flows',
  group: 'Saved flows',
  texts: {
    list: { summary: 'Lists saved flows.', description: '`q` searches in names.' },
    create: {
      summary: 'Saves a flow.',
      description:
        'The flow has actions and observers, and no files. Only its JSON is checked now; the rest is checked when documents are created. An organization has at most 1,000 flows (`LimitExceeded`). The same `Idempotency-Key` with the same request returns the same flow.',
      examples: { request: { name: 'Lease', areActionsOrdered: true, flowActions: [SIGNER] } },
    },
    get: {
      summary: 'Returns a saved flow as it was sent.',
      description: 'A flow of another organization is `DocumentFlowNotFound`.',
    },
    replace: {
      summary: 'Replaces a saved flow.',
      description: 'Documents that were created with it do not change.',
      examples: { request: { name: 'Lease of flats', areActionsOrdered: true, flowActions: [SIGNER] } },
    },
    remove: {
      summary: 'Deletes a saved flow.',
      description: 'Documents that were created with it do not change.',
    },
  },
  params,
  body: newSavedFlow,
  item: savedFlowItem,
  view: savedFlow,
  notFound: 'DocumentFlowNotFound',
  notSaved: ['LimitExceeded'],
});

export const createSavedFlowDocuments = operation('POST /api/document-flows/{id}/documents', {
  group: 'Saved flows',
  summary: 'Creates documents from uploads with a saved flow and the people for its roles.',
  description:
    'The titles of the flow’s actions are its roles; `participants` names the person for each. Checks, refusals, e-mails and events are those of `POST /api/documents`. The same `Idempotency-Key` with the same request returns the same documents.',
  scope: 'Create',
  idempotent: true,
  params,
  body: savedFlowDocuments,
  largeBody: true,
  reply: z.array(createdDocument),
  examples: { request: { files: [FILE], participants: [{ role: 'Tenant', user: ANA }] } },
  refusals: ['DocumentFlowNotFound', 'IdempotencyConflict', ...UNKNOWN_FILES, ...CREATION_REFUSALS],
});

export type SavedFlowItem = Value<typeof savedFlowItem>;
export type SavedFlowView = Value<typeof savedFlow>;
export type NewSavedFlow = Value<typeof newSavedFlow>;
export type SavedFlowDocuments = Value<typeof savedFlowDocuments>;
