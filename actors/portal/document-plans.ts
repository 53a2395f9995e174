/**
 * From what a caller sends about a flow to plans that are checked and complete. Source: portal-gaps §§5, 6, 21.
 */
import { namesEachOnce } from '../../machines/document-flow.ts';
import type { FlowActionId, UserId } from '../../machines/ids.ts';
import { plainLine, visibleText } from '../../machines/plain-text.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { ActionPlan, Mark, Observer, Participant, XmlNamespace } from '../../machines/portal-words.ts';
import type { Ids } from '../../runtime/index.ts';
import type { FlowActionInput, MarkInput, ParticipantInput } from './api.ts';
import { planXadesOptions } from './xades-plans.ts';

/** Signing participants of one document. Source: portal-gaps §21. */
const MOST_SIGNERS = 30;
/** Actions of one flow, approvals among them; ours. */
const MOST_ACTIONS = 100;
/** Marks of one action; ours. */
const MOST_MARKS = 200;
const LONGEST = { text: 500, identifier: 50, email: 254 } as const;
/** Addresses that are told of a conclusion; ours. */
const MOST_NOTIFIED = 100;
const HIGHEST_STEP = 1_000_000;

/** `Portal:Identifiers`. */
export type IdentifierForm = 'Any' | 'Cpf';

export interface PlanParts {
  readonly ids: Pick<Ids, 'uuid'>;
  readonly identifiers: IdentifierForm;
}

/** Which marks are for a file: those that name it, and those that name none. Pages count from the file's first. */
export interface MarkedFile {
  readonly uploadId: string;
  /** Pages of the document before the file's first; 0 for all but the later files of an envelope. */
  readonly pagesBefore: number;
  /** Pages of the file; undefined = it is the whole document, and a mark without a page is on its last. */
  readonly pages: number | undefined;
}

/** Refusals: `InvalidFlowAction`, `InvalidIdentifier`, `LimitExceeded`. */
export function planActions(
  inputs: readonly FlowActionInput[],
  files: readonly MarkedFile[],
  parts: PlanParts,
  namespaces: readonly XmlNamespace[] = [],
): readonly ActionPlan[] {
  if (inputs.length === 0) throw invalid('A document needs at least one flow action.');
  assertFewActions(inputs);
  const plans = inputs.map((input) => planAction(input, files, parts, namespaces));
  assertFewSigners(plans);
  return plans;
}

/** Refusals: `LimitExceeded`. */
export function assertFewActions(actions: readonly unknown[]): void {
  if (actions.length > MOST_ACTIONS) throw tooMany('flow actions', MOST_ACTIONS);
}

/** Refusals: `LimitExceeded`. */
export function assertFewSigners(
  actions: readonly {
    readonly type: ActionPlan['type'];
    readonly user: Participant | null;
    readonly ruleUsers: readonly Participant[];
  }[],
): void {
  const signing = actions.filter(({ type }) => type === 'Signer' || type === 'SignRule');
  const signers = signing.reduce(
    (sum, { user, ruleUsers }) => sum + (user === null ? ruleUsers.length : 1),
    0,
  );
  if (signers > MOST_SIGNERS) throw tooMany('signing participants', MOST_SIGNERS);
}

function planAction(
  input: FlowActionInput,
  files: readonly MarkedFile[],
  parts: PlanParts,
  namespaces: readonly XmlNamespace[],
): ActionPlan {
  const type = input.type ?? 'Signer';
  const isRule = type === 'SignRule' || type === 'ApproverRule';
  const isSigning = type === 'Signer' || type === 'SignRule';
  const step = planStep(input.step ?? 0);
  if ((input.confirmations ?? []).length > 0 || input.disableEmailAuthenticationToSignElectronically === true)
    throw invalid('This service confirms electronic signatures by e-mail alone.');
  if (!isRule && !input.user) throw invalid(`An action of the type ${type} needs a user.`);
  return {
    id: parts.ids.uuid() as FlowActionId,
    type,
    step,
    user: isRule || !input.user ? null : planParticipant(input.user, parts),
    title: planText(input.title, 'title'),
    allowElectronicSignature: isSigning && input.allowElectronicSignature === true,
    marks: planMarks(input.prePositionedMarks ?? [], files),
    ruleName: isRule ? planText(input.ruleName, 'ruleName') : null,
    ...ruleOf(input, type, parts),
    allowRuleFlowToContinueIfRefused: isRule && input.allowRuleFlowToContinueIfRefused === true,
    confirmations: [],
    disableEmailAuthentication: false,
    requiredCertificateType: input.requiredCertificateTypeToSign ?? null,
    requiredCertificateHolder: input.requiredCertificateHolderTypeToSign ?? null,
    requireCompanyCertificate: input.requireCompanyCertificate ?? null,
    requiredCompanyIdentifier: planText(input.requiredCompanyIdentifier, 'requiredCompanyIdentifier'),
    initialsMode: input.signatureInitialsMode ?? null,
    xadesOptions: isSigning ? planXadesOptions(input.xadesOptions, namespaces) : null,
  };
}

/** Refusals: `InvalidFlowAction`. */
export function planStep(step: number): number {
  if (!Number.isSafeInteger(step) || Math.abs(step) > HIGHEST_STEP)
    throw invalid('The step is out of range.');
  return step;
}

function ruleOf(
  { signRuleUsers, numberRequiredSignatures }: FlowActionInput,
  type: ActionPlan['type'],
  parts: PlanParts,
): Pick<ActionPlan, 'numberRequiredSignatures' | 'ruleUsers'> {
  if (type !== 'SignRule' && type !== 'ApproverRule') return { numberRequiredSignatures: 1, ruleUsers: [] };
  const users = signRuleUsers ?? [];
  if (users.length === 0) throw invalid(`An action of the type ${type} needs signRuleUsers.`);
  if (users.length > MOST_ACTIONS) throw tooMany('users of a rule', MOST_ACTIONS);
  const required = numberRequiredSignatures ?? (type === 'ApproverRule' ? 1 : undefined);
  if (required === undefined) throw invalid('A SignRule needs numberRequiredSignatures.');
  if (!Number.isSafeInteger(required) || required < 1 || required > users.length)
    throw invalid('numberRequiredSignatures lies between 1 and the number of signRuleUsers.');
  const ruleUsers = users.map((user) => planParticipant(user, parts));
  if (!namesEachOnce(ruleUsers)) throw invalid('A rule names each person once.');
  return { numberRequiredSignatures: required, ruleUsers };
}

/** Refusals: `InvalidFlowAction`, `InvalidIdentifier`. */
function planParticipant(input: ParticipantInput, { ids, identifiers }: PlanParts): Participant {
  const identifier = planIdentifier(input.identifier, identifiers);
  const email = input.email?.trim() ? planEmail(input.email) : null;
  if (identifier === null && email === null)
    throw invalid('A participant needs an e-mail address or an identifier.');
  return {
    id: ids.uuid() as UserId,
    name: planText(input.name, 'name'),
    identifier,
    email,
    phone: planText(input.phone, 'phone'),
  };
}

export function planObservers(
  inputs: readonly { readonly user: ParticipantInput }[],
  parts: PlanParts,
): readonly Observer[] {
  assertFewObservers(inputs);
  return inputs.map(({ user }) => ({ id: parts.ids.uuid(), user: planParticipant(user, parts) }));
}

/** Refusals: `LimitExceeded`. */
export function assertFewObservers(observers: readonly unknown[]): void {
  if (observers.length > MOST_ACTIONS) throw tooMany('observers', MOST_ACTIONS);
}

/** An address that a mail can be sent to. Refusals: `InvalidFlowAction`. */
export function planEmail(input: string): string {
  const email = visibleText(input).trim();
  if (email.length > LONGEST.email || !/^[^@\s<>",;:\p{Cc}]+@[^@\s<>",;:\p{Cc}]+$/u.test(email))
    throw invalid('An e-mail address is not valid.');
  return email;
}

/** Each address once, in the order given. Refusals: `InvalidFlowAction`, `LimitExceeded`. */
export function notifiedEmails(emails: readonly string[]): readonly string[] {
  if (emails.length > MOST_NOTIFIED) throw tooMany('addresses', MOST_NOTIFIED);
  const byAddress = new Map(emails.map(planEmail).map((email) => [email.toLowerCase(), email]));
  return [...byAddress.values()];
}

function planIdentifier(input: string | null | undefined, form: IdentifierForm): string | null {
  const bare = bareIdentifier(plainLine(input ?? ''));
  if (bare === '') return null;
  if (bare.length > LONGEST.identifier || (form === 'Cpf' && !isCpf(bare)))
    throw new PortalRefusal('InvalidIdentifier');
  return bare;
}

/** Without punctuation. Source: portal-gaps §6. */
export function bareIdentifier(text: string): string {
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

/** The marks that are for these files, by pages of the document. Refusals: `InvalidFlowAction`. */
export function planMarks(inputs: readonly MarkInput[], files: readonly MarkedFile[]): readonly Mark[] {
  if (inputs.length > MOST_MARKS) throw tooMany('marks', MOST_MARKS);
  return inputs.flatMap((input) => {
    const mark = planMark(input);
    const wanted = input.uploadId?.toLowerCase();
    const named = wanted ? files.filter(({ uploadId }) => uploadId === wanted) : files;
    return named.map(({ pagesBefore, pages }) => ({
      ...mark,
      pageNumber:
        mark.pageNumber !== null
          ? mark.pageNumber + pagesBefore
          : pages === undefined
            ? null
            : pagesBefore + pages,
    }));
  });
}

function planMark({ type, topLeftX, topLeftY, width, height, pageNumber, fontSize }: MarkInput): Mark {
  const all = [topLeftX, topLeftY, width, height, fontSize ?? 1];
  if (!all.every(Number.isFinite) || width <= 0 || height <= 0) throw invalid('A mark has no extent.');
  if (
    pageNumber !== null &&
    pageNumber !== undefined &&
    (!Number.isSafeInteger(pageNumber) || pageNumber < 1)
  )
    throw invalid('Pages of marks are counted from 1.');
  return {
    ...{ topLeftX, topLeftY, width, height },
    type: type ?? 'SignatureVisualRepresentation',
    pageNumber: pageNumber ?? null,
    fontSize: fontSize ?? null,
  };
}

/** Undefined and blank are null. Refusals: `InvalidFlowAction`. */
export function planText(input: string | null | undefined, what: string): string | null {
  const trimmed = plainLine(input ?? '');
  if (trimmed.length > LONGEST.text) throw invalid(`The ${what} is longer than ${LONGEST.text} characters.`);
  return trimmed === '' ? null : trimmed;
}

function invalid(message: string): PortalRefusal {
  return new PortalRefusal('InvalidFlowAction', message);
}

function tooMany(what: string, most: number): PortalRefusal {
  return new PortalRefusal('LimitExceeded', `There may be at most ${most} ${what}.`);
}
