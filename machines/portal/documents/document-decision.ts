/**
 * Decides the outcome of a message to a document, and the resulting effects. Pure.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 */

import type { Millis } from '../../ids.ts';
import type { DeputyMail } from '../mail.ts';
import type { DocumentEvent, Evidence, MailRequest, Participant } from '../portal-types.ts';
import { actorOf } from './deputy-acts.ts';
import type {
  AcceptedSignature,
  DocumentContext,
  DocumentMessage,
  DocumentState,
  RequiredSignature,
  TrailPrincipal,
} from './document-context.ts';
import type { DocumentEffect } from './document-effects.ts';
import { actionsReleased, isDone, usersOf, withAction } from './document-flow.ts';

export interface Decision {
  readonly context: DocumentContext;
  /** Target state; undefined = no transition. */
  readonly to?: DocumentState;
  readonly effects: readonly DocumentEffect[];
  readonly note?: string;
  /** Lines about those who do not take part. */
  readonly skipped?: readonly string[];
  /** State that the line of `note` names. @default the one that the step leads to */
  readonly noteState?: DocumentState;
  /** Principal of the note: participant or application, with address and user agent if known. */
  readonly doneBy?: TrailPrincipal;
  /** Deadlines to set, milliseconds from now. */
  readonly arm?: readonly { readonly name: DeadlineName; readonly delay: Millis }[];
  readonly disarm?: readonly DeadlineName[];
  /** A message that the same step handles next. */
  readonly next?: DocumentMessage;
}

/** Builds the principal of a note about a turn. */
export function turnBy(user: Participant, evidence: Evidence | null): TrailPrincipal {
  return {
    by: user.name ?? user.email,
    userId: user.id,
    ipAddress: evidence?.ipAddress ?? null,
    userAgent: evidence?.userAgent ?? null,
  };
}

/** Stored deadlines and their messages. */
export const DEADLINES = {
  expiry: 'EXPIRE',
  again: 'TRY_AGAIN',
  reminders: 'REMINDERS_DUE',
} as const;
export type DeadlineName = keyof typeof DEADLINES;

export type DocumentMessageOf<Type extends DocumentMessage['type']> = Extract<
  DocumentMessage,
  { readonly type: Type }
>;
export type DecisionFunction<Type extends DocumentMessage['type']> = (
  document: DocumentContext,
  message: DocumentMessageOf<Type>,
) => Decision | undefined;

export function announceEffect(...events: readonly DocumentEvent[]): readonly DocumentEffect[] {
  return [{ type: 'announce', params: { events } }];
}

export function notifyEffect(mails: readonly (MailRequest | DeputyMail)[]): readonly DocumentEffect[] {
  return mails.length === 0 ? [] : [{ type: 'notify', params: { notices: mails } }];
}

export function concludeEffect(document: DocumentContext): DocumentEffect {
  const { format, current, signatures, timestampEnabled, file } = document;
  const expected = requiredSignatures(document);
  const original = file.blob;
  return {
    type: 'conclude',
    params: { format, current, signatures, expected, original, timestamp: timestampEnabled },
  };
}

function requiredSignatures({ made }: DocumentContext): readonly RequiredSignature[] {
  return made.flatMap(({ certificate, fieldName }) =>
    certificate === null ? [] : [{ fieldName, certificate }],
  );
}

/** True when the flow is done once this accepted signature is in the file. */
function completesFlow(
  { actions, made, timestampEnabled }: DocumentContext,
  signature: AcceptedSignature,
): boolean {
  if (timestampEnabled) return false;
  const after = withAction(actions, signature, signature.kind === 'electronic', signature.acceptedAt);
  return isDone(actionsReleased(after, signature.acceptedAt, [...made, signature]).actions);
}

/** True while a failure is recorded and its retry has not begun. */
export function isWaitingForRetry({ processingError }: DocumentContext): boolean {
  return processingError !== null && processingError.nextTryAt !== null;
}

/** Starts to add the next accepted signature, unless one is being added or waits for its retry. */
export function applySignatureEffect(document: DocumentContext): Pick<Decision, 'context' | 'effects'> {
  const [signature] = document.accepted;
  if (signature === undefined || document.applying !== null || isWaitingForRetry(document))
    return { context: document, effects: [] };
  const action = document.actions.find(({ id }) => id === signature.flowActionId);
  const signer = action && usersOf(action).find(({ id }) => id === signature.userId);
  if (action === undefined || signer === undefined) return { context: document, effects: [] };
  const { key, format, current, signatures, organization } = document;
  return {
    context: { ...document, applying: signature.id },
    effects: [
      {
        type: 'applySignature',
        params: {
          signature,
          signer: actorOf(signer, signature.evidence),
          title: action.title,
          xades: action.xadesOptions,
          document: { organizationId: organization.id, key, format, current, signatures },
          ...(completesFlow(document, signature) && {
            conclude: { expected: requiredSignatures(document), original: document.file.blob },
          }),
        },
      },
    ],
  };
}

/** Principal of what the service does by itself. */
export const SERVICE = { by: null, userId: null, ipAddress: null, userAgent: null };
