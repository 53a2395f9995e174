/**
 * Parents and children of the portal's actors, for inspection. Children are found through existing views or derived
 * from the actor's own data; nothing is stored for this.
 */

import {
  type Actor,
  type ActorAddress,
  type ActorDefinition,
  type ActorStore,
  contextOf,
} from '@sealwright/runtime';
import { PHONE_CHANNELS } from '../../contracts/portal/words.ts';
import type { DocumentId, FolderId } from '../../machines/ids.ts';
import { usersOf } from '../../machines/portal/documents/document-flow.ts';
import { ORGANIZATION } from './accounts/organizations.ts';
import {
  DOCUMENT,
  type DocumentActor,
  documentAddress,
  seededId,
} from './document-records/document-index.ts';
import { FOLDER, foldersIn } from './folders/folders.ts';
import { documentSeed, GENERATION } from './generations/generations.ts';
import { MAIL } from './mails/mails.ts';
import { codesActor, FLOW_ACTION } from './signing/signing-codes.ts';
import { deliveryQueue, WEBHOOK_DELIVERY_QUEUE } from './webhooks/deliveries.ts';
import { WEBHOOK_SET } from './webhooks/webhooks.ts';

type RelatedActors<Context> = Pick<ActorDefinition<Context>, 'parent' | 'children'>;

/** Relatives of the actors of one kind. */
function relatives<Context>(
  { kind }: ActorDefinition<Context>,
  related: RelatedActors<Context>,
): readonly [string, RelatedActors<Context>] {
  return [kind, related];
}

const RELATED_ACTORS = new Map<string, Pick<ActorDefinition, 'parent' | 'children'>>([
  relatives(DOCUMENT, {
    parent: ({ context: { generationId } }) =>
      generationId === undefined ? undefined : { kind: GENERATION.kind, id: generationId },
    children: documentChildren,
  }),
  relatives(FLOW_ACTION, { parent: ({ context }) => documentAddress(context.documentId) }),
  relatives(WEBHOOK_DELIVERY_QUEUE, { parent: ({ context }) => documentAddress(context.documentId) }),
  relatives(MAIL, {
    parent: ({ context: { content } }) =>
      'document' in content ? documentAddress(content.document.id) : undefined,
  }),
  relatives(GENERATION, {
    async children({ id, context }, _, limit) {
      const length = Math.min(limit, context.total / (context.documentsPerRow ?? 1));
      return Array.from({ length }, (_row, row) => documentAddress(seededId(documentSeed(id, row), 0)));
    },
  }),
  relatives(FOLDER, {
    parent: ({ context: { parentId } }) =>
      parentId === null ? undefined : { kind: FOLDER.kind, id: parentId },
    async children({ id, context }, store, limit) {
      const folders = await foldersIn(store, context.organizationId, id as FolderId, limit);
      return folders.map((folder) => ({ kind: FOLDER.kind, id: folder }));
    },
  }),
  relatives(ORGANIZATION, { children: async ({ id }) => [{ kind: WEBHOOK_SET.kind, id }] }),
  relatives(WEBHOOK_SET, { parent: ({ id }) => ({ kind: ORGANIZATION.kind, id }) }),
]);

/** Adds the relatives of actors, and that their histories tell of people. */
export function withRelatedActors(definitions: readonly Actor[]): readonly Actor[] {
  return definitions.map((one) => ({ ...one, isErasable: true, ...RELATED_ACTORS.get(one.kind) }));
}

/** The actors of its codes, the delivery queues of its organization's webhooks, and its newest mails. */
async function documentChildren(
  { id, context: { actions, organization } }: DocumentActor,
  store: Pick<ActorStore, 'load' | 'rows'>,
  limit: number,
): Promise<readonly ActorAddress[]> {
  const webhooks = await store.load({ kind: WEBHOOK_SET.kind, id: organization.id });
  const mails = await store.rows({ view: 'document-mails', prefix: [id], reverse: true, limit });
  return [
    ...actions.flatMap((action) =>
      usersOf(action).flatMap((user) => {
        const turn = { flowActionId: action.id, userId: user.id };
        const channels = PHONE_CHANNELS.filter((channel) => action.confirmations.includes(channel));
        return [turn, ...channels.map((channel) => ({ ...turn, channel }))].map((holder) => ({
          kind: FLOW_ACTION.kind,
          id: codesActor(holder),
        }));
      }),
    ),
    ...((webhooks && contextOf(WEBHOOK_SET, webhooks)?.webhooks) ?? []).map((webhook) => ({
      kind: WEBHOOK_DELIVERY_QUEUE.kind,
      id: deliveryQueue(webhook.id, id as DocumentId),
    })),
    ...mails.map(({ key }) => ({ kind: MAIL.kind, id: String(key[2]) })),
  ];
}
