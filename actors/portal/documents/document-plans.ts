/**
 * From what a caller sends about a flow to plans that are checked and complete. Source: docs/portal-values.md §§5, 6, 21.
 */

import type { Ids } from '@sealwright/runtime';
import { plainLine, visibleText } from '../../../contracts/plain-text.ts';
import type { NewField, NewFlowAction, NewParticipant } from '../../../contracts/portal/flow.ts';
import {
  CONFIRMATION_FLAGS,
  CONFIRMATIONS,
  type Confirmation,
  type ConfirmationFlag,
  PHONE_CHANNELS,
} from '../../../contracts/portal/words.ts';
import type { FlowActionId, UserId } from '../../../machines/ids.ts';
import { isRule, isSigning, namesEachOnce } from '../../../machines/portal/documents/document-flow.ts';
import type { DocumentField } from '../../../machines/portal/field-values.ts';
import { invalidAction, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type {
  ActionPlan,
  Observer,
  Participant,
  XmlNamespace,
} from '../../../machines/portal/portal-types.ts';
import { addressKey, isMailAddress } from '../shared/mail-address.ts';
import { assertFlowLimits, planCondition, planFields } from './field-plans.ts';
import { assertInitialsFit, type MarkedFile, planMarks } from './mark-plans.ts';
import { planXadesOptions } from './xades-plans.ts';

const MAX_LENGTHS = { text: 500, identifier: 50, email: 254 } as const;
const MAX_STEP = 1_000_000;

/** `Portal:Identifiers`. */
export type IdentifierFormat = 'Any' | 'Cpf';

export interface PlanDependencies {
  readonly ids: Pick<Ids, 'uuid'>;
  readonly identifiers: IdentifierFormat;
  /** Confirmations that this service can ask for, besides codes by e-mail. */
  readonly confirmations: readonly Confirmation[];
  /** True: a person may have a telephone alone, as visitors of links for anybody. @default false */
  readonly takesPhones?: boolean;
}

/** Refusals: `InvalidFlowAction`, `InvalidIdentifier`, `LimitExceeded`. */
export function planActions(
  inputs: readonly NewFlowAction[],
  files: readonly MarkedFile[],
  dependencies: PlanDependencies,
  namespaces: readonly XmlNamespace[] = [],
): readonly ActionPlan[] {
  return placedActions(planFlow(inputs, dependencies, namespaces), inputs, files, dependencies);
}

/** The actions without their marks and fields, which depend on the file. Refusals: `InvalidFlowAction`, `InvalidIdentifier`. */
export function planFlow(
  inputs: readonly NewFlowAction[],
  dependencies: PlanDependencies,
  namespaces: readonly XmlNamespace[],
): readonly ActionPlan[] {
  if (inputs.length === 0) throw invalidAction('A document needs at least one flow action.');
  return inputs.map((input) => planAction(input, dependencies, namespaces));
}

/**
 * The planned actions of one document, with ids of their own, and with the marks and fields that are for its files.
 * Refusals: `InvalidFlowAction`, `LimitExceeded`.
 * @param files none: the places are checked as far as that is possible
 */
export function placedActions(
  plans: readonly ActionPlan[],
  inputs: readonly NewFlowAction[],
  files: readonly MarkedFile[],
  dependencies: PlanDependencies,
): readonly ActionPlan[] {
  const { ids } = dependencies;
  const withId = (person: Participant): Participant => ({ ...person, id: ids.uuid() as UserId });
  const placed = plans.map((plan, index): ActionPlan => {
    const { prePositionedMarks, fields: wanted, signatureInitialsMode } = inputs[index] ?? {};
    const marks = planMarks(prePositionedMarks ?? [], files);
    if (plan.type === 'Signer' || plan.type === 'SignRule')
      assertInitialsFit(signatureInitialsMode, marks, files);
    const fields = planFieldsOf(plan, wanted ?? [], files, dependencies);
    return {
      ...plan,
      id: ids.uuid() as FlowActionId,
      user: plan.user && withId(plan.user),
      ruleUsers: plan.ruleUsers.map(withId),
      marks,
      ...(fields.length > 0 && { fields }),
    };
  });
  assertFlowLimits(placed);
  return placed;
}

function planAction(
  input: NewFlowAction,
  dependencies: PlanDependencies,
  namespaces: readonly XmlNamespace[],
): ActionPlan {
  const type = input.type ?? 'Signer';
  const isForGroup = isRule({ type });
  const step = planStep(input.step ?? 0);
  if (!isForGroup && !input.user) throw invalidAction(`An action of the type ${type} needs a user.`);
  const confirmations = planConfirmations(input, dependencies);
  const plan: ActionPlan = {
    id: dependencies.ids.uuid() as FlowActionId,
    type,
    step,
    user: isForGroup || !input.user ? null : planParticipant(input.user, dependencies),
    title: planText(input.title, 'title'),
    allowElectronicSignature: isSigning({ type }) && input.allowElectronicSignature === true,
    marks: [],
    ruleName: isForGroup ? planText(input.ruleName, 'ruleName') : null,
    ...ruleOf(input, type, dependencies),
    allowRuleFlowToContinueIfRefused: isForGroup && input.allowRuleFlowToContinueIfRefused === true,
    confirmations,
    disableEmailAuthentication: input.disableEmailAuthenticationToSignElectronically === true,
    requiredCertificateType: input.requiredCertificateTypeToSign ?? null,
    requiredCertificateHolder: input.requiredCertificateHolderTypeToSign ?? null,
    requireCompanyCertificate: input.requireCompanyCertificate ?? null,
    requiredCompanyIdentifier: planText(input.requiredCompanyIdentifier, 'requiredCompanyIdentifier'),
    initialsMode: input.signatureInitialsMode ?? null,
    ...(!isForGroup && input.allowPassingOn === true && { allowPassingOn: true }),
    ...(input.takesPartWhen && { takesPartWhen: planCondition(input.takesPartWhen, 'a flow action') }),
    xadesOptions: isSigning({ type }) ? planXadesOptions(input.xadesOptions, namespaces) : null,
  };
  const people = plan.user === null ? plan.ruleUsers : [plan.user];
  if (needsPhone(confirmations) && people.some(({ phone }) => phoneNumber(phone) === undefined))
    throw invalidAction('A code by SMS or WhatsApp needs the phone of the user, as +351 912 345 678.');
  if (confirmations.includes('AuthenticatorApp') && people.some(({ email }) => email === null))
    throw invalidAction(
      'An authenticator app needs the e-mail address of the user, who sets it up with a mailed code.',
    );
  return plan;
}

/** Refusals: `InvalidFlowAction` for what this service has no provider for. */
function planConfirmations(
  input: NewFlowAction,
  { confirmations: offered }: PlanDependencies,
): readonly Confirmation[] {
  const flags = CONFIRMATION_FLAGS.filter((flag) => input[flag] === true);
  const missing = flags.find((flag) => !offered.includes(CONFIRMATIONS[flag]));
  if (missing !== undefined) throw invalidAction(`${missing} is not available. ${remedyOf(missing)}`);
  const wanted = flags.map((flag) => CONFIRMATIONS[flag]);
  if (input.disableEmailAuthenticationToSignElectronically === true && !needsPhone(wanted))
    throw invalidAction(
      'disableEmailAuthenticationToSignElectronically is only for actions that require a code by SMS or WhatsApp.',
    );
  return wanted;
}

function remedyOf(flag: ConfirmationFlag): string {
  return needsPhone([CONFIRMATIONS[flag]])
    ? 'The operator sets Portal:MessageGateway:Url and Portal:MessageGateway:Secret for it.'
    : 'This service has no provider for it.';
}

function needsPhone(confirmations: readonly Confirmation[]): boolean {
  return PHONE_CHANNELS.some((channel) => confirmations.includes(channel));
}

/** The number without spaces and punctuation; undefined where none can be called. Source: ITU-T E.164 §6. */
export function phoneNumber(phone: string | null): string | undefined {
  const digits = (phone ?? '').replace(/[\s().\-/]/g, '');
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : undefined;
}

/** Only one person fills a field: a signer, or the one of a rule who signs. Refusals: `InvalidFlowAction`, `LimitExceeded`. */
export function planFieldsOf(
  action: Pick<ActionPlan, 'type' | 'numberRequiredSignatures'> | undefined,
  fields: readonly NewField[],
  files: readonly MarkedFile[],
  dependencies: PlanDependencies,
): readonly DocumentField[] {
  if (fields.length > 0 && action !== undefined && !hasOneSigner(action))
    throw invalidAction(
      `An action of the type ${action.type} has no fields; a Signer has, and a SignRule that needs one signature.`,
    );
  return planFields(fields, files, dependencies);
}

/** True for an action that one person signs. */
export function hasOneSigner({
  type,
  numberRequiredSignatures,
}: Pick<ActionPlan, 'type' | 'numberRequiredSignatures'>): boolean {
  return type === 'Signer' || (type === 'SignRule' && numberRequiredSignatures === 1);
}

/**
 * Asserts that a qualified document has no electronic signature: qualified signatures require a certificate. Refusals:
 * `InvalidFlowAction`.
 */
export function assertSignatureType(
  signatureType: string | null | undefined,
  actions: readonly Pick<NewFlowAction, 'type' | 'allowElectronicSignature'>[],
): void {
  const isElectronic = ({ type, allowElectronicSignature }: (typeof actions)[number]) =>
    allowElectronicSignature === true && type !== 'Approver' && type !== 'ApproverRule';
  if (signatureType === 'Qualified' && actions.some(isElectronic))
    throw invalidAction(
      'The signatureType Qualified takes certificate signatures only. Leave allowElectronicSignature out.',
    );
}

/** Refusals: `InvalidFlowAction`. */
export function planStep(step: number): number {
  if (!Number.isSafeInteger(step) || Math.abs(step) > MAX_STEP)
    throw invalidAction('The step is out of range.');
  return step;
}

function ruleOf(
  { signRuleUsers, numberRequiredSignatures }: NewFlowAction,
  type: ActionPlan['type'],
  dependencies: PlanDependencies,
): Pick<ActionPlan, 'numberRequiredSignatures' | 'ruleUsers'> {
  if (type !== 'SignRule' && type !== 'ApproverRule') return { numberRequiredSignatures: 1, ruleUsers: [] };
  const users = signRuleUsers ?? [];
  if (users.length === 0) throw invalidAction(`An action of the type ${type} needs signRuleUsers.`);
  const required = numberRequiredSignatures ?? (type === 'ApproverRule' ? 1 : undefined);
  if (required === undefined) throw invalidAction('A SignRule needs numberRequiredSignatures.');
  if (!Number.isSafeInteger(required) || required < 1 || required > users.length)
    throw invalidAction('numberRequiredSignatures must be between 1 and the number of signRuleUsers.');
  const ruleUsers = users.map((user) => planParticipant(user, dependencies));
  if (!namesEachOnce(ruleUsers)) throw invalidAction('A rule names each person once.');
  return { numberRequiredSignatures: required, ruleUsers };
}

/**
 * The person to whom an action is handed on, with what it asks of its participant. Refusals: `InvalidFlowAction`,
 * `InvalidIdentifier`.
 */
export function planSuccessor(
  input: NewParticipant,
  { confirmations }: Pick<ActionPlan, 'confirmations'>,
  dependencies: PlanDependencies,
): Participant {
  const person = planParticipant(input, dependencies);
  if (person.name === null || person.email === null)
    throw invalidAction('The person needs a name and an e-mail address.');
  // Its mail greets by name: nobody gets an address of the web from a stranger.
  if (/[@/\\]|www\./i.test(person.name))
    throw new PortalRefusal('InvalidFlowAction', 'The name of the person has a part of an address.', {
      details: { field: 'name' },
    });
  if (needsPhone(confirmations) && phoneNumber(person.phone) === undefined)
    throw invalidAction('A code by SMS or WhatsApp needs the phone of the person, as +351 912 345 678.');
  return person;
}

/** Refusals: `InvalidFlowAction`, `InvalidIdentifier`. */
function planParticipant(
  input: NewParticipant,
  { ids, identifiers, takesPhones = false }: PlanDependencies,
): Participant {
  const identifier = planIdentifier(input.identifier, identifiers);
  const email = input.email?.trim() ? planEmail(input.email) : null;
  const phone = planText(input.phone, 'phone');
  const isReached = takesPhones && phoneNumber(phone) !== undefined;
  if (identifier === null && email === null && !isReached)
    throw invalidAction('A participant needs an e-mail address or an identifier.');
  return {
    id: ids.uuid() as UserId,
    name: planText(input.name, 'name'),
    identifier,
    email,
    phone,
    ...(input.language && { language: input.language }),
  };
}

export function planObservers(
  inputs: readonly { readonly user: NewParticipant }[],
  dependencies: PlanDependencies,
): readonly Observer[] {
  return inputs.map(({ user }) => ({
    id: dependencies.ids.uuid(),
    user: planParticipant(user, dependencies),
  }));
}

/** An address that a mail can be sent to. Refusals: `InvalidFlowAction`. */
export function planEmail(input: string): string {
  const email = visibleText(input).trim();
  if (email.length > MAX_LENGTHS.email || !isMailAddress(email))
    throw invalidAction('An e-mail address is not valid: no mail can be sent to it.');
  return email;
}

/** Each address once, in the order given. Refusals: `InvalidFlowAction`. */
export function notifiedEmails(emails: readonly string[]): readonly string[] {
  const byAddress = new Map(emails.map(planEmail).map((email) => [addressKey(email), email]));
  return [...byAddress.values()];
}

function planIdentifier(input: string | null | undefined, form: IdentifierFormat): string | null {
  const bare = digitsOfIdentifier(plainLine(input ?? ''));
  if (bare === '') return null;
  if (bare.length > MAX_LENGTHS.identifier || (form === 'Cpf' && !isCpf(bare)))
    throw new PortalRefusal('InvalidIdentifier');
  return bare;
}

/** Without punctuation. Source: docs/portal-values.md §6. */
export function digitsOfIdentifier(text: string): string {
  return text.replace(/[\s.\-/]/g, '');
}

/** Eleven digits of which the last two are computed from those before, modulo 11. */
function isCpf(text: string): boolean {
  if (!/^\d{11}$/.test(text) || /^(\d)\1*$/.test(text)) return false;
  const digits = [...text].map(Number);
  const check = (count: number): number => {
    const sum = digits.slice(0, count).reduce((total, digit, at) => total + digit * (count + 1 - at), 0);
    return ((sum * 10) % 11) % 10;
  };
  return digits[9] === check(9) && digits[10] === check(10);
}

/** Undefined and blank are null. Refusals: `InvalidFlowAction`. */
export function planText(input: string | null | undefined, what: string): string | null {
  const trimmed = plainLine(input ?? '');
  if (trimmed.length > MAX_LENGTHS.text)
    throw invalidAction(`The ${what} is longer than ${MAX_LENGTHS.text} characters.`);
  return trimmed === '' ? null : trimmed;
}
