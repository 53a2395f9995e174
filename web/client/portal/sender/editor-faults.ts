/** Finds what a document in the editor lacks before it can be sent. Pure. */
import {
  acts,
  canHave,
  type EditorModel,
  type EditorPerson,
  isGroup,
  membersOf,
  readOptions,
} from './editor-model.ts';

export type Fault = 'noFile' | 'noPerson' | 'noMail' | 'noMembers' | 'noRole' | 'noFields' | 'noOptions';

/**
 * The first reason why the request cannot be sent, and the person it concerns; the service checks the rest.
 * @param isTemplate true: a role may stand in place of a person
 */
export function faultOf(
  { files, people }: EditorModel,
  isTemplate = false,
): { readonly fault: Fault; readonly person?: EditorPerson } | undefined {
  if (files.length === 0) return { fault: 'noFile' };
  if (!people.some(acts)) return { fault: 'noPerson' };
  for (const person of people) {
    const fault = faultOfPerson(person, isTemplate);
    if (fault !== undefined) return { fault, person };
  }
  return undefined;
}

function faultOfPerson(person: EditorPerson, isTemplate: boolean): Fault | undefined {
  const { role, title, name, email, items, needed } = person;
  if (isGroup(person)) {
    const members = membersOf(person).map((member) => (member.email ?? '').toLowerCase());
    const isComplete =
      name.trim() !== '' && members.length >= needed && members.every((one) => one.includes('@'));
    if (!isComplete || new Set(members).size < members.length) return 'noMembers';
  } else if (name.trim() === '' || !email.includes('@')) {
    const hasRole =
      isTemplate && role !== 'Observer' && title.trim() !== '' && !(name.trim() || email.trim());
    if (!hasRole) return isTemplate ? 'noRole' : 'noMail';
  }
  if (items.some(({ kind }) => !canHave(person, kind))) return 'noFields';
  const lacksOptions = items.some(
    ({ kind, options }) => kind === 'Choice' && readOptions(options).length === 0,
  );
  return lacksOptions ? 'noOptions' : undefined;
}
