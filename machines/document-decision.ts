/**
 * What a message to a document leads to, and the work that follows from it. Pure.
 *
 * Source: portal-gaps §§8-11, 14, 15, 19.
 */

import type { DocumentContext, DocumentEffect, DocumentMessage, DocumentState } from './document-context.ts';
import { usersOf } from './document-flow.ts';
import type { Millis } from './ids.ts';
import type { DocumentEvent, Notice } from './portal-words.ts';

export interface Decision {
  readonly context: DocumentContext;
  /** Where it leads; undefined = it stays. */
  readonly to?: DocumentState;
  readonly effects: readonly DocumentEffect[];
  readonly note?: string;
  /** Deadlines to set, milliseconds from now. */
  readonly arm?: readonly { readonly name: DeadlineName; readonly delay: Millis }[];
  readonly disarm?: readonly DeadlineName[];
}

/** Stored deadlines and the message each becomes. */
export const DEADLINES = {
  expiry: 'EXPIRE',
  reservation: 'RESERVATION_OVER',
  again: 'TRY_AGAIN',
} as const;
export type DeadlineName = keyof typeof DEADLINES;

export type Message<Type extends DocumentMessage['type']> = Extract<DocumentMessage, { readonly type: Type }>;
export type Decide<Type extends DocumentMessage['type']> = (
  document: DocumentContext,
  message: Message<Type>,
) => Decision | undefined;

export function announcing(...events: readonly DocumentEvent[]): readonly DocumentEffect[] {
  return [{ do: 'announce', events }];
}

export function telling(notices: readonly Notice[]): readonly DocumentEffect[] {
  return notices.length === 0 ? [] : [{ do: 'notify', notices }];
}

export function concluding(document: DocumentContext): DocumentEffect {
  const { format, current, signatures, made, timestampEnabled } = document;
  const expected = made.flatMap(({ certificate, fieldName }) =>
    certificate === null ? [] : [{ fieldName, certificate }],
  );
  return { do: 'conclude', format, current, signatures, expected, timestamp: timestampEnabled };
}

/** Begins the next accepted signature where nothing stands in its way. */
export function applying(document: DocumentContext, at: Millis): Pick<Decision, 'context' | 'effects'> {
  const [signature] = document.accepted;
  const isHeld = document.format !== 'Cades' && document.reservations.some(({ until }) => until > at);
  const isCompletion = signature?.kind === 'certificate';
  const waits =
    document.processingError?.nextTryAt !== undefined && document.processingError?.nextTryAt !== null;
  if (signature === undefined || document.applying !== null || waits || (isHeld && !isCompletion))
    return { context: document, effects: [] };
  const action = document.actions.find(({ id }) => id === signature.flowActionId);
  const signer = action && usersOf(action).find(({ id }) => id === signature.userId);
  if (action === undefined || signer === undefined) return { context: document, effects: [] };
  const { key, format, current, signatures, organization } = document;
  return {
    context: { ...document, applying: signature.id },
    effects: [
      {
        do: 'applySignature',
        signature,
        signer,
        title: action.title,
        xades: action.xadesOptions,
        document: { organizationId: organization.id, key, format, current, signatures },
      },
    ],
  };
}
