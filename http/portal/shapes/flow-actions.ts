/**
 * Flow actions in answers.
 *
 * Source: portal-gaps §7, "Flow action in the detail".
 */
import { z } from 'zod';
import {
  ACTION_TYPES,
  type Confirmation,
  type FlowAction,
  type Mark,
  type RuleUser,
} from '../../../machines/portal-words.ts';
import { written, writtenOrNull } from '../moments.ts';
import { CERTIFICATE_TYPES, HOLDER_TYPES, INITIALS_MODES, MARK_TYPES } from '../words.ts';
import { id, participantBody, participantShape, timestamp } from './parts.ts';

/** Member of requests and answers → what it asks for besides the e-mail code. */
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

/** The same for each flag. */
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

const ruleUserShape = participantShape
  .extend({
    signatureDate: timestamp.nullable(),
    isElectronic: z.boolean().nullable(),
    refusalDate: timestamp.nullable(),
    hasRefused: z.boolean(),
    refusalReason: z.string().nullable(),
  })
  .meta({ id: 'RuleUser' });

export const flowActionShape = z
  .strictObject({
    id,
    type: z.enum(ACTION_TYPES),
    status: z.enum(['Created', 'Pending', 'Completed', 'Refused']),
    step: z.int(),
    user: participantShape.nullable(),
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
  })
  .meta({ id: 'FlowAction' });

export function flowActionBody(action: FlowAction): z.infer<typeof flowActionShape> {
  return {
    id: action.id,
    type: action.type,
    status: action.status,
    step: action.step,
    user: action.user === null ? null : participantBody(action.user),
    title: action.title,
    allowElectronicSignature: action.allowElectronicSignature,
    creationDate: written(action.creationDate),
    updateDate: written(action.updateDate),
    pendingDate: writtenOrNull(action.pendingDate),
    refusalReason: action.refusalReason,
    isElectronic: action.isElectronic,
    marks: action.marks.map(markBody),
    ruleName: action.ruleName,
    numberRequiredSignatures: action.numberRequiredSignatures,
    allowRuleFlowToContinueIfRefused: action.allowRuleFlowToContinueIfRefused,
    signRuleUsers: action.ruleUsers.map(ruleUserBody),
    ...forEachFlag((confirmation) => action.confirmations.includes(confirmation)),
    requireEmailAuthenticationToSignElectronically:
      action.allowElectronicSignature && !action.disableEmailAuthentication,
    disableEmailAuthenticationToSignElectronically: action.disableEmailAuthentication,
    requiredCertificateTypeToSign: action.requiredCertificateType,
    requiredCertificateHolderTypeToSign: action.requiredCertificateHolder,
    requireCompanyCertificate: action.requireCompanyCertificate,
    requiredCompanyIdentifier: action.requiredCompanyIdentifier,
    signatureInitialsMode: action.initialsMode,
  };
}

function markBody(mark: Mark): z.infer<typeof markShape> {
  const { type, topLeftX, topLeftY, width, height, pageNumber, fontSize } = mark;
  return { type, topLeftX, topLeftY, width, height, pageNumber, fontSize };
}

function ruleUserBody(user: RuleUser): z.infer<typeof ruleUserShape> {
  return {
    ...participantBody(user),
    signatureDate: writtenOrNull(user.signatureDate),
    isElectronic: user.isElectronic,
    refusalDate: writtenOrNull(user.refusalDate),
    hasRefused: user.hasRefused,
    refusalReason: user.refusalReason,
  };
}
