/**
 * Results of accepted work: signatures added to the file, and the conclusion.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 */

import { type Backoff, pauseAfter } from '../../backoff.ts';
import type { Millis } from '../../ids.ts';
import type { CompletedAction, DocumentEvent } from '../portal-types.ts';
import type { DocumentContext } from './document-context.ts';
import {
  announceEffect,
  applySignatureEffect,
  concludeEffect,
  type Decision,
  type DecisionFunction,
  type DocumentMessageOf,
  isWaitingForRetry,
  notifyEffect,
} from './document-decision.ts';
import { concludedMails, withEvent } from './document-notifications.ts';
import { turnCompleted, withoutAttachments } from './participant-actions.ts';

/** Pauses between attempts of accepted work. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 5 * 60_000 };

/** @param goesOn false in a stopped flow: the accepted signature is added without consequences */
const added =
  (goesOn: boolean): DecisionFunction<'SIGNATURE_ADDED'> =>
  (document, { at, id, output, certificate, concluded: conclusion, isRebuilt = false }) => {
    const signature = document.accepted.find((one) => one.id === id);
    if (signature === undefined || document.applying !== id) return undefined;
    const { flowActionId, userId, kind, evidence, evidenceSha256, marks, image, fieldName, signingTime } =
      signature;
    const { values } = signature;
    const made: CompletedAction = {
      flowActionId,
      userId,
      kind,
      evidence,
      evidenceSha256,
      marks,
      image,
      fieldName,
      signingTime,
      at: signature.acceptedAt,
      certificate,
      ...(values !== undefined && { values }),
    };
    const isDetached = document.format === 'Cades';
    const changed: DocumentContext = {
      ...document,
      accepted: document.accepted.filter((one) => one !== signature),
      made: isRebuilt ? document.made.map((one) => signedBy(one, certificate)) : document.made,
      applying: null,
      processingError: null,
      updateDate: at,
      current: isDetached ? document.current : output,
      signatures: isDetached ? output : null,
    };
    const done = turnCompleted(changed, signature, {
      made,
      isElectronic: kind === 'electronic',
      isQuiet: signature.isQuiet,
      goesOn,
    });
    if (conclusion !== undefined && done.to === 'FlowConcluded')
      return conclusionOf(done, { type: 'CONCLUDED', at, output: null, ...conclusion });
    const next = applySignatureEffect(done.context);
    return { ...done, context: next.context, effects: [...done.effects, ...next.effects] };
  };

/** The signature of a rebuilt file is new: the certificate of the service may have been renewed meanwhile. */
function signedBy(made: CompletedAction, certificate: string): CompletedAction {
  return made.certificate === null ? made : { ...made, certificate };
}

export const signatureAdded = added(true);
export const lateSignatureAdded = added(false);

export const signatureFailed: DecisionFunction<'SIGNATURE_FAILED'> = (
  document,
  { at, id, code, message, isFinal },
) => {
  if (document.applying !== id) return undefined;
  if (!isFinal)
    return { ...failureDecision({ ...document, applying: null }, at, code, message), note: message };
  const { values } = document.accepted.find((one) => one.id === id) ?? {};
  const accepted = document.accepted.filter((one) => one.id !== id);
  const rejected = { id, code, message };
  const kept = withoutAttachments(document, values);
  const changed = { ...kept, accepted, applying: null, rejected, processingError: null, updateDate: at };
  return { ...applySignatureEffect(changed), note: message };
};

export const conclusionFailed: DecisionFunction<'CONCLUSION_FAILED'> = (document, { at, code, message }) => ({
  ...failureDecision(document, at, code, message),
  note: message,
});

/** Records the failure, and the time of the retry. */
function failureDecision(document: DocumentContext, at: Millis, code: string, message: string): Decision {
  const failures = (document.processingError?.failures ?? 0) + 1;
  const delay = pauseAfter(failures, BACKOFF);
  const since = document.processingError?.since ?? at;
  const processingError = { code, message, since, nextTryAt: at + delay, failures };
  return {
    context: { ...document, processingError, updateDate: at },
    effects: [],
    arm: [{ name: 'again', delay }],
  };
}

/** Marks the retry of a recorded failure as begun. */
function withRetryBegun(document: DocumentContext): DocumentContext {
  const { processingError } = document;
  return processingError === null
    ? document
    : { ...document, processingError: { ...processingError, nextTryAt: null } };
}

export const applyAgain: DecisionFunction<'TRY_AGAIN' | 'RETRY'> = (document) =>
  isWaitingForRetry(document)
    ? { ...applySignatureEffect(withRetryBegun(document)), disarm: ['again'] }
    : undefined;

export const concludeAgain: DecisionFunction<'TRY_AGAIN' | 'RETRY'> = (document) =>
  isWaitingForRetry(document)
    ? { context: withRetryBegun(document), effects: [concludeEffect(document)], disarm: ['again'] }
    : undefined;

function eventsOf({ effects }: Decision): readonly DocumentEvent[] {
  return effects.flatMap((effect) => (effect.do === 'announce' ? effect.events : []));
}

function effectsBesideEvents({ effects }: Decision): Decision['effects'] {
  return effects.filter((effect) => effect.do !== 'announce');
}

/** The conclusion in the step that completes the flow. */
function conclusionOf(done: Decision, message: DocumentMessageOf<'CONCLUDED'>): Decision | undefined {
  const conclusion = concluded(done.context, message);
  return (
    conclusion && {
      ...conclusion,
      ...(done.disarm && { disarm: done.disarm }),
      effects: [
        ...announceEffect(...eventsOf(done), ...eventsOf(conclusion)),
        ...effectsBesideEvents(conclusion),
      ],
    }
  );
}

export const concluded: DecisionFunction<'CONCLUDED'> = (document, { at, output, tellParticipants }) => {
  const isDetached = document.format === 'Cades';
  const changed: DocumentContext = {
    ...document,
    processingError: null,
    updateDate: at,
    concludedAt: at,
    ...(output !== null && (isDetached ? { signatures: output } : { current: output })),
  };
  const { document: context, event } = withEvent(changed, { type: 'DocumentConcluded' });
  return {
    context,
    to: 'Concluded',
    effects: [...announceEffect(event), ...notifyEffect(concludedMails(context, tellParticipants))],
    note: 'Concluded.',
  };
};
