/**
 * What each message does to a document, as pure functions: undefined = it does not fit now, and nothing changes.
 * `machines/document.ts` says in which states they are asked.
 *
 * Source: portal-gaps §§8-11, 14, 15, 19.
 */
import type {
  AcceptedSignature,
  DocumentContext,
  DocumentEffect,
  DocumentInput,
  DocumentMessage,
  DocumentState,
  Reservation,
  Turn,
} from './document-context.ts';
import {
  acted,
  edited,
  freshAction,
  inOrder,
  isDone,
  isSigning,
  missing,
  refused,
  released,
  restarted,
  turnOf,
  usersOf,
} from './document-flow.ts';
import {
  activeNotices,
  actorOf,
  concludedNotices,
  observerNotices,
  onceEach,
  summaryOf,
  turnNotices,
  withEvent,
} from './document-news.ts';
import type { FlowActionId, Millis } from './ids.ts';
import type { DocumentEvent, FlowAction, MadeAction, Mark, Notice } from './portal-words.ts';

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

type Message<Type extends DocumentMessage['type']> = Extract<DocumentMessage, { readonly type: Type }>;
export type Decide<Type extends DocumentMessage['type']> = (
  document: DocumentContext,
  message: Message<Type>,
) => Decision | undefined;

/** How long a begun certificate signature keeps others from changing the file, milliseconds. */
export const RESERVED_FOR = 15_000;
/** How long it can be completed, milliseconds. Source: portal-gaps §10. */
export const COMPLETABLE_FOR = 10 * 60_000;
/** Pauses between tries of accepted work, milliseconds: doubling from the first to the longest. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 5 * 60_000;
/** Accepted work that is under way is waited for this long before the document may expire, milliseconds. */
const EXPIRY_PAUSE = 1_000;

// ---- effects --------------------------------------------------------------------------------------------------

function announcing(...events: readonly DocumentEvent[]): readonly DocumentEffect[] {
  return [{ do: 'announce', events }];
}

function telling(notices: readonly Notice[]): readonly DocumentEffect[] {
  return notices.length === 0 ? [] : [{ do: 'notify', notices }];
}

function concluding(document: DocumentContext): DocumentEffect {
  const { format, current, signatures, made, timestampEnabled } = document;
  const expected = made.flatMap(({ certificate, fieldName }) =>
    certificate === null ? [] : [{ fieldName, certificate }],
  );
  return { do: 'conclude', format, current, signatures, expected, timestamp: timestampEnabled };
}

/** Begins the next accepted signature where nothing stands in its way. */
function applying(document: DocumentContext, at: Millis): Pick<Decision, 'context' | 'effects'> {
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
  const { key, format, current, signatures } = document;
  return {
    context: { ...document, applying: signature.id },
    effects: [
      {
        do: 'applySignature',
        signature,
        signer,
        title: action.title,
        xades: action.xadesOptions,
        document: { key, format, current, signatures },
      },
    ],
  };
}

// ---- creation -------------------------------------------------------------------------------------------------

export function created(input: DocumentInput): Decision {
  const { at, actions: plans, quietStart, siblings, ...given } = input;
  const { actions, pending } = released(inOrder(plans.map((plan) => freshAction(plan, at))), at);
  const bare: DocumentContext = {
    ...given,
    creationDate: at,
    updateDate: at,
    version: 1,
    current: given.file.blob,
    signatures: null,
    actions,
    made: [],
    accepted: [],
    applying: null,
    reservations: [],
    rejected: null,
    lastSigningTime: 0,
    processingError: null,
    statusUpdatedBy: null,
    statusUpdateReason: null,
    sequence: 0,
    concludedAt: null,
    statusBefore: null,
  };
  const told = siblings === null ? undefined : withEvent(bare, createdEvent(bare, siblings));
  const context = told?.document ?? bare;
  const isQuiet = quietStart || context.disableNotifications;
  return {
    context,
    effects: [
      ...(told === undefined ? [] : announcing(told.event)),
      ...telling(isQuiet ? [] : turnNotices(context, pending, 'pending')),
    ],
    ...(context.expirationDate !== null && {
      arm: [{ name: 'expiry', delay: Math.max(0, context.expirationDate - at) }],
    }),
  };
}

function createdEvent(
  document: DocumentContext,
  siblings: NonNullable<DocumentInput['siblings']>,
): Pick<DocumentEvent, 'type' | 'documents'> {
  const documents = [summaryOf(document), ...siblings];
  return { type: 'DocumentsCreated', ...(siblings.length > 0 && { documents }) };
}

// ---- turns ----------------------------------------------------------------------------------------------------

/** The turn, when nothing that was promised already fills it. */
function openTurn(document: DocumentContext, turn: Turn): ReturnType<typeof turnOf> {
  const found = turnOf(document.actions, turn);
  if (found === undefined) return undefined;
  const promised = document.accepted.filter(({ flowActionId }) => flowActionId === turn.flowActionId);
  if (promised.some(({ userId }) => userId === turn.userId)) return undefined;
  return promised.length < missing(found.action) ? found : undefined;
}

/** Whole seconds, not before `at` is over, and another one than any signature of the document has. */
function nextSigningTime({ lastSigningTime }: DocumentContext, at: Millis): Millis {
  return Math.max(Math.floor(at / 1000) * 1000, lastSigningTime + 1000);
}

function fieldNameFor(document: DocumentContext, { flowActionId }: Turn, id: string): string | null {
  if (document.format !== 'Pades') return null;
  return `Signature_${flowActionId.slice(0, 8)}_${id.slice(0, 8)}`;
}

export const sign: Decide<'SIGN'> = (document, message) => {
  const { at, id, flowActionId, userId, evidence, evidenceSha256, marks, image, isQuiet } = message;
  const turn = openTurn(document, message);
  if (turn === undefined || !isSigning(turn.action) || !turn.action.allowElectronicSignature)
    return undefined;
  const signingTime = nextSigningTime(document, at);
  const signature: AcceptedSignature = {
    ...{ id, flowActionId, userId, evidence, evidenceSha256, marks, image, isQuiet, signingTime },
    kind: 'electronic',
    acceptedAt: at,
    fieldName: fieldNameFor(document, message, id),
    certificate: null,
    state: null,
    value: null,
  };
  const accepted = [...document.accepted, signature];
  const updated = { ...document, accepted, lastSigningTime: signingTime, updateDate: at };
  return { ...applying(updated, at), note: `${nameOf(turn)} signed.` };
};

function nameOf({ user }: NonNullable<ReturnType<typeof turnOf>>): string {
  return user.name ?? user.email ?? user.identifier ?? 'A participant';
}

export const approve: Decide<'APPROVE'> = (document, message) => {
  const { at, flowActionId, userId, evidence, evidenceSha256, isQuiet } = message;
  const turn = openTurn(document, message);
  if (turn === undefined || isSigning(turn.action)) return undefined;
  const made: MadeAction = {
    ...{ flowActionId, userId, at, evidence, evidenceSha256 },
    kind: 'approval',
    signingTime: null,
    marks: [],
    image: null,
    certificate: null,
    fieldName: null,
  };
  return turnDone({ ...document, updateDate: at }, message, made, null, isQuiet);
};

/** Completes a turn, releases the next step or concludes the flow. In a flow that has stopped, nothing follows. */
function turnDone(
  document: DocumentContext,
  turn: Turn,
  made: MadeAction,
  isElectronic: boolean | null,
  isQuiet: boolean,
  goesOn = true,
): Decision {
  const at = document.updateDate;
  const before = document.actions.find(({ id }) => id === turn.flowActionId);
  const user = before && usersOf(before).find(({ id }) => id === turn.userId);
  const now = acted(document.actions, turn, isElectronic, at);
  const { actions, pending } = goesOn ? released(now, at) : { actions: now, pending: [] };
  const { document: context, event } = withEvent(
    { ...document, actions, made: [...document.made, made] },
    {
      type: made.kind === 'approval' ? 'DocumentApproved' : 'DocumentSigned',
      ...(user && { by: actorOf(turn, user) }),
    },
  );
  const news = announcing(event);
  if (goesOn && isDone(actions))
    return {
      context: { ...context, reservations: [] },
      to: 'FlowConcluded',
      effects: [...news, concluding(context)],
      disarm: ['expiry', 'reservation'],
    };
  const isSilent = isQuiet || document.disableNotifications;
  return {
    context,
    effects: [...news, ...telling(isSilent ? [] : turnNotices(context, pending, 'pending'))],
  };
}

export const refuseTurn: Decide<'REFUSE_TURN'> = (document, message) => {
  const { at, reason } = message;
  const turn = openTurn(document, message);
  if (turn === undefined) return undefined;
  const { actions, stops } = refused(document.actions, message, reason, at);
  const { user } = turn;
  const doer = { id: user.id, type: 'User', name: user.name ?? user.email ?? '' } as const;
  const changed: DocumentContext = {
    ...withoutReservations(document, message),
    actions,
    updateDate: at,
    ...(stops && { statusUpdatedBy: doer, statusUpdateReason: reason }),
  };
  const { document: context, event } = withEvent(changed, {
    type: 'DocumentRefused',
    by: actorOf(message, user),
    reason,
  });
  const note = `${nameOf(turn)} refused.`;
  if (!stops) {
    // What waited for a reservation that is given up now need wait no longer.
    const next = applying(context, at);
    return { context: next.context, effects: [...announcing(event), ...next.effects], note };
  }
  const letter = { about: 'refused', reason, byName: doer.name } as const;
  const notices = document.disableNotifications
    ? []
    : onceEach([...activeNotices(context, letter, user.id), ...observerNotices(context, letter)]);
  return { context, to: 'Refused', effects: [...announcing(event), ...telling(notices)], note };
};

function withoutReservations(document: DocumentContext, { flowActionId, userId }: Turn): DocumentContext {
  const reservations = document.reservations.filter(
    (one) => one.flowActionId !== flowActionId || one.userId !== userId,
  );
  return { ...document, reservations };
}

// ---- certificate signatures -----------------------------------------------------------------------------------

export const reserve: Decide<'RESERVE'> = (document, message) => {
  const { at, id, flowActionId, userId, marks } = message;
  const turn = openTurn(document, message);
  if (turn === undefined || !isSigning(turn.action)) return undefined;
  const fresh = withoutReservations(document, message);
  const isBeside = document.format === 'Cades';
  const isTaken =
    document.applying !== null ||
    document.accepted.length > 0 ||
    fresh.reservations.some(({ until }) => until > at);
  if (isTaken && !isBeside) return undefined;
  const signingTime = nextSigningTime(document, at);
  const reservation: Reservation = {
    ...{ id, flowActionId, userId, marks, signingTime },
    until: at + RESERVED_FOR,
    expiresAt: at + COMPLETABLE_FOR,
    base: document.current.sha256,
    fieldName: fieldNameFor(document, message, id),
    state: null,
    certificate: null,
  };
  const live = fresh.reservations.filter(({ expiresAt }) => expiresAt > at);
  return {
    context: { ...document, reservations: [...live, reservation], lastSigningTime: signingTime },
    effects: [],
    arm: [{ name: 'reservation', delay: RESERVED_FOR }],
  };
};

export const begun: Decide<'BEGUN'> = (document, { id, state, certificate }) => {
  if (!document.reservations.some((one) => one.id === id)) return undefined;
  const reservations = document.reservations.map((one) =>
    one.id === id ? { ...one, state, certificate } : one,
  );
  return { context: { ...document, reservations }, effects: [] };
};

export const giveUp: Decide<'GIVE_UP'> = (document, { id, at }) => {
  if (!document.reservations.some((one) => one.id === id)) return undefined;
  const reservations = document.reservations.filter((one) => one.id !== id);
  return applying({ ...document, reservations }, at);
};

export const reservationOver: Decide<'RESERVATION_OVER'> = (document, { at }) => applying(document, at);

export const complete: Decide<'COMPLETE'> = (document, message) => {
  const { at, id, value, evidence, evidenceSha256, isQuiet } = message;
  const reservation = document.reservations.find((one) => one.id === id);
  if (reservation === undefined || reservation.state === null || reservation.expiresAt <= at)
    return undefined;
  const turn = openTurn(document, reservation);
  if (turn === undefined) return undefined;
  const isBeside = document.format === 'Cades';
  const isNewest = document.applying === null && reservation.base === document.current.sha256;
  if (!isBeside && !isNewest) return undefined;
  const { flowActionId, userId, signingTime, fieldName, marks, state, certificate } = reservation;
  const signature: AcceptedSignature = {
    ...{ id, flowActionId, userId, evidence, evidenceSha256, marks, isQuiet, signingTime },
    ...{ fieldName, certificate, state, value },
    kind: 'certificate',
    acceptedAt: at,
    image: null,
  };
  // It is about the file as it is now, so it goes in before what has been accepted meanwhile.
  const accepted = isBeside ? [...document.accepted, signature] : [signature, ...document.accepted];
  const updated = { ...withoutReservations(document, reservation), accepted, updateDate: at };
  return { ...applying(updated, at), note: `${nameOf(turn)} signed with a certificate.` };
};

// ---- accepted work --------------------------------------------------------------------------------------------

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

// ---- the whole document ---------------------------------------------------------------------------------------

export const refuse: Decide<'REFUSE'> = (document, { at, by, reason }) => {
  const changed = { ...document, updateDate: at, statusUpdatedBy: by, statusUpdateReason: reason };
  const { document: context, event } = withEvent(changed, {
    type: 'DocumentRefused',
    by: { flowActionId: null, userId: by.id, name: by.name, identifier: null, emailAddress: null },
    reason,
  });
  return { ...stopped(context, event, 'refused', by.name, reason), to: 'Refused' };
};

export const cancel: Decide<'CANCEL'> = (document, { at, by, reason }) => {
  const changed = {
    ...document,
    updateDate: at,
    reservations: [],
    statusUpdatedBy: by,
    statusUpdateReason: reason,
  };
  const { document: context, event } = withEvent(changed, {
    type: 'DocumentCanceled',
    canceledBy: by,
    reason,
  });
  return { ...stopped(context, event, 'canceled', by.name, reason), to: 'Canceled', disarm: ['expiry'] };
};

function stopped(
  context: DocumentContext,
  event: DocumentEvent,
  about: 'refused' | 'canceled',
  byName: string,
  reason: string,
): Decision {
  const letter = { about, reason, byName };
  const notices = context.disableNotifications
    ? []
    : onceEach([...activeNotices(context, letter), ...observerNotices(context, letter)]);
  const how = about === 'refused' ? 'Refused' : 'Canceled';
  return { context, effects: [...announcing(event), ...telling(notices)], note: `${how} by ${byName}.` };
}

export const expire: Decide<'EXPIRE'> = (document, { at }) => {
  // What was promised in time is kept.
  if (document.accepted.length > 0)
    return { context: document, effects: [], arm: [{ name: 'expiry', delay: EXPIRY_PAUSE }] };
  const { document: context, event } = withEvent(
    { ...document, updateDate: at, reservations: [] },
    {
      type: 'DocumentExpired',
      ...(document.expirationDate !== null && { expirationDate: document.expirationDate }),
    },
  );
  return { context, to: 'Expired', effects: announcing(event), note: 'Expired.' };
};

/** What is left can still be named, and nothing of its files is kept. */
export const remove =
  (from: Exclude<DocumentState, 'Deleted'>): Decide<'DELETE'> =>
  (document, { at, action }) => {
    const changed: DocumentContext = {
      ...document,
      updateDate: at,
      statusBefore: from,
      accepted: [],
      applying: null,
      reservations: [],
      processingError: null,
    };
    const { document: context, event } = withEvent(changed, { type: 'DocumentDeleted', action });
    return {
      context,
      to: 'Deleted',
      effects: announcing(event),
      note: 'Deleted.',
      disarm: ['expiry', 'again', 'reservation'],
    };
  };

export const newVersion: Decide<'NEW_VERSION'> = (document, message) => {
  const { at, name, file, format, parts, quietStart, tellParticipants, marks } = message;
  const { actions, pending } = released(restarted(document.actions, marks, at), at);
  const context: DocumentContext = {
    ...document,
    ...{ name, file, format, parts, actions },
    current: file.blob,
    signatures: null,
    version: document.version + 1,
    updateDate: at,
    made: [],
    accepted: [],
    applying: null,
    reservations: [],
    rejected: null,
    processingError: null,
    statusUpdatedBy: null,
    statusUpdateReason: null,
  };
  const letter = { about: 'new-version' } as const;
  const notices = document.disableNotifications
    ? []
    : [
        ...onceEach([
          ...(tellParticipants ? activeNotices(document, letter) : []),
          ...observerNotices(context, letter),
        ]),
        ...(quietStart ? [] : turnNotices(context, pending, 'pending')),
      ];
  return {
    context,
    to: 'Pending',
    effects: telling(notices),
    note: `Version ${context.version}; the flow restarts.`,
    disarm: ['again', 'reservation'],
  };
};

/** Actions that somebody's accepted or begun signature is about. */
export function busyActions(
  { accepted, reservations }: DocumentContext,
  at: Millis,
): ReadonlySet<FlowActionId> {
  const begun = reservations.filter(({ expiresAt }) => expiresAt > at);
  return new Set([...accepted, ...begun].map(({ flowActionId }) => flowActionId));
}

export const editFlow: Decide<'EDIT_FLOW'> = (document, { at, change }) => {
  const plain = edited(document.actions, change, busyActions(document, at), at);
  const observers = editedObservers(document, change);
  if (typeof plain === 'string' || observers === undefined) return undefined;
  const { actions, pending } = released(plain, at);
  const context: DocumentContext = { ...document, actions, observers, updateDate: at };
  // Who is asked now and was not, at this address, before.
  const asked = new Set(turnNotices(document, document.actions.filter(isPending), 'pending').map(addressOf));
  const fresh = turnNotices(context, [...actions.filter(isPending)], 'pending').filter(
    (notice) => pending.some(({ id }) => id === notice.flowActionId) || !asked.has(addressOf(notice)),
  );
  const notices = document.disableNotifications
    ? []
    : [...fresh, ...onceEach(observerNotices(context, { about: 'flow-edited' }))];
  return { context, effects: telling(notices), note: 'The flow was edited.' };
};

function isPending({ status }: FlowAction): boolean {
  return status === 'Pending';
}

function addressOf({ flowActionId, to }: Notice): string {
  return `${flowActionId} ${to.email.toLowerCase()}`;
}

function editedObservers(
  { observers }: DocumentContext,
  change: Message<'EDIT_FLOW'>['change'],
): DocumentContext['observers'] | undefined {
  const known = new Set(observers.map(({ id }) => id));
  const named = [...change.editedObservers.map(({ id }) => id), ...change.deletedObservers];
  if (named.some((id) => !known.has(id))) return undefined;
  const kept = observers.filter(({ id }) => !change.deletedObservers.includes(id));
  const changed = kept.map((observer) => {
    const edit = change.editedObservers.find(({ id }) => id === observer.id);
    return edit === undefined ? observer : { ...observer, user: { ...observer.user, email: edit.email } };
  });
  return [...changed, ...change.addedObservers];
}

export const setNotifiedEmails: Decide<'SET_NOTIFIED_EMAILS'> = (document, { at, emails }) => ({
  context: { ...document, notifiedEmails: emails, updateDate: at },
  effects: [],
});

export const move: Decide<'MOVE'> = (document, { at, folderId }) => ({
  context: { ...document, folderId, updateDate: at },
  effects: [],
});

export const remind: Decide<'REMIND'> = (document, { flowActionId }) => {
  const action = document.actions.find(({ id }) => id === flowActionId);
  if (action === undefined || action.status !== 'Pending') return undefined;
  const notices = turnNotices(document, [action], 'reminder');
  return notices.length === 0
    ? undefined
    : { context: document, effects: telling(notices), note: 'A reminder was sent.' };
};

/** Marks of an action where its signer gives none of their own. */
export function marksOf(action: FlowAction, given: readonly Mark[]): readonly Mark[] {
  return given.length > 0 ? given : action.marks;
}
