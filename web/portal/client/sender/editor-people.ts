/** The people of a document, a row for each; the rows are templates of the page. */
import { createElement, requireElement } from '../../../client/dom.ts';
import type { EditorScriptTexts } from '../../texts/sender-texts.ts';
import { filled } from '../page-data.ts';
import { type EditorModel, type EditorPerson, newPerson, type PersonRole } from './editor-model.ts';

/** @param changed called when a person has come, gone or been renamed */
export function startPeople(
  model: EditorModel,
  words: EditorScriptTexts,
  changed: () => void,
): { read(): void } {
  const list = requireElement('#people-list');
  const rows = new Map<EditorPerson, HTMLElement>();

  const show = () => {
    rows.clear();
    list.replaceChildren(
      ...model.people.map((person, index) => {
        const row = rowOf(person, index);
        rows.set(person, row);
        return row;
      }),
    );
  };

  const rowOf = (person: EditorPerson, index: number) => {
    const kind = person.role === 'Group' || person.role === 'Observer' ? person.role.toLowerCase() : 'person';
    const template = requireElement(`#${kind}-row`, HTMLTemplateElement);
    const row = createElement('li', { 'data-role': person.role });
    row.append(template.content.cloneNode(true));
    for (const [name, value] of Object.entries(valuesOf(person))) {
      const field = controlOf(row, name);
      if (field === undefined) continue;
      if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = value === 'true';
      else field.value = value;
    }
    const title = filled(words.person, { number: index + 1 });
    row.querySelector('legend')?.prepend(`${title} `);
    const remove = createElement('button', { type: 'button' }, filled(words.removePerson, { name: title }));
    remove.addEventListener('click', () => {
      read();
      model.people = model.people.filter((other) => other !== person);
      show();
      changed();
      requireElement('#add-person').focus();
    });
    row.querySelector('fieldset')?.append(remove);
    row.addEventListener('change', () => {
      read();
      changed();
    });
    return row;
  };

  const read = () => {
    for (const [person, row] of rows) {
      const text = (name: string) => controlOf(row, name)?.value ?? '';
      person.title = text('title');
      person.name = text('name');
      person.email = text('email');
      person.members = text('members');
      person.step = whole(text('step'), 1);
      person.needed = whole(text('needed'), 1);
      const electronic = controlOf(row, 'electronic');
      if (electronic instanceof HTMLInputElement) person.electronic = electronic.checked;
      const role = text('role');
      if (role === 'Signer' || role === 'Approver') person.role = role;
    }
  };

  const add = (role: PersonRole) => {
    read();
    const last = Math.max(
      0,
      ...model.people.filter((person) => person.role !== 'Observer').map(({ step }) => step),
    );
    const person = newPerson(role, last + 1);
    model.people.push(person);
    show();
    changed();
    const row = rows.get(person);
    if (row !== undefined) controlOf(row, 'name')?.focus();
  };

  requireElement('#add-person').addEventListener('click', () => add('Signer'));
  requireElement('#add-group').addEventListener('click', () => add('Group'));
  requireElement('#add-observer').addEventListener('click', () => add('Observer'));
  show();
  return { read };
}

function valuesOf({ title, name, email, step, electronic, needed, members, role }: EditorPerson) {
  return {
    ...{ title, name, email, members, role },
    ...{ step: String(step), needed: String(needed), electronic: String(electronic) },
  };
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function controlOf(row: HTMLElement, name: string): Control | undefined {
  const found = row.querySelector(`[name="${name}"]`);
  const isControl =
    found instanceof HTMLInputElement ||
    found instanceof HTMLSelectElement ||
    found instanceof HTMLTextAreaElement;
  return isControl ? found : undefined;
}

function whole(text: string, least: number): number {
  const number = Math.trunc(Number(text));
  return Number.isFinite(number) ? Math.max(least, number) : least;
}
