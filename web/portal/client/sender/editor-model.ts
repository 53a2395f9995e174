/** Model of the editor: files, people and fields, as a creation request of the API and back. Pure. */
import type { PlacedKind } from '../../texts/sender-texts.ts';

export interface EditorFile {
  /** Id of the upload. */
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
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
  readonly kind: PlacedKind;
  readonly uploadId: string;
  label: string;
  required: boolean;
}

export type PersonRole = 'Signer' | 'Approver' | 'Group' | 'Observer';

export interface EditorPerson {
  role: PersonRole;
  /** Of a group: its name. */
  name: string;
  email: string;
  /** Those with a lower number act first. */
  step: number;
  electronic: boolean;
  /** Group only: how many must sign. */
  needed: number;
  /** Group only: lines `Name <e-mail>`. */
  members: string;
  items: PlacedItem[];
}

export interface EditorModel {
  files: EditorFile[];
  people: EditorPerson[];
  message: string;
  /** `YYYY-MM-DD`; empty = never. */
  expires: string;
  /** Days between reminders; 0 = none. */
  reminderDays: number;
}

/** Sizes of new items, points. */
export const SIZES: { readonly [Kind in PlacedKind]: { readonly width: number; readonly height: number } } = {
  Signature: { width: 170, height: 56 },
  SignatureInitials: { width: 60, height: 28 },
  Text: { width: 160, height: 22 },
  Number: { width: 90, height: 22 },
  Date: { width: 100, height: 22 },
  Checkbox: { width: 16, height: 16 },
  Initials: { width: 60, height: 22 },
};

interface RequestedUser {
  readonly name?: string | null;
  readonly email?: string | null;
}
type RequestedPlace = Partial<ItemPlace> & { readonly uploadId?: string | null };
interface RequestedAction {
  readonly type?: string | null;
  readonly step?: number | null;
  readonly user?: RequestedUser | null;
  readonly allowElectronicSignature?: boolean | null;
  readonly ruleName?: string | null;
  readonly numberRequiredSignatures?: number | null;
  readonly signRuleUsers?: readonly RequestedUser[] | null;
  readonly prePositionedMarks?: readonly (RequestedPlace & { readonly type?: string | null })[] | null;
  readonly fields?:
    | readonly (RequestedPlace & {
        readonly name: string;
        readonly type?: string | null;
        readonly label?: string | null;
        readonly required?: boolean | null;
      })[]
    | null;
}

/** The body of `POST /api/documents`; a draft may lack members. */
export interface CreationRequest {
  readonly files?: readonly EditorFile[] | null;
  readonly flowActions?: readonly RequestedAction[] | null;
  readonly observers?: readonly { readonly user: RequestedUser }[] | null;
  readonly description?: string | null;
  readonly expirationDate?: string | null;
  readonly reminders?: { readonly everyDays?: number | null } | null;
}

export function newPerson(role: PersonRole, step: number): EditorPerson {
  return { role, name: '', email: '', step, electronic: true, needed: 1, members: '', items: [] };
}

export function emptyModel(): EditorModel {
  return { files: [], people: [newPerson('Signer', 1)], message: '', expires: '', reminderDays: 0 };
}

/** True for people who act: they can have fields. */
export function acts({ role }: EditorPerson): boolean {
  return role !== 'Observer';
}

/** `Ana <ana@example.org>` → name and address; a line without brackets is an address. */
export function readMembers(text: string): readonly { readonly name: string; readonly email: string }[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const open = line.indexOf('<');
      if (open < 0) return { name: line, email: line };
      const email = line
        .slice(open + 1)
        .replace('>', '')
        .trim();
      return { name: line.slice(0, open).trim() || email, email };
    });
}

/** Returns the body of `POST /api/documents`. */
export function toRequest(model: EditorModel): CreationRequest {
  return {
    files: model.files.map(({ id, name, contentType, displayName }) => {
      return { id, name, contentType, displayName: displayName.trim() || name };
    }),
    flowActions: model.people.filter(acts).map(actionOf),
    observers: model.people
      .filter((person) => !acts(person))
      .map(({ name, email }) => ({ user: { name: name.trim(), email: email.trim() } })),
    ...(model.message.trim() && { description: model.message.trim() }),
    ...(model.expires && { expirationDate: model.expires }),
    ...(model.reminderDays > 0 && { reminders: { everyDays: model.reminderDays } }),
  };
}

function actionOf(person: EditorPerson, index: number): RequestedAction {
  const { role, step, items } = person;
  const marks = items.flatMap((item) => {
    const type = MARK_TYPES.get(item.kind);
    return type === undefined ? [] : [{ type, ...placeOf(item) }];
  });
  const fields = items.flatMap((item, number) =>
    MARK_TYPES.has(item.kind)
      ? []
      : [
          {
            name: `person-${index + 1}-field-${number + 1}`,
            type: item.kind,
            label: item.label.trim() || null,
            required: item.required,
            ...placeOf(item),
          },
        ],
  );
  const placed = { prePositionedMarks: marks, ...(fields.length > 0 && { fields }) };
  if (role === 'Group') {
    return {
      type: 'SignRule',
      step,
      ruleName: person.name.trim(),
      numberRequiredSignatures: person.needed,
      signRuleUsers: readMembers(person.members),
      allowElectronicSignature: person.electronic,
      ...placed,
    };
  }
  return {
    type: role,
    step,
    user: { name: person.name.trim(), email: person.email.trim() },
    ...(role === 'Signer' && { allowElectronicSignature: person.electronic }),
    ...placed,
  };
}

/** The marks of the API; all other kinds are fields. */
const MARK_TYPES: ReadonlyMap<PlacedKind, string> = new Map([
  ['Signature', 'SignatureVisualRepresentation'],
  ['SignatureInitials', 'SignatureInitials'],
]);

function placeOf({ uploadId, topLeftX, topLeftY, width, height, pageNumber }: PlacedItem) {
  return { uploadId, topLeftX, topLeftY, width, height, pageNumber };
}

/** Reads a request that the editor made, or one of the API as far as the editor can show it. */
export function fromRequest(request: CreationRequest): EditorModel {
  const files = [...(request.files ?? [])].map((file) => ({ ...file }));
  const people = (request.flowActions ?? []).map((action) => personOf(action, files));
  const observers = (request.observers ?? []).map(({ user }) => ({
    ...newPerson('Observer', 1),
    name: user.name ?? '',
    email: user.email ?? '',
  }));
  return {
    files,
    people: [...people, ...observers],
    message: request.description ?? '',
    expires: (request.expirationDate ?? '').slice(0, 10),
    reminderDays: request.reminders?.everyDays ?? 0,
  };
}

function personOf(action: RequestedAction, files: readonly EditorFile[]): EditorPerson {
  const isGroup = action.type === 'SignRule' || action.type === 'ApproverRule';
  const role = isGroup ? 'Group' : action.type === 'Approver' ? 'Approver' : 'Signer';
  const kinds = new Map([...MARK_TYPES].map(([kind, type]) => [type, kind] as const));
  const place = (given: RequestedPlace) => ({
    uploadId: given.uploadId ?? files[0]?.id ?? '',
    topLeftX: given.topLeftX ?? 0,
    topLeftY: given.topLeftY ?? 0,
    width: given.width ?? 100,
    height: given.height ?? 22,
    pageNumber: given.pageNumber ?? 1,
  });
  const marks = (action.prePositionedMarks ?? []).map((mark): PlacedItem => {
    return { kind: kinds.get(mark.type ?? '') ?? 'Signature', label: '', required: true, ...place(mark) };
  });
  const fields = (action.fields ?? []).map((field): PlacedItem => {
    const kind = (Object.keys(SIZES) as PlacedKind[]).find((name) => name === field.type) ?? 'Text';
    return { kind, label: field.label ?? '', required: field.required ?? false, ...place(field) };
  });
  return {
    role,
    name: (isGroup ? action.ruleName : action.user?.name) ?? '',
    email: action.user?.email ?? '',
    step: action.step ?? 1,
    electronic: action.allowElectronicSignature ?? false,
    needed: action.numberRequiredSignatures ?? 1,
    members: (action.signRuleUsers ?? [])
      .map(({ name, email }) => `${name ?? ''} <${email ?? ''}>`)
      .join('\n'),
    items: [...marks, ...fields],
  };
}

export type Fault = 'noFile' | 'noPerson' | 'noMail';

/** The first reason why the request cannot be sent; the service checks the rest. */
export function faultOf({ files, people }: EditorModel): Fault | undefined {
  if (files.length === 0) return 'noFile';
  if (!people.some(acts)) return 'noPerson';
  const isComplete = (person: EditorPerson) =>
    person.role === 'Group'
      ? person.name.trim() !== '' && readMembers(person.members).length >= person.needed
      : person.name.trim() !== '' && person.email.includes('@');
  return people.every(isComplete) ? undefined : 'noMail';
}
