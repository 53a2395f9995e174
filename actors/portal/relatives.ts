/**
 * Which actors of the portal were made by which, or live for which, for people who look at them. What an actor has many of
 * is taken from a list that is kept for another reason, or follows from what it knows itself: nothing is stored for this.
 */
import type { DocumentContext } from '../../machines/document-context.ts';
import { usersOf } from '../../machines/document-flow.ts';
import type { FlowActionContext } from '../../machines/flow-action.ts';
import type { FolderContext } from '../../machines/folder.ts';
import type { GenerationContext } from '../../machines/generation.ts';
import type { MailContext } from '../../machines/mail.ts';
import type { LaneContext } from '../../machines/webhook.ts';
import type { WebhookSetContext } from '../../machines/webhook-set.ts';
import type { ActorAddress, ActorDefinition } from '../../runtime/index.ts';
import { laneAddress, WEBHOOK_LANE } from './deliveries.ts';
import { DOCUMENT, documentAddress, seededId } from './document-index.ts';
import { FOLDER, foldersIn } from './folders.ts';
import { documentSeed, GENERATION } from './generations.ts';
import { MAIL } from './mails.ts';
import { ORGANIZATION } from './organizations.ts';
import { codesAddress, FLOW_ACTION } from './signing-codes.ts';
import { WEBHOOK_SET } from './webhooks.ts';

type Relatives = Pick<ActorDefinition, 'parent' | 'children'>;

const ofDocument = (documentId: DocumentContext['id']): ActorAddress => documentAddress(documentId);

/** By kind. */
const RELATIVES: { readonly [kind: string]: Relatives } = {
  [DOCUMENT]: {
    parent({ context }) {
      const { generationId } = context as DocumentContext;
      return generationId === undefined ? undefined : { kind: GENERATION, id: generationId };
    },
    children: documentChildren,
  },
  [FLOW_ACTION]: { parent: ({ context }) => ofDocument((context as FlowActionContext).documentId) },
  [WEBHOOK_LANE]: { parent: ({ context }) => ofDocument((context as LaneContext).documentId) },
  [MAIL]: {
    parent({ context }) {
      const { content } = context as MailContext;
      return content.about === 'pending-list' ? undefined : ofDocument(content.document.id);
    },
  },
  [GENERATION]: {
    async children({ id, context }, _, limit) {
      const length = Math.min(limit, (context as GenerationContext).total);
      return Array.from({ length }, (_row, row) => documentAddress(seededId(documentSeed(id, row), 0)));
    },
  },
  [FOLDER]: {
    parent({ context }) {
      const { parentId } = context as FolderContext;
      return parentId === null ? undefined : { kind: FOLDER, id: parentId };
    },
    async children({ id, context }, store, limit) {
      const { organizationId } = context as FolderContext;
      const folders = await foldersIn(store, organizationId, id as never, limit);
      return folders.map((folder) => ({ kind: FOLDER, id: folder }));
    },
  },
  [ORGANIZATION]: { children: async ({ id }) => [{ kind: WEBHOOK_SET, id }] },
  [WEBHOOK_SET]: { parent: ({ id }) => ({ kind: ORGANIZATION, id }) },
};

export function withRelatives(definition: ActorDefinition): ActorDefinition {
  return { ...definition, ...RELATIVES[definition.kind] };
}

/** Who guards its codes, the lanes of its organization's webhooks, and its newest mails. */
async function documentChildren(...given: Parameters<NonNullable<ActorDefinition['children']>>) {
  const [{ id, context }, store, limit] = given;
  const { actions, organization } = context as DocumentContext;
  const webhooks = await store.load({ kind: WEBHOOK_SET, id: organization.id });
  const mails = await store.rows({ view: 'document-mails', prefix: [id], reverse: true, limit });
  const all: readonly ActorAddress[] = [
    ...actions.flatMap((action) =>
      usersOf(action).map((user) => codesAddress({ flowActionId: action.id, userId: user.id })),
    ),
    ...((webhooks?.context as unknown as WebhookSetContext | undefined)?.webhooks ?? []).map((webhook) =>
      laneAddress(webhook.id, id as DocumentContext['id']),
    ),
    ...mails.map(({ key }) => ({ kind: MAIL, id: String(key[2]) })),
  ];
  return all;
}
