/** Finds what a document in the editor lacks before it can be sent. Pure. */
import {
  acts,
  canHave,
  type EditorModel,
  type EditorPerson,
  isGroup,
  membersOf,
  type PlacedItem,
  readOptions,
} from './editor-model.ts';

/** Steps of the editor, in order. */
export const STEPS = ['files', 'people', 'fields', 'review'] as const;
export type Step = (typeof STEPS)[number];

export type FaultCode =
  | 'noFile'
  | 'noEnvelopeName'
  | 'envelopePdf'
  | 'noPerson'
  | 'noName'
  | 'noMail'
  | 'noGroupName'
  | 'noMembers'
  | 'noRole'
  | 'noFields'
  | 'noOptions'
  | 'pastDay'
  | 'noTemplateName';

export interface Fault {
  readonly step: Step;
  readonly code: FaultCode;
  /** Id of the input at fault. */
  readonly input: string;
  readonly person?: EditorPerson;
  /** The field that must be chosen before its input is shown. */
  readonly item?: PlacedItem;
}

/** @param today `YYYY-MM-DD`; @param templateName undefined: the model is no template, in which roles may stand for people */
export function faultsOf(model: EditorModel, today: string, templateName?: string): readonly Fault[] {
  const { people, expires } = model;
  const isTemplate = templateName !== undefined;
  return [
    ...faultsOfFiles(model),
    ...(people.some(acts) ? [] : [{ step: 'people', code: 'noPerson', input: 'add-person' } as const]),
    ...people.flatMap((person, index) => faultsOfPerson(person, index, isTemplate)),
    ...people.flatMap(faultsOfItems),
    ...(!isTemplate && expires !== '' && expires < today
      ? [{ step: 'review', code: 'pastDay', input: 'expires' } as const]
      : []),
    ...(isTemplate && templateName.trim() === ''
      ? [{ step: 'review', code: 'noTemplateName', input: 'template-name' } as const]
      : []),
  ];
}

function faultsOfFiles({ files, envelope, envelopeName }: EditorModel): readonly Fault[] {
  if (files.length === 0) return [{ step: 'files', code: 'noFile', input: 'add-files' }];
  if (!envelope || files.length === 1) return [];
  const isPdf = files.every(({ contentType }) => contentType === 'application/pdf');
  return [
    ...(isPdf ? [] : [{ step: 'files', code: 'envelopePdf', input: 'envelope' } as const]),
    ...(envelopeName.trim() === ''
      ? [{ step: 'files', code: 'noEnvelopeName', input: 'envelope-name' } as const]
      : []),
  ];
}

function faultsOfPerson(person: EditorPerson, index: number, isTemplate: boolean): readonly Fault[] {
  const { role, title, name, email, needed } = person;
  const fault = (code: FaultCode, input: string): Fault => ({
    step: 'people',
    code,
    person,
    input: `person-${index}-${input}`,
  });
  if (isGroup(person)) {
    const members = membersOf(person).map((member) => (member.email ?? '').toLowerCase());
    const isComplete =
      members.length >= needed &&
      members.every((one) => one.includes('@')) &&
      new Set(members).size === members.length;
    return [
      ...(name.trim() === '' ? [fault('noGroupName', 'name')] : []),
      ...(isComplete ? [] : [fault('noMembers', 'member-0-name')]),
    ];
  }
  const isEmpty = name.trim() === '' && email.trim() === '';
  if (isTemplate && role !== 'Observer' && isEmpty)
    return title.trim() === '' ? [fault('noRole', 'title')] : [];
  return [
    ...(name.trim() === '' ? [fault('noName', 'name')] : []),
    ...(email.includes('@') ? [] : [fault('noMail', 'email')]),
  ];
}

function faultsOfItems(person: EditorPerson): readonly Fault[] {
  return person.items.flatMap((item): readonly Fault[] => {
    const at = { step: 'fields', person, item } as const;
    if (!canHave(person, item.kind)) return [{ ...at, code: 'noFields', input: 'item-person' }];
    const lacksOptions = item.kind === 'Choice' && readOptions(item.options).length === 0;
    return lacksOptions ? [{ ...at, code: 'noOptions', input: 'item-options' }] : [];
  });
}
