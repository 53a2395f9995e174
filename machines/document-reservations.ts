/**
 * Signatures with keys that are elsewhere: the file is kept as it is between two calls.
 *
 * Source: portal-gaps §§8-11, 14, 15, 19.
 */

import type { AcceptedSignature, Reservation } from './document-context.ts';
import { applying, type Decide } from './document-decision.ts';
import { isSigning } from './document-flow.ts';
import { fieldNameFor, nameOf, openTurn, signingTimeAt, withoutReservations } from './document-turns.ts';

/** How long a begun certificate signature keeps others from changing the file, milliseconds. */
export const RESERVED_FOR = 15_000;
/** How long it can be completed, milliseconds. Source: portal-gaps §10. */
export const COMPLETABLE_FOR = 10 * 60_000;

export const reserve: Decide<'RESERVE'> = (document, message) => {
  const { at, id, flowActionId, userId, marks, application } = message;
  const turn = openTurn(document, message);
  if (turn === undefined || !isSigning(turn.action)) return undefined;
  const fresh = withoutReservations(document, message);
  const isBeside = document.format === 'Cades';
  const isTaken =
    document.applying !== null ||
    document.accepted.length > 0 ||
    fresh.reservations.some(({ until }) => until > at);
  if (isTaken && !isBeside) return undefined;
  const reservation: Reservation = {
    ...{ id, flowActionId, userId, marks },
    signingTime: signingTimeAt(at),
    ...(application !== undefined && { application }),
    until: at + RESERVED_FOR,
    expiresAt: at + COMPLETABLE_FOR,
    base: document.current.sha256,
    fieldName: fieldNameFor(message, id),
    state: null,
    certificate: null,
  };
  const live = fresh.reservations.filter(({ expiresAt }) => expiresAt > at);
  return {
    context: { ...document, reservations: [...live, reservation] },
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
