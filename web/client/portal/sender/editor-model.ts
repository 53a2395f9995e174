/** Model of the editor: files, people and fields, as a creation request of the API and back. Pure. */
import { filled } from '../../../../contracts/texts/texts.ts';
import type { EditorScriptTexts, PlacedKind } from '../../../pages/portal/texts.ts';

/** Words for things without a name. */
export type NamingWords = Pick<EditorScriptTexts, 'kinds' | 'person' | 'unlabelled'>;

export interface EditorFile {
  /** Id of the upload. */
  readonly id: string;
  readonly name: string;
  /** Of a PDF `application/pdf`, as the service found it. */
  contentType: string;
  displayName: string;
}

/** PDF points from the top left corner of the page as displayed; pages from 1. */
interface ItemPlace {
  topLeftX: number;
  topLeftY: number;
  width: number;
  height: number;
  pageNumber: number;
}

export interface PlacedItem extends ItemPlace {
  /** Tells items apart while they are edited. */
  readonly key: number;
  readonly kind: PlacedKind;
  readonly uploadId: string;
  label: string;
  required: boolean;
  /** Choice only: one option on each line. */
  options: string;
  /** Filled in by the sender; empty = by the person. */
  value: string;
  /** Text only: the rule that it must follow; empty = none. */
  format: string;
  /** As it was read: members that the editor does not show are kept. */
  readonly given?: RequestedField | RequestedMark;
}

/** `Group`: a number of its members sign; `ApproverGroup`: a number of them approve. */
export type PersonRole = 'Signer' | 'Approver' | 'Group' | 'ApproverGroup' | 'Observer';

export interface GroupMember {
  name: string;
  email: string;
}

export interface EditorPerson {
  role: PersonRole;
  /** Role of a template: who uses it names the person. */
  title: string;
  /** Of a group: its name. */
  name: string;
  email: string;
  /** Language of mails and pages, such as `de`; empty = that of the organization and of the browser. */
  language: string;
  /** Those with a lower number act first. */
  step: number;
  electronic: boolean;
  /** Group only: how many must act. */
  needed: number;
  members: GroupMember[];
  /** Group only: a refusal ends the document only when too few members are left. */
  continues: boolean;
  /** May hand the action on to another person. */
  passable: boolean;
  items: PlacedItem[];
  /** As it was read. */
  readonly given?: RequestedAction;
}

export interface EditorModel {
  files: EditorFile[];
  /** All files become one document. */
  envelope: boolean;
  envelopeName: string;
  /** Id; empty = none. */
  folder: string;
  people: EditorPerson[];
  message: string;
  /** `YYYY-MM-DD`; empty = never. */
  expires: string;
  /** Days between reminders; 0 = none. */
  reminderDays: number;
  /** As it was read. */
  readonly given?: CreationRequest;
}

/** Sizes of new items, points. */
export const SIZES: { readonly [Kind in PlacedKind]: { readonly width: number; readonly height: number } } = {
  Signature: { width: 170, height: 56 },
  SignatureInitials: { width: 60, height: 28 },
  Text: { width: 160, height: 22 },
  Number: { width: 90, height: 22 },
  Date: { width: 100, height: 22 },
  Checkbox: { width: 16, height: 16 },
  Choice: { width: 160, height: 22 },
  Initials: { width: 60, height: 22 },
  Attachment: { width: 160, height: 22 },
};

/** Longest label of a field, characters. */
export const MAX_LABEL = 200;

let items = 0;

/** An item without a place. */
export function newItem(kind: PlacedKind) {
  items += 1;
  return { key: items, kind, label: '', required: true, options: '', value: '', format: '' };
}

interface RequestedUser {
  readonly name?: string | null;
  readonly email?: string | null;
  readonly identifier?: string | null;
  readonly language?: string | null;
}
interface RequestedPlace extends Partial<Omit<ItemPlace, 'pageNumber'>> {
  readonly uploadId?: string | null;
  /** Null: the last page. */
  readonly pageNumber?: number | null;
}
interface RequestedMark extends RequestedPlace {
  readonly type?: string | null;
}
interface RequestedField extends RequestedPlace {
  readonly name: string;
  readonly type?: string | null;
  readonly label?: string | null;
  readonly required?: boolean | null;
  readonly value?: string | number | boolean | null | undefined;
  readonly format?: string | null | undefined;
  readonly options?: readonly string[] | null;
  /** Field of the PDF's own form: it has no place. */
  readonly formField?: string | null;
}
interface RequestedAction {
  readonly type?: string | null;
  readonly step?: number | null;
  readonly title?: string | null;
  readonly user?: RequestedUser | null | undefined;
  readonly allowElectronicSignature?: boolean | null;
  readonly allowPassingOn?: boolean | null;
  readonly ruleName?: string | null;
  readonly numberRequiredSignatures?: number | null;
  readonly allowRuleFlowToContinueIfRefused?: boolean | null;
  readonly signRuleUsers?: readonly RequestedUser[] | null;
  readonly prePositionedMarks?: readonly RequestedMark[] | null;
  readonly fields?: readonly RequestedField[] | null | undefined;
}

/** The body of `POST /api/documents`; a draft may lack members. */
export interface CreationRequest {
  readonly files?: readonly EditorFile[] | null;
  readonly isEnvelope?: boolean | null | undefined;
  readonly envelopeName?: string | null | undefined;
  readonly folderId?: string | null | undefined;
  readonly flowActions?: readonly RequestedAction[] | null;
  readonly observers?: readonly { readonly user: RequestedUser }[] | null;
  readonly description?: string | null | undefined;
  readonly expirationDate?: string | null | undefined;
  readonly reminders?:
    | { readonly everyDays?: number | null; readonly daysBeforeExpiry?: readonly number[] | null }
    | null
    | undefined;
}

export function newPerson(role: PersonRole, step: number): EditorPerson {
  const members = isGroup({ role }) ? [newMember(), newMember()] : [];
  return {
    role,
    title: '',
    name: '',
    email: '',
    language: '',
    step,
    electronic: true,
    needed: 1,
    members,
    continues: false,
    passable: false,
    items: [],
  };
}

export function emptyModel(): EditorModel {
  return {
    files: [],
    envelope: false,
    envelopeName: '',
    folder: '',
    people: [newPerson('Signer', 1)],
    message: '',
    expires: '',
    reminderDays: 0,
  };
}

export function newMember(): GroupMember {
  return { name: '', email: '' };
}

export function isGroup({ role }: Pick<EditorPerson, 'role'>): boolean {
  return role === 'Group' || role === 'ApproverGroup';
}

/** True for people who sign; the others approve, or only observe. */
export function signs({ role }: Pick<EditorPerson, 'role'>): boolean {
  return role === 'Signer' || role === 'Group';
}

/** True for people who act: they can have fields. */
export function acts({ role }: EditorPerson): boolean {
  return role !== 'Observer';
}

/** True for people whose fields the service takes: each field is filled in by one person, who signs. */
function fillsFields({ role, needed }: EditorPerson): boolean {
  return role === 'Signer' || (role === 'Group' && needed === 1);
}

/** True if the person can have items of this kind: everybody who acts can have marks. */
export function canHave(person: EditorPerson, kind: PlacedKind): boolean {
  return MARK_TYPES.has(kind) ? acts(person) : fillsFields(person);
}

/** Options of a choice, without empty lines. */
export function readOptions(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Name of a person for people: their own, their role in a template, or a number. */
export function nameOf(people: readonly EditorPerson[], person: EditorPerson, words: NamingWords): string {
  const number = people.indexOf(person) + 1;
  return person.name.trim() || person.title.trim() || filled(words.person, { number });
}

/** Readable labels for the fields of a person that have none, such as `Text 1 of Ana`. */
export function madeLabels(
  people: readonly EditorPerson[],
  person: EditorPerson,
  words: NamingWords,
): ReadonlyMap<PlacedItem, string> {
  const counts = new Map<PlacedKind, number>();
  const name = nameOf(people, person, words);
  return new Map(
    person.items.map((item) => {
      const number = (counts.get(item.kind) ?? 0) + 1;
      counts.set(item.kind, number);
      const made = filled(words.unlabelled, { kind: words.kinds[item.kind], number, name });
      return [item, made.slice(0, MAX_LABEL)];
    }),
  );
}

/** Returns the body of `POST /api/documents`. */
export function toRequest(model: EditorModel, words: NamingWords): CreationRequest {
  const names = new Set(
    model.people.flatMap((person) => (person.given?.fields ?? []).map(({ name }) => name)),
  );
  return {
    ...model.given,
    files: model.files.map(({ id, name, contentType, displayName }) => {
      return { id, name, contentType, displayName: displayName.trim() || name };
    }),
    ...envelopeOf(model),
    folderId: model.folder || undefined,
    flowActions: model.people.filter(acts).map((person, index) => {
      return actionOf(person, index, names, madeLabels(model.people, person, words));
    }),
    observers: model.people
      .filter((person) => !acts(person))
      .map(({ name, email, language }) => ({
        user: { name: name.trim(), email: email.trim(), ...(language !== '' && { language }) },
      })),
    description: model.message.trim() || undefined,
    expirationDate: lastDayOf(model),
    reminders: remindersOf(model),
  };
}

/** Several files can become one document. A name stays with a draft whose second file is still missing. */
function envelopeOf({ envelope, envelopeName, files, given }: EditorModel): Partial<CreationRequest> {
  const isEnvelope = envelope && (files.length > 1 || given?.isEnvelope === true);
  return isEnvelope
    ? { isEnvelope, envelopeName: envelopeName.trim() }
    : { isEnvelope: undefined, envelopeName: undefined };
}

/** A day that was not changed is sent as it was written: its offset decides when it ends. */
function lastDayOf({ expires, given }: EditorModel): string | undefined {
  const written = given?.expirationDate ?? '';
  return (written.slice(0, 10) === expires ? written : expires) || undefined;
}

/** Absent: those of the organization. */
function remindersOf({ reminderDays, given }: EditorModel): CreationRequest['reminders'] {
  if (reminderDays > 0) return { ...given?.reminders, everyDays: reminderDays };
  const hasWarnings = (given?.reminders?.daysBeforeExpiry ?? []).length > 0;
  return hasWarnings ? { ...given?.reminders, everyDays: null } : undefined;
}

/** @param names names of fields that are taken; new ones are added. @param labels for fields without one */
function actionOf(
  person: EditorPerson,
  index: number,
  names: Set<string>,
  labels: ReadonlyMap<PlacedItem, string>,
): RequestedAction {
  const { role, step, items, given } = person;
  const marks = items.flatMap((item): RequestedMark[] => {
    const type = MARK_TYPES.get(item.kind);
    return type === undefined ? [] : [{ type, ...item.given, ...placeOf(item) }];
  });
  const fresh = () => {
    let number = 1;
    while (names.has(`person-${index + 1}-field-${number}`)) number += 1;
    const name = `person-${index + 1}-field-${number}`;
    names.add(name);
    return name;
  };
  const placedFields = items
    .filter(({ kind }) => !MARK_TYPES.has(kind))
    .map((item): RequestedField => {
      const known = item.given as RequestedField | undefined;
      const options = item.kind === 'Choice' ? { options: readOptions(item.options) } : {};
      return {
        type: item.kind,
        ...known,
        name: known?.name ?? fresh(),
        label: item.label.trim() || (labels.get(item) ?? null),
        required: item.required,
        ...options,
        ...contentOf(item, known),
        ...placeOf(item),
      };
    });
  const fields = [...placedFields, ...(given?.fields ?? []).filter(hasNoPlace)];
  const title = person.title.trim() || null;
  const placed = { title, prePositionedMarks: marks, fields: fields.length > 0 ? fields : undefined };
  if (isGroup(person)) {
    return {
      ...given,
      type: role === 'Group' ? 'SignRule' : 'ApproverRule',
      step,
      ruleName: person.name.trim(),
      numberRequiredSignatures: person.needed,
      signRuleUsers: membersOf(person),
      ...((person.continues || given?.allowRuleFlowToContinueIfRefused !== undefined) && {
        allowRuleFlowToContinueIfRefused: person.continues,
      }),
      ...(signs(person) && { allowElectronicSignature: person.electronic }),
      ...placed,
    };
  }
  const name = person.name.trim();
  const email = person.email.trim();
  const isNamed = name !== '' || email !== '' || given?.user?.identifier;
  return {
    ...given,
    type: role,
    step,
    user: isNamed ? { ...given?.user, name, email, ...languageOf(person) } : undefined,
    ...(role === 'Signer' && { allowElectronicSignature: person.electronic }),
    ...((person.passable || given?.allowPassingOn !== undefined) && { allowPassingOn: person.passable }),
    ...placed,
  };
}

/** Null takes away the one that was read. */
function languageOf({ language, given }: EditorPerson): Pick<RequestedUser, 'language'> {
  const isRead = given?.user?.language != null;
  return language === '' && !isRead ? {} : { language: language || null };
}

/** The marks of the API; all other kinds are fields. */
const MARK_TYPES: ReadonlyMap<PlacedKind, string> = new Map([
  ['Signature', 'SignatureVisualRepresentation'],
  ['SignatureInitials', 'SignatureInitials'],
]);

/**
 * True for a field that the editor does not show: it is filled in where it stands in the PDF's own form, a tag in the
 * text places it, or it is an attachment that no page names.
 */
function hasNoPlace({ formField, topLeftX, topLeftY, width, height }: RequestedField): boolean {
  return (formField ?? '') !== '' || [topLeftX, topLeftY, width, height].every((one) => one == null);
}

/** Members without their empty rows; those that were read keep what a row does not show. */
export function membersOf({ members, given }: EditorPerson): readonly RequestedUser[] {
  const known = given?.signRuleUsers ?? [];
  return members
    .map(({ name, email }) => ({ name: name.trim(), email: email.trim() }))
    .filter(({ name, email }) => name !== '' || email !== '')
    .map((member) => ({ ...known.find(({ email }) => email === member.email), ...member }));
}

/** Value of the sender, and the rule for a text. A value that was not changed is sent as it was written. */
function contentOf({ value, format, kind }: PlacedItem, known: RequestedField | undefined) {
  const isKept = textOf(known?.value) === value;
  const isTicked = value === 'true';
  return {
    value: isKept ? known?.value : kind === 'Checkbox' ? isTicked || undefined : value.trim() || undefined,
    ...((format !== '' || known?.format !== undefined) && { format: format || null }),
  };
}

function textOf(value: RequestedField['value']): string {
  return value === null || value === undefined ? '' : String(value);
}

function placeOf({ uploadId, topLeftX, topLeftY, width, height, pageNumber }: PlacedItem) {
  return { uploadId, topLeftX, topLeftY, width, height, pageNumber: pageNumber || null };
}

/** Reads a request that the editor made, or one of the API as far as the editor can show it. */
export function fromRequest(request: CreationRequest, words: NamingWords): EditorModel {
  const files = [...(request.files ?? [])].map((file) => ({ ...file }));
  const people = (request.flowActions ?? []).map((action) => personOf(action, files));
  const observers = (request.observers ?? []).map(({ user }) => ({
    ...newPerson('Observer', 1),
    name: user.name ?? '',
    email: user.email ?? '',
    language: user.language ?? '',
  }));
  const all = [...people, ...observers];
  unlabel(all, words);
  return {
    files,
    envelope: request.isEnvelope === true,
    envelopeName: request.envelopeName ?? '',
    folder: request.folderId ?? '',
    people: all,
    message: request.description ?? '',
    expires: (request.expirationDate ?? '').slice(0, 10),
    reminderDays: request.reminders?.everyDays ?? 0,
    given: request,
  };
}

/** Takes the labels away that `toRequest` gave: they follow a new name of the person. */
function unlabel(people: readonly EditorPerson[], words: NamingWords): void {
  for (const person of people)
    for (const [item, made] of madeLabels(people, person, words)) if (item.label === made) item.label = '';
}

const ROLES: ReadonlyMap<string, PersonRole> = new Map([
  ['SignRule', 'Group'],
  ['ApproverRule', 'ApproverGroup'],
  ['Approver', 'Approver'],
]);

function personOf(action: RequestedAction, files: readonly EditorFile[]): EditorPerson {
  const role = ROLES.get(action.type ?? '') ?? 'Signer';
  const kinds = new Map([...MARK_TYPES].map(([kind, type]) => [type, kind] as const));
  const place = (given: RequestedPlace) => ({
    uploadId: given.uploadId ?? files[0]?.id ?? '',
    topLeftX: given.topLeftX ?? 0,
    topLeftY: given.topLeftY ?? 0,
    width: given.width ?? 100,
    height: given.height ?? 22,
    // The last page: known when the file is shown.
    pageNumber: given.pageNumber ?? 0,
  });
  const marks = (action.prePositionedMarks ?? []).map((mark): PlacedItem => {
    const kind = kinds.get(mark.type ?? '') ?? 'Signature';
    return { ...newItem(kind), ...place(mark), given: mark };
  });
  const fields = (action.fields ?? [])
    .filter((field) => !hasNoPlace(field))
    .map((field): PlacedItem => {
      const kind = (Object.keys(SIZES) as PlacedKind[]).find((name) => name === field.type) ?? 'Text';
      return {
        ...newItem(kind),
        label: field.label ?? '',
        required: field.required ?? false,
        options: (field.options ?? []).join('\n'),
        value: textOf(field.value),
        format: field.format ?? '',
        ...place(field),
        given: field,
      };
    });
  return {
    role,
    given: action,
    title: action.title ?? '',
    name: (isGroup({ role }) ? action.ruleName : action.user?.name) ?? '',
    email: action.user?.email ?? '',
    language: action.user?.language ?? '',
    step: action.step ?? 0,
    electronic: action.allowElectronicSignature ?? false,
    needed: action.numberRequiredSignatures ?? 1,
    members: (action.signRuleUsers ?? []).map(({ name, email }) => ({
      name: name ?? '',
      email: email ?? '',
    })),
    passable: action.allowPassingOn ?? false,
    continues: action.allowRuleFlowToContinueIfRefused ?? false,
    items: [...marks, ...fields],
  };
}
