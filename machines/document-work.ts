/**
 * What becomes of accepted work: signatures put into the file, and the conclusion.
 *
 * Source: portal-gaps §§8-11, 14, 15, 19.
 */

import type { DocumentContext } from './document-context.ts';
import {
  announcing,
  applying,
  concluding,
  type Decide,
  type Decision,
  telling,
} from './document-decision.ts';
import { concludedNotices, withEvent } from './document-news.ts';
import { turnDone } from './document-turns.ts';
import type { Millis } from './ids.ts';
import type { MadeAction } from './portal-words.ts';

/** Pauses between tries of accepted work, milliseconds: doubling from the first to the longest. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 5 * 60_000;

/** @param goesOn false in a flow that has stopped: the signature was promised, and nothing follows from it */
const added =
  (goesOn: boolean): Decide<'SIGNATURE_ADDED'> =>
  (document, { at, id, output, certificate }) => {
    const signature = document.accepted.find((one) => one.id === id);
    if (signature === undefined || document.applying !== id) return undefined;
    const { flowActionId, userId, kind, evidence, evidenceSha256, marks, image, fieldName, signingTime } =
      signature;
    const made: MadeAction = {
      ...{ flowActionId, userId, kind, evidence, evidenceSha256, marks, image, fieldName, signingTime },
      at: signature.acceptedAt,
      certificate,
    };
    const isBeside = document.format === 'Cades';
    const changed: DocumentContext = {
      ...document,
      accepted: document.accepted.filter((one) => one !== signature),
      applying: null,
      processingError: null,
      updateDate: at,
      current: isBeside ? document.current : output,
      signatures: isBeside ? output : null,
    };
    const done = turnDone(changed, signature, made, kind === 'electronic', signature.isQuiet, goesOn);
    const next = applying(done.context, at);
    return { ...done, context: next.context, effects: [...done.effects, ...next.effects] };
  };
export const signatureAdded = added(true);
export const lateSignatureAdded = added(false);

export const signatureFailed: Decide<'SIGNATURE_FAILED'> = (document, { at, id, code, message, isFinal }) => {
  if (document.applying !== id) return undefined;
  if (!isFinal) return { ...failing({ ...document, applying: null }, at, code, message), note: message };
  const accepted = document.accepted.filter((one) => one.id !== id);
  const rejected = { id, code, message };
  const changed = { ...document, accepted, applying: null, rejected, processingError: null, updateDate: at };
  return { ...applying(changed, at), note: message };
};

export const conclusionFailed: Decide<'CONCLUSION_FAILED'> = (document, { at, code, message }) => ({
  ...failing(document, at, code, message),
  note: message,
});

/** Keeps what went wrong, and when it is tried again. */
function failing(document: DocumentContext, at: Millis, code: string, message: string): Decision {
  const failures = (document.processingError?.failures ?? 0) + 1;
  const delay = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures - 1, 20));
  const since = document.processingError?.since ?? at;
  const processingError = { code, message, since, nextTryAt: at + delay, failures };
  return {
    context: { ...document, processingError, updateDate: at },
    effects: [],
    arm: [{ name: 'again', delay }],
  };
}

/** True while something failed and is not being tried right now. */
function isWaiting({ processingError }: DocumentContext): boolean {
  return processingError !== null && processingError.nextTryAt !== null;
}

function tryingNow(document: DocumentContext): DocumentContext {
  const { processingError } = document;
  return processingError === null
    ? document
    : { ...document, processingError: { ...processingError, nextTryAt: null } };
}

export const applyAgain: Decide<'TRY_AGAIN' | 'RETRY'> = (document, { at }) =>
  isWaiting(document) ? { ...applying(tryingNow(document), at), disarm: ['again'] } : undefined;

export const concludeAgain: Decide<'TRY_AGAIN' | 'RETRY'> = (document) =>
  isWaiting(document)
    ? { context: tryingNow(document), effects: [concluding(document)], disarm: ['again'] }
    : undefined;

export const concluded: Decide<'CONCLUDED'> = (document, { at, output, tellParticipants }) => {
  const isBeside = document.format === 'Cades';
  const changed: DocumentContext = {
    ...document,
    processingError: null,
    updateDate: at,
    concludedAt: at,
    ...(output !== null && (isBeside ? { signatures: output } : { current: output })),
  };
  const { document: context, event } = withEvent(changed, { type: 'DocumentConcluded' });
  return {
    context,
    to: 'Concluded',
    effects: [...announcing(event), ...telling(concludedNotices(context, tellParticipants))],
    note: 'Concluded.',
  };
};
