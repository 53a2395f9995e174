/**
 * Schemas of signing requests.
 *
 * Source: docs/portal-values.md §10.
 */

import { z } from 'zod';
import type { ElectronicSigning } from '../../../actors/portal/api.ts';
import {
  between,
  bytes,
  list,
  map,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  number,
  text,
  textUpTo,
  uuid,
  whole,
  word,
} from '../../../contracts/fields.ts';
import { newMark } from '../../../contracts/portal/flow.ts';
import type { Geolocation } from '../../../machines/portal/portal-types.ts';

/** The signer: with `keys/{key}` a ticket or, with an application's key, the action. */
export const access = {
  flowActionId: maybeUuid,
  ticket: maybeText,
  // Additional: with a key, the acting participant of a rule.
  userId: maybeUuid,
  // Additional: with a ticket, the displayed version; a different current version is refused.
  documentVersion: whole.nullish(),
};

/** Metres, up to the circumference of the earth: devices without a position report large numbers. */
const MAX_ACCURACY = 40_075_017;

/** Maximum sizes of a signature picture, a certificate and a signature value, bytes. */
const MAX_PICTURE = 2 * 1024 * 1024;
const MAX_CERTIFICATE = 32 * 1024;
const MAX_VALUE = 8 * 1024;

/** Values by name of field; the rules of fields refuse other types than text, number and boolean. */
const fieldValues = map(z.union([textUpTo(4000), z.number(), z.boolean()]).nullable());

const position = members({
  page: whole.nullish(),
  pageNumber: whole.nullish(),
  topLeftX: number,
  topLeftY: number,
  width: number,
  height: number,
}).transform(({ page, pageNumber, ...rectangle }) => ({
  ...rectangle,
  pageNumber: pageNumber ?? page ?? null,
}));

const picture = {
  id: uuid,
  contentType: maybeText,
  save: maybeFlag,
};

export const electronicInput = members({
  ...access,
  disableNotifications: maybeFlag,
  evidences: members({
    geolocation: members({
      latitude: between(-90, 90),
      longitude: between(-180, 180),
      accuracy: between(0, MAX_ACCURACY).nullish(),
    }).nullish(),
  }).nullish(),
  emailCode: maybeText,
  smsCode: maybeText,
  whatsappCode: maybeText,
  otpCode: maybeText,
  authenticationType: word(['SMS', 'AuthenticationApp']).nullish(),
  authenticationCode: maybeText,
  typedName: maybeText,
  signaturePosition: position.nullish(),
  signaturePositions: list(newMark).nullish(),
  signatureInitialsPositions: list(newMark).nullish(),
  // Participants have no key for uploads: the signing page sends the picture itself.
  signatureImage: members({
    ...picture,
    id: maybeUuid,
    contentB64: bytes(MAX_PICTURE).nullish(),
    showSignerInformation: maybeFlag,
    alignTextOnMiddle: maybeFlag,
  }).nullish(),
  initialsImage: members(picture).nullish(),
  fieldValues: fieldValues.nullish(),
  userTimeZoneOffset: whole.nullish(),
});

export const startInput = members({
  ...access,
  certificate: bytes(MAX_CERTIFICATE),
  signaturePosition: position.nullish(),
  signaturePositions: list(newMark).nullish(),
  fieldValues: fieldValues.nullish(),
});

export const completeInput = members({
  ...access,
  signature: bytes(MAX_VALUE),
  token: text,
  disableNotifications: maybeFlag,
});

/** Converts to the portal's type. */
export function electronicSigning(given: z.infer<typeof electronicInput>): ElectronicSigning {
  const { signaturePosition, signaturePositions, evidences } = given;
  return {
    disableNotifications: given.disableNotifications ?? undefined,
    geolocation: geolocationOf(evidences?.geolocation),
    emailCode: given.emailCode ?? undefined,
    typedName: given.typedName ?? undefined,
    timeZoneOffset: given.userTimeZoneOffset ?? undefined,
    positions: signaturePositions ?? (signaturePosition ? [signaturePosition] : []),
    initialsPositions: given.signatureInitialsPositions ?? [],
    imageUploadId: given.signatureImage?.id ?? undefined,
    image: pictureOf(given.signatureImage?.contentB64),
    fieldValues: given.fieldValues ?? undefined,
  };
}

/** Bytes decoded by another thread are not a `Buffer`. */
function pictureOf(bytes: Uint8Array | null | undefined): Buffer | undefined {
  if (bytes === null || bytes === undefined) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function geolocationOf(
  given:
    | {
        readonly latitude: number;
        readonly longitude: number;
        readonly accuracy?: number | null | undefined;
      }
    | null
    | undefined,
): Geolocation | undefined {
  if (given === null || given === undefined) return undefined;
  return { latitude: given.latitude, longitude: given.longitude, accuracy: given.accuracy ?? null };
}
