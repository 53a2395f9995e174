/**
 * What signing requests hold.
 *
 * Source: portal-gaps §10.
 */
import type { z } from 'zod';
import type { ElectronicSigning } from '../../actors/portal/api.ts';
import type { Geolocation } from '../../machines/portal-words.ts';
import {
  between,
  bytes,
  list,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  number,
  text,
  uuid,
  whole,
  word,
} from './fields.ts';
import { markInput } from './inputs.ts';

/** Who signs: by `keys/{key}` a ticket or, with an application's key, the action. */
export const access = {
  flowActionId: maybeUuid,
  ticket: maybeText,
  // Ours: with a key, who of a rule acts.
  userId: maybeUuid,
  // Ours: with a ticket, the version that was shown; nothing is signed when there is another one.
  documentVersion: whole.nullish(),
};

/** Metres, all around the earth: devices that know nothing say large numbers. */
const LARGEST_ACCURACY = 40_075_017;

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
      accuracy: between(0, LARGEST_ACCURACY).nullish(),
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
  signaturePositions: list(markInput).nullish(),
  signatureInitialsPositions: list(markInput).nullish(),
  // Participants have no key to upload with: our own page sends the picture itself.
  signatureImage: members({
    ...picture,
    id: maybeUuid,
    contentB64: bytes.nullish(),
    showSignerInformation: maybeFlag,
    alignTextOnMiddle: maybeFlag,
  }).nullish(),
  initialsImage: members(picture).nullish(),
  userTimeZoneOffset: whole.nullish(),
});

export const startInput = members({
  ...access,
  certificate: bytes,
  signaturePosition: position.nullish(),
  signaturePositions: list(markInput).nullish(),
});

export const completeInput = members({
  ...access,
  signature: bytes,
  token: text,
  disableNotifications: maybeFlag,
});

/** As the portal has it. */
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
    image: given.signatureImage?.contentB64 ?? undefined,
  };
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
