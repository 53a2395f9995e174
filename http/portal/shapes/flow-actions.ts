/**
 * Flow actions in replies.
 *
 * Source: docs/portal-values.md §7.
 */

import { z } from 'zod';
import { id } from '../../../contracts/fields.ts';
import { participant } from '../../../contracts/portal/entities.ts';
import { isoTime, isoTimeOrNull } from '../../../contracts/times.ts';
import { type DocumentField, FIELD_FORMATS, FIELD_TYPES } from '../../../machines/portal/field-values.ts';
import {
  ACTION_TYPES,
  type Confirmation,
  type FlowAction,
  type Mark,
  type RuleUser,
} from '../../../machines/portal/portal-types.ts';
import { CERTIFICATE_TYPES, HOLDER_TYPES, INITIALS_MODES, MARK_TYPES } from '../input/enumerations.ts';
import { participantBody, timestamp } from './shared-shapes.ts';

/** Member of requests and replies → authentication factor in addition to the e-mail code. */
export const CONFIRMATION_FLAGS = {
  requireSmsAuthenticationToSignElectronically: 'Sms',
  requireWhatsappAuthenticationToSignElectronically: 'Whatsapp',
  requireAuthenticatorAppToSignElectronically: 'AuthenticatorApp',
  requireSelfieAuthenticationToSignElectronically: 'Selfie',
  requireDatavalidAuthenticationToSignElectronically: 'Datavalid',
  requirePixAuthenticationToSignElectronically: 'Pix',
  requireLivenessAuthenticationToSignElectronically: 'Liveness',
  requireIdScanAuthenticationToSignElectronically: 'IdScan',
} as const satisfies { readonly [flag: string]: Confirmation };

type ConfirmationFlag = keyof typeof CONFIRMATION_FLAGS;
export const CONFIRMATION_FLAG_NAMES = Object.keys(CONFIRMATION_FLAGS) as readonly ConfirmationFlag[];

/** The factor of each flag. */
export function forEachFlag<Value>(
  value: (confirmation: Confirmation) => Value,
): Record<ConfirmationFlag, Value> {
  const entries = CONFIRMATION_FLAG_NAMES.map((flag) => [flag, value(CONFIRMATION_FLAGS[flag])] as const);
  return Object.fromEntries(entries) as Record<ConfirmationFlag, Value>;
}

const markShape = z
  .strictObject({
    type: z.enum(MARK_TYPES),
    topLeftX: z.number(),
    topLeftY: z.number(),
    width: z.number(),
    height: z.number(),
    pageNumber: z.int().nullable(),
    fontSize: z.number().nullable(),
  })
  .meta({ id: 'Mark', description: 'PDF points from the top left corner of the page.' });

const ruleUserShape = participant
  .extend({
    signatureDate: timestamp.nullable(),
    isElectronic: z.boolean().nullable(),
    refusalDate: timestamp.nullable(),
    hasRefused: z.boolean(),
    refusalReason: z.string().nullable(),
  })
  .meta({ id: 'RuleUser' });

const fieldShape = z
  .strictObject({
    id,
    name: z.string(),
    type: z.enum(FIELD_TYPES),
    label: z.string(),
    required: z.boolean(),
    topLeftX: z.number().nullable(),
    topLeftY: z.number().nullable(),
    width: z.number().nullable(),
    height: z.number().nullable(),
    pageNumber: z.int().nullable(),
    formField: z.string().nullable(),
    maxLength: z.int(),
    format: z.enum(FIELD_FORMATS).nullable(),
    minimum: z.number().nullable(),
    maximum: z.number().nullable(),
    options: z.array(z.string()),
    value: z.string().nullable().describe('Filled in by the participant; null until then.'),
    presetValue: z.string().nullable().describe('Filled in by the sender; null: nothing.'),
    readOnly: z.boolean().describe('True: the participant cannot change the value of the sender.'),
  })
  .meta({ id: 'DocumentField' });

export const flowActionShape = z
  .strictObject({
    id,
    type: z.enum(ACTION_TYPES),
    status: z.enum(['Created', 'Pending', 'Completed', 'Refused']),
    step: z.int(),
    user: participant.nullable(),
    title: z.string().nullable(),
    allowElectronicSignature: z.boolean(),
    creationDate: timestamp,
    updateDate: timestamp,
    pendingDate: timestamp.nullable(),
    refusalReason: z.string().nullable(),
    isElectronic: z.boolean().nullable(),
    marks: z.array(markShape),
    ruleName: z.string().nullable(),
    numberRequiredSignatures: z.int(),
    allowRuleFlowToContinueIfRefused: z.boolean(),
    signRuleUsers: z.array(ruleUserShape),
    ...forEachFlag(() => z.boolean()),
    requireEmailAuthenticationToSignElectronically: z.boolean(),
    disableEmailAuthenticationToSignElectronically: z.boolean(),
    requiredCertificateTypeToSign: z.enum(CERTIFICATE_TYPES).nullable(),
    requiredCertificateHolderTypeToSign: z.enum(HOLDER_TYPES).nullable(),
    requireCompanyCertificate: z.boolean().nullable(),
    requiredCompanyIdentifier: z.string().nullable(),
    signatureInitialsMode: z.enum(INITIALS_MODES).nullable(),
    fields: z.array(fieldShape).optional().describe('Left out where the participant has none.'),
  })
  .meta({ id: 'FlowAction' });

/** @param values of the fields, by id of field */
export function flowActionBody(
  action: FlowAction,
  values: ReadonlyMap<string, string> = new Map(),
): z.infer<typeof flowActionShape> {
  const has = (confirmation: Confirmation): boolean => action.confirmations.includes(confirmation);
  // Members one by one: V8 adds a member behind a spread in more than a microsecond. No upstream issue found; seen in
  // Node 20.20.
  const body: z.infer<typeof flowActionShape> = {
    id: action.id,
    type: action.type,
    status: action.status,
    step: action.step,
    user: action.user === null ? null : participantBody(action.user),
    title: action.title,
    allowElectronicSignature: action.allowElectronicSignature,
    creationDate: isoTime(action.creationDate),
    updateDate: isoTime(action.updateDate),
    pendingDate: isoTimeOrNull(action.pendingDate),
    refusalReason: action.refusalReason,
    isElectronic: action.isElectronic,
    marks: action.marks.map(markBody),
    ruleName: action.ruleName,
    numberRequiredSignatures: action.numberRequiredSignatures,
    allowRuleFlowToContinueIfRefused: action.allowRuleFlowToContinueIfRefused,
    signRuleUsers: action.ruleUsers.map(ruleUserBody),
    requireSmsAuthenticationToSignElectronically: has('Sms'),
    requireWhatsappAuthenticationToSignElectronically: has('Whatsapp'),
    requireAuthenticatorAppToSignElectronically: has('AuthenticatorApp'),
    requireSelfieAuthenticationToSignElectronically: has('Selfie'),
    requireDatavalidAuthenticationToSignElectronically: has('Datavalid'),
    requirePixAuthenticationToSignElectronically: has('Pix'),
    requireLivenessAuthenticationToSignElectronically: has('Liveness'),
    requireIdScanAuthenticationToSignElectronically: has('IdScan'),
    requireEmailAuthenticationToSignElectronically:
      action.allowElectronicSignature && !action.disableEmailAuthentication,
    disableEmailAuthenticationToSignElectronically: action.disableEmailAuthentication,
    requiredCertificateTypeToSign: action.requiredCertificateType,
    requiredCertificateHolderTypeToSign: action.requiredCertificateHolder,
    requireCompanyCertificate: action.requireCompanyCertificate,
    requiredCompanyIdentifier: action.requiredCompanyIdentifier,
    signatureInitialsMode: action.initialsMode,
  };
  if (action.fields === undefined) return body;
  return { ...body, fields: action.fields.map((field) => fieldBody(field, values.get(field.id) ?? null)) };
}

function fieldBody(field: DocumentField, value: string | null): z.infer<typeof fieldShape> {
  const { id: fieldId, name, type, label, isRequired, place, formField, maxLength } = field;
  const { format, minimum, maximum, options } = field;
  return {
    ...{ id: fieldId, name, type, label, required: isRequired },
    topLeftX: place?.topLeftX ?? null,
    topLeftY: place?.topLeftY ?? null,
    width: place?.width ?? null,
    height: place?.height ?? null,
    pageNumber: place?.pageNumber ?? null,
    ...{ formField, maxLength, format, minimum, maximum, value },
    options: [...options],
    presetValue: field.presetValue ?? null,
    readOnly: field.isReadOnly === true,
  };
}

function markBody(mark: Mark): z.infer<typeof markShape> {
  const { type, topLeftX, topLeftY, width, height, pageNumber, fontSize } = mark;
  return { type, topLeftX, topLeftY, width, height, pageNumber, fontSize };
}

function ruleUserBody(user: RuleUser): z.infer<typeof ruleUserShape> {
  return {
    ...participantBody(user),
    signatureDate: isoTimeOrNull(user.signatureDate),
    isElectronic: user.isElectronic,
    refusalDate: isoTimeOrNull(user.refusalDate),
    hasRefused: user.hasRefused,
    refusalReason: user.refusalReason,
  };
}
