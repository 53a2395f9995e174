/**
 * A document and its flow, from its creation to its conclusion.
 *
 * | from          | event               | to            | effects                  | when                    |
 * |---------------|---------------------|---------------|--------------------------|-------------------------|
 * | Pending       | SIGN                | Pending       | applySignature           |                         |
 * | Pending       | APPROVE             | Pending       | announce, notify         | more is to do           |
 * | Pending       | APPROVE             | FlowConcluded | announce, conclude       | it was the last         |
 * | Pending       | REFUSE_TURN         | Refused       | announce, notify         | it stops the flow       |
 * | Pending       | REFUSE_TURN         | Pending       | announce                 | enough others are left  |
 * | Pending       | RESERVE             | Pending       |                          |                         |
 * | Pending       | BEGUN               | Pending       |                          |                         |
 * | Pending       | GIVE_UP             | Pending       |                          |                         |
 * | Pending       | RESERVATION_OVER    | Pending       |                          |                         |
 * | Pending       | COMPLETE            | Pending       | applySignature           |                         |
 * | Pending       | SIGNATURE_ADDED     | Pending       | announce, notify         | more is to do           |
 * | Pending       | SIGNATURE_ADDED     | FlowConcluded | announce, conclude       | it was the last         |
 * | Pending       | SIGNATURE_FAILED    | Pending       |                          |                         |
 * | Pending       | TRY_AGAIN           | Pending       | applySignature           |                         |
 * | Pending       | RETRY               | Pending       | applySignature           |                         |
 * | Pending       | REFUSE              | Refused       | announce, notify         |                         |
 * | Pending       | CANCEL              | Canceled      | announce, notify         |                         |
 * | Pending       | EXPIRE              | Expired       | announce                 | nothing is under way    |
 * | Pending       | EXPIRE              | Pending       |                          | a signature is          |
 * | Pending       | NEW_VERSION         | Pending       | notify                   |                         |
 * | Pending       | EDIT_FLOW           | Pending       | notify                   |                         |
 * | Pending       | REMIND              | Pending       | notify                   |                         |
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
 * | Pending       | SET_NOTIFIED_EMAILS | Pending       |                          |                         |
 * | FlowConcluded | SET_NOTIFIED_EMAILS | FlowConcluded |                          |                         |
 * | Concluded     | SET_NOTIFIED_EMAILS | Concluded     |                          |                         |
 * | Refused       | SET_NOTIFIED_EMAILS | Refused       |                          |                         |
 * | Canceled      | SET_NOTIFIED_EMAILS | Canceled      |                          |                         |
 * | Expired       | SET_NOTIFIED_EMAILS | Expired       |                          |                         |
 *
 * `notify` is left out where nobody is to be told. A signature is accepted by SIGN and COMPLETE and put into the file by
 * `applySignature`, one after the other, each into the file the one before left; SIGNATURE_ADDED completes its action.
 * Where others wait in line, SIGNATURE_ADDED, SIGNATURE_FAILED, GIVE_UP and RESERVATION_OVER also ask for
 * `applySignature`. What was accepted is put in even when the flow is stopped meanwhile.
 *
 * SIGNATURE_FAILED and CONCLUSION_FAILED are kept as `processingError` and tried again, by a stored deadline with
 * growing pauses (TRY_AGAIN) or at once (RETRY).
 *
 * RESERVE keeps the file as it is for 15 seconds, so that a participant's key elsewhere can sign it (COMPLETE).
 *
 * Source: portal-gaps §8; the rules of §§6, 10, 14 and 15.
 */
import { setup } from 'xstate';
import { created } from './document-birth.ts';
import type {
  DocumentContext,
  DocumentEffect,
  DocumentInput,
  DocumentMessage,
  DocumentState,
} from './document-context.ts';
import { DEADLINES, type Decision } from './document-decision.ts';
import { editFlow } from './document-edits.ts';
import * as ends from './document-ends.ts';
import * as reservations from './document-reservations.ts';
import * as turns from './document-turns.ts';
import * as work from './document-work.ts';

/** A decision that is asked for whatever message its transition takes. */
interface Asked {
  readonly decide: (document: DocumentContext, message: never) => Decision | undefined;
  /** The state the transition leads to; undefined = none. */
  readonly to: DocumentState | undefined;
}

function decided({ decide }: Asked, context: DocumentContext, event: DocumentMessage): Decision | undefined {
  return decide(context, event as never);
}

const machine = setup({
  types: {
    context: {} as DocumentContext,
    input: {} as DocumentInput,
    events: {} as DocumentMessage,
  },
  actions: {
    // The runtime reads the parameters of these two; they never run.
    effect: (_, _effect: DocumentEffect) => {},
    note: (_, _line: { readonly message: string }) => {},
  },
  guards: {
    fits: ({ context, event }, asked: Asked) => {
      const decision = decided(asked, context, event);
      return decision !== undefined && decision.to === asked.to;
    },
  },
});

const begin = machine.enqueueActions(({ event, enqueue }) => {
  const { input } = event as unknown as { readonly input: DocumentInput };
  carryOut(enqueue as unknown as Enqueue, { ...created(input), note: 'Created.' });
});

function follow(asked: Asked) {
  return machine.enqueueActions(({ context, event, enqueue }) => {
    const decision = decided(asked, context, event);
    if (decision !== undefined) carryOut(enqueue as unknown as Enqueue, decision);
  });
}

/** The part of XState's enqueue that is used here. */
interface Enqueue {
  (action: { readonly type: string; readonly params: object }): void;
  assign(context: DocumentContext): void;
  raise(event: { readonly type: string }, options: { readonly id: string; readonly delay: number }): void;
  cancel(id: string): void;
}

function carryOut(enqueue: Enqueue, { context, effects, note, arm = [], disarm = [] }: Decision): void {
  enqueue.assign(context);
  for (const name of disarm) enqueue.cancel(name);
  for (const { name, delay } of arm) enqueue.raise({ type: DEADLINES[name] }, { id: name, delay });
  if (note !== undefined) enqueue({ type: 'note', params: { message: note } });
  for (const effect of effects) enqueue({ type: 'effect', params: effect });
}

/** A decision with the states it may lead to. */
function by(decide: Asked['decide'], ...targets: readonly (DocumentState | undefined)[]) {
  return targets.map((to) => {
    const params: Asked = { decide, to };
    return {
      ...(to !== undefined && { target: to }),
      guard: { type: 'fits', params } as const,
      actions: follow(params),
    };
  });
}

/** What every document takes that is not deleted. */
function always(state: Exclude<DocumentState, 'Deleted'>) {
  return {
    DELETE: by(ends.remove(state), 'Deleted'),
    MOVE: by(ends.move, undefined),
    SET_NOTIFIED_EMAILS: by(ends.setNotifiedEmails, undefined),
  };
}

/** What was accepted before the flow stopped is still put in. */
const FINISHING = {
  SIGNATURE_ADDED: by(work.lateSignatureAdded, undefined),
  SIGNATURE_FAILED: by(work.signatureFailed, undefined),
  RESERVATION_OVER: by(reservations.reservationOver, undefined),
  TRY_AGAIN: by(work.applyAgain, undefined),
  RETRY: by(work.applyAgain, undefined),
};

export const documentMachine = machine.createMachine({
  id: 'document',
  context: ({ input }) => created(input).context,
  initial: 'Pending',
  // Only at birth: `Pending` is entered again by a new version.
  entry: begin,
  states: {
    Pending: {
      on: {
        ...always('Pending'),
        SIGN: by(turns.sign, undefined),
        APPROVE: by(turns.approve, 'FlowConcluded', undefined),
        REFUSE_TURN: by(turns.refuseTurn, 'Refused', undefined),
        RESERVE: by(reservations.reserve, undefined),
        BEGUN: by(reservations.begun, undefined),
        GIVE_UP: by(reservations.giveUp, undefined),
        RESERVATION_OVER: by(reservations.reservationOver, undefined),
        COMPLETE: by(reservations.complete, undefined),
        SIGNATURE_ADDED: by(work.signatureAdded, 'FlowConcluded', undefined),
        SIGNATURE_FAILED: by(work.signatureFailed, undefined),
        TRY_AGAIN: by(work.applyAgain, undefined),
        RETRY: by(work.applyAgain, undefined),
        REFUSE: by(ends.refuse, 'Refused'),
        CANCEL: by(ends.cancel, 'Canceled'),
        EXPIRE: by(ends.expire, 'Expired', undefined),
        NEW_VERSION: by(ends.newVersion, 'Pending'),
        EDIT_FLOW: by(editFlow, undefined),
        REMIND: by(ends.remind, undefined),
      },
    },
    FlowConcluded: {
      on: {
        ...always('FlowConcluded'),
        CONCLUDED: by(work.concluded, 'Concluded'),
        CONCLUSION_FAILED: by(work.conclusionFailed, undefined),
        TRY_AGAIN: by(work.concludeAgain, undefined),
        RETRY: by(work.concludeAgain, undefined),
      },
    },
    Concluded: { on: always('Concluded') },
    Refused: {
      on: {
        ...always('Refused'),
        ...FINISHING,
        CANCEL: by(ends.cancel, 'Canceled'),
        EXPIRE: by(ends.expire, 'Expired', undefined),
        NEW_VERSION: by(ends.newVersion, 'Pending'),
      },
    },
    Canceled: { on: { ...always('Canceled'), ...FINISHING } },
    Expired: { on: always('Expired') },
    Deleted: {},
  },
});
