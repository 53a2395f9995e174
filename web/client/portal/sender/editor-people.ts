/** The people of a document, a row for each; the rows are templates of the page. */

import { type EditorScriptTexts, filled } from '../../../pages/portal/texts.ts';
import { createElement, requireElement } from '../../dom.ts';
import {
  acts,
  type EditorModel,
  type EditorPerson,
  type GroupMember,
  isGroup,
  newMember,
  newPerson,
  type PersonRole,
  signs,
} from './editor-model.ts';
import { MAX_PEOPLE, pastedMembers } from './pasted-members.ts';

export interface PeopleRows {
  /** Brings the model up to date with the rows. */
  read(): void;
  /** Marks what a row lacks. Undefined: marks nothing. */
  markMissing(person: EditorPerson | undefined): void;
}

/** @param changed called when a person has come, gone or been renamed */
export function startPeople(model: EditorModel, words: EditorScriptTexts, changed: () => void): PeopleRows {
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
    const kind = isGroup(person) ? 'group' : person.role === 'Observer' ? 'observer' : 'person';
    const row = createElement('li', { 'data-role': kind });
    row.append(requireElement(`#${kind}-row`, HTMLTemplateElement).content.cloneNode(true));
    for (const [name, value] of Object.entries(valuesOf(person))) {
      const field = controlOf(row, name);
      if (field === undefined) continue;
      if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = value === 'true';
      else field.value = value;
    }
    const title = filled(words.person, { number: index + 1 });
    row.querySelector('legend')?.prepend(`${title} `);
    const members = row.querySelector<HTMLElement>('[data-members]');
    if (members !== null) showMembers(person, members, title);
    const remove = createElement('button', { type: 'button' }, filled(words.removePerson, { name: title }));
    remove.addEventListener('click', () => {
      read();
      model.people = model.people.filter((other) => other !== person);
      messageElement.textContent = '';
      show();
      changed();
      requireElement('#add-person').focus();
    });
    row.querySelector('fieldset')?.append(remove);
    row.addEventListener('change', () => {
      read();
      offer(person, row);
      changed();
    });
    offer(person, row);
    return row;
  };

  /** Shows the settings that fit the role. */
  const offer = (person: EditorPerson, row: HTMLElement) => {
    const electronic = controlOf(row, 'electronic')?.closest('label');
    if (electronic) electronic.hidden = !signs(person);
  };

  /** Rows of the members of a group, and a button that adds one. */
  const showMembers = (person: EditorPerson, list: HTMLElement, title: string) => {
    const { content } = requireElement('#member-row', HTMLTemplateElement);
    const add = list.parentElement?.querySelector('[data-add-member]');
    const messageElement = messageAfter(list);
    const draw = () =>
      list.replaceChildren(
        ...person.members.map((member, index) => {
          const row = createElement('li');
          row.append(content.cloneNode(true));
          const name = `${title}, ${filled(words.member, { number: index + 1 })}`;
          row.querySelector('[role="group"]')?.setAttribute('aria-label', name);
          for (const part of ['name', 'email'] as const) {
            const input = row.querySelector<HTMLInputElement>(`[data-part="${part}"]`);
            if (input === null) continue;
            input.value = member[part];
            input.addEventListener('input', () => {
              member[part] = input.value;
            });
            input.addEventListener('paste', (event) => paste(event, member));
          }
          const remove = row.querySelector('button');
          remove?.setAttribute('aria-label', filled(words.removePerson, { name }));
          remove?.addEventListener('click', () => {
            person.members = person.members.filter((other) => other !== member);
            messageElement.textContent = '';
            draw();
            changed();
            if (add instanceof HTMLElement) add.focus();
          });
          return row;
        }),
      );
    /** Lines of `Name <e-mail>` become rows. */
    const paste = (event: ClipboardEvent, at: GroupMember) => {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (!text.includes('<') && !text.trim().includes('\n')) return;
      event.preventDefault();
      const isFree = at.name === '' && at.email === '';
      const room = MAX_PEOPLE - person.members.length + (isFree ? 1 : 0);
      const { members: pasted, isWhole } = pastedMembers(text, room);
      if (pasted.length > 0) {
        person.members = person.members.flatMap((member) => {
          if (member !== at) return [member];
          return isFree ? pasted : [member, ...pasted];
        });
      }
      draw();
      changed();
      messageElement.textContent = isWhole ? '' : words.leftOut;
      const last = person.members.indexOf(pasted.at(-1) ?? at);
      list.querySelector<HTMLInputElement>(`li:nth-child(${last + 1}) input`)?.focus();
    };
    add?.addEventListener('click', () => {
      messageElement.textContent = person.members.length < MAX_PEOPLE ? '' : words.leftOut;
      if (person.members.length >= MAX_PEOPLE) return;
      person.members.push(newMember());
      draw();
      list.querySelector<HTMLInputElement>('li:last-child input')?.focus();
    });
    draw();
  };

  const read = () => {
    for (const [person, row] of rows) {
      const text = (name: string) => controlOf(row, name)?.value ?? '';
      const isTicked = (name: string, before: boolean) => {
        const box = controlOf(row, name);
        return box instanceof HTMLInputElement ? box.checked : before;
      };
      person.title = text('title');
      person.name = text('name');
      person.email = text('email');
      person.step = whole(text('step') || '1', 0);
      person.needed = whole(text('needed'), 1);
      person.electronic = isTicked('electronic', person.electronic);
      person.continues = isTicked('continues', person.continues);
      person.role = CHOSEN_ROLES.find((role) => role === text('role')) ?? person.role;
    }
  };

  const messageElement = messageAfter(requireElement('#add-person').parentElement ?? list);
  const add = (role: PersonRole) => {
    read();
    const alike = model.people.filter((other) => acts(other) === (role !== 'Observer'));
    messageElement.textContent = alike.length < MAX_PEOPLE ? '' : words.tooManyPeople;
    if (alike.length >= MAX_PEOPLE) return;
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

  const markMissing = (person: EditorPerson | undefined) => {
    for (const marked of list.querySelectorAll('[aria-invalid]')) marked.removeAttribute('aria-invalid');
    const row = person === undefined ? undefined : rows.get(person);
    for (const input of row?.querySelectorAll('input') ?? []) {
      const isMail = input.type === 'email' && (input.value !== '' || input.required);
      const isMissing = isMail ? !input.value.includes('@') : input.required && input.value.trim() === '';
      if (isMissing) input.setAttribute('aria-invalid', 'true');
    }
  };

  requireElement('#add-person').addEventListener('click', () => add('Signer'));
  requireElement('#add-group').addEventListener('click', () => add('Group'));
  requireElement('#add-observer').addEventListener('click', () => add('Observer'));
  show();
  return { read, markMissing };
}

/** An empty message below a list; screen readers read what it becomes. */
function messageAfter(element: Element): HTMLElement {
  const message = createElement('p', { class: 'outcome bad', role: 'status' });
  element.after(message);
  return message;
}

/** Roles that a row offers. */
const CHOSEN_ROLES: readonly PersonRole[] = ['Signer', 'Approver', 'Group', 'ApproverGroup'];

function valuesOf({ title, name, email, step, electronic, needed, continues, role }: EditorPerson) {
  return {
    ...{ title, name, email, role, step: String(step), needed: String(needed) },
    ...{ electronic: String(electronic), continues: String(continues) },
  };
}

type Control = HTMLInputElement | HTMLSelectElement;

function controlOf(row: HTMLElement, name: string): Control | undefined {
  const found = row.querySelector(`[name="${name}"]`);
  return found instanceof HTMLInputElement || found instanceof HTMLSelectElement ? found : undefined;
}

function whole(text: string, least: number): number {
  const number = Math.trunc(Number(text));
  return Number.isFinite(number) ? Math.max(least, number) : least;
}
