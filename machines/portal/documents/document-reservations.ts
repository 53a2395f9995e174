/**
 * Signatures with external keys, in two calls. The first call blocks no other signature: if the file
 * changes before the second call, that call is not accepted, and the signer starts again from the new file.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 */

import type { Evidence } from '../portal-types.ts';
import type { AcceptedSignature, DocumentContext, Reservation } from './document-context.ts';
import { applySignatureEffect, type DecisionFunction, turnBy } from './document-decision.ts';
import { isOfTurn, isSigning } from './document-flow.ts';
import {
  fieldNameFor,
  fitsFields,
  nameOf,
  pendingTurnOf,
  signingTimeAt,
  withAttachments,
  withMade,
  withoutReservations,
} from './participant-actions.ts';

/** Time within which a started signature can be completed, milliseconds. Source: docs/portal-values.md §10. */
const COMPLETABLE_FOR_MS = 10 * 60_000;

export const reserve: DecisionFunction<'RESERVE'> = (document, message) => {
  const { at, id, flowActionId, userId, marks, application, values } = message;
  const turn = pendingTurnOf(document, message);
  if (turn === undefined || !isSigning(turn.action) || !fitsFields(document, turn.action, values))
    return undefined;
  const reservation: Reservation = {
    id,
    flowActionId,
    userId,
    marks,
    signingTime: signingTimeAt(at),
    ...(application !== undefined && { application }),
    expiresAt: at + COMPLETABLE_FOR_MS,
    base: document.current.sha256,
    fieldName: fieldNameFor(message, id),
    state: null,
    certificate: null,
    ...(values !== undefined && { values }),
  };
  // The signer's earlier start stays completable until this one has its result.
  const others = document.reservations.filter(
    (one) => one.expiresAt > at && (one.state !== null || !isOfTurn(one, message)),
  );
  return { context: { ...document, reservations: [...others, reservation] }, effects: [] };
};

export const begun: DecisionFunction<'BEGUN'> = (document, { id, state, certificate }) => {
  const reservation = document.reservations.find((one) => one.id === id);
  if (reservation === undefined) return undefined;
  const others = document.reservations.filter((one) => !isOfTurn(one, reservation));
  const reservations = [...others, { ...reservation, state, certificate }];
  return { context: { ...document, reservations }, effects: [] };
};

export const cancelReservation: DecisionFunction<'GIVE_UP'> = (document, { id }) => {
  if (!document.reservations.some((one) => one.id === id)) return undefined;
  const reservations = document.reservations.filter((one) => one.id !== id);
  return { context: { ...document, reservations }, effects: [] };
};

/** Handles the deadline of a reservation that an earlier version stored, for which accepted signatures may wait. */
export const reservationOver: DecisionFunction<'RESERVATION_OVER'> = (document) =>
  applySignatureEffect(document);

/**
 * Returns true when a started signature is of a file that has changed since, or is being changed. Detached signatures are
 * independent of each other.
 */
export function isOvertaken(
  { format, applying, current }: Pick<DocumentContext, 'format' | 'applying' | 'current'>,
  { base }: Pick<Reservation, 'base'>,
): boolean {
  return format !== 'Cades' && (applying !== null || base !== current.sha256);
}

export const complete: DecisionFunction<'COMPLETE'> = (document, message) => {
  const { at, id, value, evidence, evidenceSha256, isQuiet } = message;
  const reservation = document.reservations.find((one) => one.id === id);
  if (reservation === undefined || reservation.state === null || reservation.expiresAt <= at)
    return undefined;
  const turn = pendingTurnOf(document, reservation);
  if (turn === undefined) return undefined;
  if (isOvertaken(document, reservation)) return undefined;
  const { flowActionId, userId, signingTime, fieldName, marks, state, certificate, values } = reservation;
  const signature: AcceptedSignature = {
    id,
    flowActionId,
    userId,
    evidence,
    evidenceSha256,
    marks,
    isQuiet,
    signingTime,
    fieldName,
    certificate,
    state,
    value,
    kind: 'certificate',
    acceptedAt: at,
    image: null,
    ...(values !== undefined && { values }),
  };
  // It signs the current file, so it is added before signatures that wait for a retry.
  const accepted =
    document.format === 'Cades' ? [...document.accepted, signature] : [signature, ...document.accepted];
  const updated = {
    ...withAttachments(withoutReservations(document, reservation), values),
    accepted,
    updateDate: at,
  };
  return withMade(document, message, {
    ...applySignatureEffect(updated),
    note: `${nameOf(turn)} signed with a certificate${keptAt(evidence)}.`,
    doneBy: turnBy(turn.user, evidence),
  });
};

/** The provider that keeps the certificate, with its address: the name is a claim. */
function keptAt(evidence: Evidence | null): string {
  const { name, address } = evidence?.signingProvider ?? {};
  return name === undefined ? '' : ` kept by ${name} (${address})`;
}
