/**
 * A document and its flow, from its creation to its conclusion.
 *
 * | from          | message             | to            | effects                  | when                    |
 * |---------------|---------------------|---------------|--------------------------|-------------------------|
 * | Pending       | SIGN                | Pending       | applySignature           |                         |
 * | Pending       | APPROVE             | Pending       | announce, notify         | others are pending      |
 * | Pending       | APPROVE             | FlowConcluded | announce, conclude       | the flow is done        |
 * | Pending       | REFUSE_TURN         | Refused       | announce, notify         | it stops the flow       |
 * | Pending       | REFUSE_TURN         | Pending       | announce                 | others can complete it  |
 * | Pending       | PASS_ON             | Pending       | announce, notify         |                         |
 * | Pending       | RESERVE             | Pending       |                          |                         |
 * | Pending       | BEGUN               | Pending       |                          |                         |
 * | Pending       | GIVE_UP             | Pending       |                          |                         |
 * | Pending       | RESERVATION_OVER    | Pending       |                          |                         |
 * | Pending       | COMPLETE            | Pending       | applySignature           |                         |
 * | Pending       | SIGNATURE_ADDED     | Pending       | announce, notify         | others are pending      |
 * | Pending       | SIGNATURE_ADDED     | FlowConcluded | announce, conclude       | the flow is done        |
 * | Pending       | SIGNATURE_ADDED     | Concluded     | announce, notify         | so, and it is verified  |
 * | Pending       | SIGNATURE_FAILED    | Pending       |                          |                         |
 * | Pending       | TRY_AGAIN           | Pending       | applySignature           |                         |
 * | Pending       | RETRY               | Pending       | applySignature           |                         |
 * | Pending       | REFUSE              | Refused       | announce, notify         |                         |
 * | Pending       | CANCEL              | Canceled      | announce, notify         | if asked, untouched     |
 * | Pending       | EXPIRE              | Expired       | announce                 | nothing is under way    |
 * | Pending       | EXPIRE              | Pending       |                          | a signature is          |
 * | Pending       | NEW_VERSION         | Pending       | notify                   |                         |
 * | Pending       | EDIT_FLOW           | Pending       | notify                   |                         |
 * | Pending       | REMIND              | Pending       | announce, notify         |                         |
 * | Pending       | SET_REMINDERS       | Pending       |                          |                         |
 * | Pending       | REMINDERS_DUE       | Pending       | announce, notify         |                         |
 * | FlowConcluded | CONCLUDED           | Concluded     | announce, notify         |                         |
 * | FlowConcluded | CONCLUSION_FAILED   | FlowConcluded |                          |                         |
 * | FlowConcluded | TRY_AGAIN           | FlowConcluded | conclude                 |                         |
 * | FlowConcluded | RETRY               | FlowConcluded | conclude                 |                         |
 * | Refused       | SIGNATURE_ADDED     | Refused       | announce                 |                         |
 * | Refused       | SIGNATURE_FAILED    | Refused       |                          |                         |
 * | Refused       | RESERVATION_OVER    | Refused       |                          |                         |
 * | Refused       | TRY_AGAIN           | Refused       | applySignature           |                         |
 * | Refused       | RETRY               | Refused       | applySignature           |                         |
 * | Refused       | NEW_VERSION         | Pending       | notify                   |                         |
 * | Refused       | SET_REMINDERS       | Refused       |                          |                         |
 * | Refused       | CANCEL              | Canceled      | announce, notify         |                         |
 * | Refused       | EXPIRE              | Expired       | announce                 | nothing is under way    |
 * | Refused       | EXPIRE              | Refused       |                          | a signature is          |
 * | Canceled      | SIGNATURE_ADDED     | Canceled      | announce                 |                         |
 * | Canceled      | SIGNATURE_FAILED    | Canceled      |                          |                         |
 * | Canceled      | RESERVATION_OVER    | Canceled      |                          |                         |
 * | Canceled      | TRY_AGAIN           | Canceled      | applySignature           |                         |
 * | Canceled      | RETRY               | Canceled      | applySignature           |                         |
 * | Pending       | DELETE              | Deleted       | announce, forgetFiles    |                         |
 * | FlowConcluded | DELETE              | Deleted       | announce, forgetFiles    |                         |
 * | Concluded     | DELETE              | Deleted       | announce, forgetFiles    |                         |
 * | Refused       | DELETE              | Deleted       | announce, forgetFiles    |                         |
 * | Canceled      | DELETE              | Deleted       | announce, forgetFiles    |                         |
 * | Expired       | DELETE              | Deleted       | announce, forgetFiles    |                         |
 * | Pending       | MOVE                | Pending       |                          |                         |
 * | FlowConcluded | MOVE                | FlowConcluded |                          |                         |
 * | Concluded     | MOVE                | Concluded     |                          |                         |
 * | Refused       | MOVE                | Refused       |                          |                         |
 * | Canceled      | MOVE                | Canceled      |                          |                         |
 * | Expired       | MOVE                | Expired       |                          |                         |
 * | Pending       | RECORD              | Pending       |                          | of what no event tells  |
 * | Pending       | RECORD              | Pending       | announce                 | of what an event tells  |
 * | FlowConcluded | RECORD              | FlowConcluded |                          | of what no event tells  |
 * | FlowConcluded | RECORD              | FlowConcluded | announce                 | of what an event tells  |
 * | Concluded     | RECORD              | Concluded     |                          | of what no event tells  |
 * | Concluded     | RECORD              | Concluded     | announce                 | of what an event tells  |
 * | Refused       | RECORD              | Refused       |                          | of what no event tells  |
 * | Refused       | RECORD              | Refused       | announce                 | of what an event tells  |
 * | Canceled      | RECORD              | Canceled      |                          | of what no event tells  |
 * | Canceled      | RECORD              | Canceled      | announce                 | of what an event tells  |
 * | Expired       | RECORD              | Expired       |                          | of what no event tells  |
 * | Expired       | RECORD              | Expired       | announce                 | of what an event tells  |
 * | Pending       | SET_NOTIFIED_EMAILS | Pending       |                          |                         |
 * | FlowConcluded | SET_NOTIFIED_EMAILS | FlowConcluded |                          |                         |
 * | Concluded     | SET_NOTIFIED_EMAILS | Concluded     |                          |                         |
 * | Refused       | SET_NOTIFIED_EMAILS | Refused       |                          |                         |
 * | Canceled      | SET_NOTIFIED_EMAILS | Canceled      |                          |                         |
 * | Expired       | SET_NOTIFIED_EMAILS | Expired       |                          |                         |
 * | Pending       | HOLD                | Pending       |                          |                         |
 * | FlowConcluded | HOLD                | FlowConcluded |                          |                         |
 * | Concluded     | HOLD                | Concluded     |                          |                         |
 * | Refused       | HOLD                | Refused       |                          |                         |
 * | Canceled      | HOLD                | Canceled      |                          |                         |
 * | Expired       | HOLD                | Expired       |                          |                         |
 * | Concluded     | PLAN_DELETION       | Concluded     |                          |                         |
 * | Refused       | PLAN_DELETION       | Refused       |                          |                         |
 * | Canceled      | PLAN_DELETION       | Canceled      |                          |                         |
 * | Expired       | PLAN_DELETION       | Expired       |                          |                         |
 * | Concluded     | ERASE               | Deleted       | announce, forgetFiles    | the person acts in it   |
 * | Concluded     | ERASE               | Concluded     |                          | the person reads alone  |
 * | Refused       | ERASE               | Deleted       | announce, forgetFiles    | the person acts in it   |
 * | Refused       | ERASE               | Refused       |                          | the person reads alone  |
 * | Canceled      | ERASE               | Deleted       | announce, forgetFiles    | the person acts in it   |
 * | Canceled      | ERASE               | Canceled      |                          | the person reads alone  |
 * | Expired       | ERASE               | Deleted       | announce, forgetFiles    | the person acts in it   |
 * | Expired       | ERASE               | Expired       |                          | the person reads alone  |
 * | Deleted       | ERASE               | Deleted       |                          |                         |
 *
 * `notify` is omitted without recipients. The creation asks for `announce` and `notify`, and for `confirmDraft` if a draft
 * was sent. SIGN and COMPLETE accept a signature, which is added to the file by
 * `applySignature`, one after the other, each to the result of the one before; SIGNATURE_ADDED completes its action.
 * Both may bring a signature that was made for the document as it is; SIGNATURE_ADDED follows in the same step.
 * The task that adds the last signature also verifies the file where it can; SIGNATURE_ADDED then also concludes.
 * While other signatures wait, SIGNATURE_ADDED, SIGNATURE_FAILED and RESERVATION_OVER also ask for
 * `applySignature`. Accepted signatures are added even when the flow is stopped meanwhile.
 *
 * A legal hold refuses DELETE, NEW_VERSION and ERASE (`legal-hold.ts`).
 *
 * SIGNATURE_FAILED and CONCLUSION_FAILED are kept as `processingError` and tried again, by a stored deadline with
 * growing pauses (TRY_AGAIN) or at once (RETRY).
 *
 * RESERVE records which file a participant's external key will sign (COMPLETE). It blocks no other signature: COMPLETE is not accepted
 * after another signature has changed the file, except for detached signatures.
 *
 * The ends Concluded, Refused, Canceled and Expired also ask for `forgetParticipantUploads` when a field asks for a file:
 * uploads that no signature names end with the document.
 *
 * The deadline `reminders` is set after each decision for the next reminder or warning (`document-reminders.ts`).
 *
 * Source: docs/portal-values.md §8; the rules of §§6, 10, 14 and 15.
 */

import { erase as eraseLines, type NoteParams, note } from '@sealwright/runtime/actions';
import { setup } from 'xstate';
import type { FileWarning } from '../../../contracts/file-warnings.ts';
import { type Backoff, pauseAfter } from '../../backoff.ts';
import type { Millis } from '../../ids.ts';
import { decideOnce } from '../../record.ts';
import { notify } from '../mail.ts';
import type { CompletedAction, DocumentEvent } from '../portal-types.ts';
import type { DocumentContext, DocumentInput, DocumentMessage, DocumentState } from './document-context.ts';
import {
  announceEffect,
  applySignatureEffect,
  concludeEffect,
  DEADLINES,
  type DeadlineName,
  type Decision,
  type DecisionFunction,
  type DocumentMessageOf,
  isWaitingForRetry,
  notifyEffect,
  SERVICE,
} from './document-decision.ts';
import { editFlow } from './document-edits.ts';
import * as documentEffects from './document-effects.ts';
import { actionsReleased, initialAction, inOrder } from './document-flow.ts';
import * as lifecycle from './document-lifecycle.ts';
import { concludedMails, startMails, summaryOf, withEvent } from './document-notifications.ts';
import {
  nextReminderAt,
  remind,
  remindersDue,
  setRefusedReminders,
  setReminders,
  withReminderDeadline,
} from './document-reminders.ts';
import * as reservations from './document-reservations.ts';
import { record } from './document-trail.ts';
import { erase } from './erasure.ts';
import { hold, isFinal, isHeldBack, planDeletion, withEnd } from './legal-hold.ts';
import * as participantActions from './participant-actions.ts';
import { turnCompleted, withoutAttachments } from './participant-actions.ts';
import { passOn } from './passing-on.ts';

/**
 * Creates the initial context of a document.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 */
function createDocument(input: DocumentInput): Decision {
  const { at, actions: plans, quietStart, siblings, requestOrigin: _, draft, ...members } = input;
  const { actions } = actionsReleased(inOrder(plans.map((plan) => initialAction(plan, at))), at, []);
  const bare: DocumentContext = {
    ...members,
    creationDate: at,
    updateDate: at,
    version: 1,
    current: members.file.blob,
    signatures: null,
    actions,
    made: [],
    accepted: [],
    applying: null,
    reservations: [],
    rejected: null,
    processingError: null,
    statusUpdatedBy: null,
    statusUpdateReason: null,
    sequence: 0,
    concludedAt: null,
    statusBefore: null,
    ...(quietStart && { startedQuietly: true }),
  };
  const announced = siblings === null ? undefined : withEvent(bare, createdEvent(bare, siblings));
  const context = announced?.document ?? bare;
  // Those of others are in the mails of the document that announces it.
  const isQuiet = quietStart || context.disableNotifications || context.announcedBy !== undefined;
  return {
    context,
    effects: [
      ...(announced === undefined ? [] : announceEffect(announced.event)),
      ...notifyEffect(isQuiet ? [] : startMails([context, ...(siblings ?? [])])),
      ...(draft === undefined
        ? []
        : [{ type: 'confirmDraft', params: { draft, createdAt: at, by: members.createdBy } } as const]),
    ],
    arm: [
      ...deadline('expiry', context.expirationDate, at),
      ...deadline('reminders', nextReminderAt(context), at),
    ],
  };
}

function deadline(name: DeadlineName, due: Millis | null, at: Millis): NonNullable<Decision['arm']> {
  return due === null ? [] : [{ name, delay: Math.max(0, due - at) }];
}

function createdEvent(
  document: DocumentContext,
  siblings: NonNullable<DocumentInput['siblings']>,
): Pick<DocumentEvent, 'type' | 'documents'> {
  const documents = [document, ...siblings].map(summaryOf);
  return { type: 'DocumentsCreated', ...(siblings.length > 0 && { documents }) };
}

/** Pauses between attempts of accepted work. */
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 5 * 60_000 };

/** Most warnings of a file; more signatures add none. */
const MAX_WARNINGS = 50;

/** Adds warnings that the file does not have yet. */
function warned(file: DocumentContext['file'], found: readonly FileWarning[]): DocumentContext['file'] {
  const known = file.warnings ?? [];
  const more = found.filter(({ message }) => !known.some((one) => one.message === message));
  return { ...file, warnings: [...known, ...more].slice(0, MAX_WARNINGS) };
}

/** @param goesOn false in a stopped flow: the accepted signature is added without consequences */
const added =
  (goesOn: boolean): DecisionFunction<'SIGNATURE_ADDED'> =>
  (document, { at, id, output, certificate, concluded: conclusion, isRebuilt = false, warnings }) => {
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
      ...(warnings && { file: warned(document.file, warnings) }),
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

// Results of accepted work: signatures added to the file, and the conclusion (docs/portal-values.md §§8-11, 14, 15, 19).

export const signatureAdded = added(true);
const lateSignatureAdded = added(false);

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

const conclusionFailed: DecisionFunction<'CONCLUSION_FAILED'> = (document, { at, code, message }) => ({
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

const applyAgain: DecisionFunction<'TRY_AGAIN' | 'RETRY'> = (document) =>
  isWaitingForRetry(document)
    ? { ...applySignatureEffect(withRetryBegun(document)), disarm: ['again'] }
    : undefined;

const concludeAgain: DecisionFunction<'TRY_AGAIN' | 'RETRY'> = (document) =>
  isWaitingForRetry(document)
    ? { context: withRetryBegun(document), effects: [concludeEffect(document)], disarm: ['again'] }
    : undefined;

function eventsOf({ effects }: Decision): readonly DocumentEvent[] {
  return effects.flatMap((effect) => (effect.type === 'announce' ? effect.params.events : []));
}

function effectsBesideEvents({ effects }: Decision): Decision['effects'] {
  return effects.filter(({ type }) => type !== 'announce');
}

/** The conclusion in the step that completes the flow. */
function conclusionOf(done: Decision, message: DocumentMessageOf<'CONCLUDED'>): Decision | undefined {
  const conclusion = concluded(done.context, message);
  return (
    conclusion && {
      ...conclusion,
      ...(done.disarm && { disarm: done.disarm }),
      ...(done.skipped && { skipped: done.skipped }),
      effects: [
        ...announceEffect(...eventsOf(done), ...eventsOf(conclusion)),
        // Of a deputy.
        ...done.effects.filter(({ type }) => type === 'notify'),
        ...effectsBesideEvents(conclusion),
      ],
    }
  );
}

const concluded: DecisionFunction<'CONCLUDED'> = (document, { at, output, tellParticipants }) => {
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

/** Decides on a message; undefined when the document does not accept it. Its transition names the message's type. */
interface Decider {
  decide(document: DocumentContext, message: DocumentMessage): Decision | undefined;
}

/** A transition: its decision, and the target state it is taken for; undefined = the document stays in its state. */
interface DecidedTransition extends Decider {
  readonly to: DocumentState | undefined;
}

/** The guards of all target states and the action ask for the decision on the same message. */
const decideOnMessage = decideOnce<DocumentContext, DocumentMessage, Decision | undefined>();
const decideOnCreation = decideOnce<DocumentInput, undefined, Decision>();

const machine = setup({
  types: {
    context: {} as DocumentContext,
    input: {} as DocumentInput,
    events: {} as DocumentMessage,
  },
  actions: {
    applySignature: documentEffects.applySignature.action,
    conclude: documentEffects.conclude.action,
    notify: notify.action,
    announce: documentEffects.announce.action,
    confirmDraft: documentEffects.confirmDraft.action,
    forgetFiles: documentEffects.forgetFiles.action,
    forgetParticipantUploads: documentEffects.forgetParticipantUploads.action,
    note,
    erase: eraseLines,
  },
  guards: {
    fits: ({ context, event }, transition: DecidedTransition) => {
      if (isHeldBack(context, event.type)) return false;
      const decision = decideOnMessage(transition.decide, context, event);
      return decision !== undefined && decision.to === transition.to;
    },
  },
});

const begin = machine.enqueueActions(({ event, enqueue }) => {
  const { input } = event as unknown as { readonly input: DocumentInput };
  const { name } = input.createdBy;
  const { ipAddress = null, userAgent = null } = input.requestOrigin ?? {};
  const doneBy = { by: name, userId: null, ipAddress, userAgent };
  const { context, effects, arm = [] } = decideOnCreation(createDocument, input, undefined);
  carryOut(enqueue, { context, effects, arm, note: 'Created.', doneBy });
});

function follow(decider: Decider) {
  return machine.enqueueActions(({ context, event, enqueue }) => {
    const decision = decideOnMessage(decider.decide, context, event);
    if (decision === undefined) return;
    const doneBy = event.doneBy ?? decision.doneBy;
    const ended = withEnd(decision, context);
    const timed = lifecycle.withUploadsEnded(withReminderDeadline(context, ended, event));
    carryOut(enqueue, { ...timed, ...(doneBy && { doneBy }) });
  });
}

/** The part of XState's enqueue that is used here. */
interface ActionEnqueuer {
  (action: documentEffects.DocumentEffect | { readonly type: 'note'; readonly params: NoteParams }): void;
  assign(context: DocumentContext): void;
  raise(event: DocumentMessage, options?: { readonly id: string; readonly delay: number }): void;
  cancel(id: string): void;
}

function carryOut(enqueue: ActionEnqueuer, decision: Decision): void {
  const { context, effects: requests, note: message, noteState, doneBy } = decision;
  const { arm = [], disarm = [], skipped = [], next } = decision;
  enqueue.assign(context);
  for (const name of disarm) enqueue.cancel(name);
  // The host adds the time to the message of a deadline.
  for (const { name, delay } of arm)
    enqueue.raise({ type: DEADLINES[name] } as DocumentMessage, { id: name, delay });
  if (message !== undefined)
    enqueue({
      type: 'note',
      params: { message, ...(noteState && { state: noteState }), ...(doneBy && { data: doneBy }) },
    });
  for (const line of skipped)
    enqueue({ type: 'note', params: { message: line, data: { action: 'skipped', ...SERVICE } } });
  for (const request of requests) {
    enqueue(request);
    if (request.type !== 'notify') continue;
    for (const notice of request.params.notices) {
      const { about, to } = notice;
      const data = {
        action: 'mailed',
        about,
        to: to.email,
        by: to.name,
        userId: 'userId' in notice ? notice.userId : null,
        ipAddress: null,
        userAgent: null,
      };
      enqueue({ type: 'note', params: { message: `An e-mail to ${to.email} was requested.`, data } });
    }
  }
  if (next !== undefined) enqueue.raise(next);
}

/** Target of a transition that does not leave the state. */
const STAYS = undefined;

/** The transitions for one type of message: the decision chooses one of the target states. */
function by(decide: Decider['decide'], ...targets: readonly (DocumentState | typeof STAYS)[]) {
  return targets.map((to) => {
    const params: DecidedTransition = { decide, to };
    return {
      ...(to !== STAYS && { target: to }),
      guard: { type: 'fits', params } as const,
      actions: follow(params),
    };
  });
}

/** Transitions of every document that is not deleted. */
function always(state: Exclude<DocumentState, 'Deleted'>) {
  return {
    DELETE: by(lifecycle.remove(state), 'Deleted'),
    MOVE: by(lifecycle.move, STAYS),
    HOLD: by(hold, STAYS),
    ...(isFinal(state) && {
      PLAN_DELETION: by(planDeletion, STAYS),
      ERASE: by(erase(state), 'Deleted', STAYS),
    }),
    SET_NOTIFIED_EMAILS: by(lifecycle.setNotifiedEmails, STAYS),
    RECORD: by(record, STAYS),
  };
}

/** Signatures accepted before the flow stopped are still added. */
const FINISHING = {
  SIGNATURE_ADDED: by(lateSignatureAdded, STAYS),
  SIGNATURE_FAILED: by(signatureFailed, STAYS),
  RESERVATION_OVER: by(reservations.reservationOver, STAYS),
  TRY_AGAIN: by(applyAgain, STAYS),
  RETRY: by(applyAgain, STAYS),
};

export const documentMachine = machine.createMachine({
  id: 'document',
  context: ({ input }) => decideOnCreation(createDocument, input, undefined).context,
  initial: 'Pending',
  // Only at the creation: a new version enters `Pending` again.
  entry: begin,
  states: {
    Pending: {
      on: {
        ...always('Pending'),
        SIGN: by(participantActions.sign, STAYS),
        APPROVE: by(participantActions.approve, 'FlowConcluded', STAYS),
        REFUSE_TURN: by(participantActions.refuseTurn, 'Refused', STAYS),
        PASS_ON: by(passOn, STAYS),
        RESERVE: by(reservations.reserve, STAYS),
        BEGUN: by(reservations.begun, STAYS),
        GIVE_UP: by(reservations.cancelReservation, STAYS),
        RESERVATION_OVER: by(reservations.reservationOver, STAYS),
        COMPLETE: by(reservations.complete, STAYS),
        SIGNATURE_ADDED: by(signatureAdded, 'Concluded', 'FlowConcluded', STAYS),
        SIGNATURE_FAILED: by(signatureFailed, STAYS),
        TRY_AGAIN: by(applyAgain, STAYS),
        RETRY: by(applyAgain, STAYS),
        REFUSE: by(lifecycle.refuse, 'Refused'),
        CANCEL: by(lifecycle.cancel, 'Canceled'),
        EXPIRE: by(lifecycle.expire, 'Expired', STAYS),
        NEW_VERSION: by(lifecycle.newVersion, 'Pending'),
        EDIT_FLOW: by(editFlow, STAYS),
        REMIND: by(remind, STAYS),
        SET_REMINDERS: by(setReminders, STAYS),
        REMINDERS_DUE: by(remindersDue, STAYS),
      },
    },
    FlowConcluded: {
      on: {
        ...always('FlowConcluded'),
        CONCLUDED: by(concluded, 'Concluded'),
        CONCLUSION_FAILED: by(conclusionFailed, STAYS),
        TRY_AGAIN: by(concludeAgain, STAYS),
        RETRY: by(concludeAgain, STAYS),
      },
    },
    Concluded: { on: always('Concluded') },
    Refused: {
      on: {
        ...always('Refused'),
        ...FINISHING,
        CANCEL: by(lifecycle.cancel, 'Canceled'),
        EXPIRE: by(lifecycle.expire, 'Expired', STAYS),
        NEW_VERSION: by(lifecycle.newVersion, 'Pending'),
        SET_REMINDERS: by(setRefusedReminders, STAYS),
      },
    },
    Canceled: { on: { ...always('Canceled'), ...FINISHING } },
    Expired: { on: always('Expired') },
    Deleted: { on: { ERASE: by(erase('Deleted'), STAYS) } },
  },
});
