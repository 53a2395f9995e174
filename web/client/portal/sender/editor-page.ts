/** State of the editor and what people do to it: steps, changes with undo, the chosen person and field. */
import type { SenderTexts } from '../../../pages/portal/texts.ts';
import { filled } from '../../../pages/portal/texts.ts';
import { delay } from '../../dom.ts';
import { type Fault, STEPS, type Step } from './editor-faults.ts';
import {
  acts,
  type CreationRequest,
  canHave,
  type EditorModel,
  type EditorPerson,
  madeLabels,
  nameOf,
  newPerson,
  type PersonRole,
  type PlacedItem,
  toRequest,
} from './editor-model.ts';
import { MAX_PEOPLE } from './pasted-members.ts';
import type { EditorData } from './sender-requests.ts';

/** Changes that can be undone. */
const MAX_PAST = 100;
/** Colours of people, in tokens.css. */
const COLOURS = 8;

export interface Notice {
  readonly kind: 'good' | 'bad' | 'busy';
  readonly text: string;
}

/** State of the draft: it has what the page shows, or not. */
export type Saved =
  | { readonly state: 'nothing' }
  /** Saved soon, or again. */
  | { readonly state: 'changed'; readonly time?: string }
  | { readonly state: 'saved'; readonly time: string }
  | { readonly state: 'failed'; readonly reason: string };

/** Settings of a template, beside its document. */
export interface TemplateSettings {
  name: string;
  description: string;
  days: number;
}

export class EditorPage {
  step: Step = 'files';
  /** Steps whose content was shown once. */
  readonly visited = new Set<Step>(['files']);
  /** The person who gets the next field. */
  person = 0;
  selected: PlacedItem | undefined;
  /** Entries to correct; they are marked until the person goes on. */
  faults: readonly Fault[] = [];
  notice: Notice | undefined;
  /** Read by screen readers, shown beside the fields. */
  said = '';
  saved: Saved = { state: 'nothing' };
  isBusy = false;
  folders: readonly { readonly id: string; readonly name: string }[] = [];

  readonly #past: EditorModel[] = [];
  #future: EditorModel[] = [];
  #merge = '';

  model: EditorModel;
  readonly data: EditorData;
  readonly texts: SenderTexts['editor'];
  readonly template: TemplateSettings;
  readonly locations: Map<string, string>;

  constructor(
    private readonly needs: {
      readonly model: EditorModel;
      readonly data: EditorData;
      readonly texts: SenderTexts['editor'];
      readonly template: TemplateSettings;
      readonly locations: Map<string, string>;
      readonly draw: () => void;
    },
  ) {
    this.model = needs.model;
    this.data = needs.data;
    this.texts = needs.texts;
    this.template = needs.template;
    this.locations = needs.locations;
  }

  get words() {
    return this.data.words;
  }

  get people(): readonly EditorPerson[] {
    return this.model.people;
  }

  get isTemplate(): boolean {
    return this.data.isTemplate === true;
  }

  request(): CreationRequest {
    return toRequest(this.model, this.words);
  }

  show(): void {
    this.needs.draw();
  }

  /**
   * Changes the model, so that the change can be undone.
   * @param merge changes in a row with the same text are undone together
   */
  change(edit: () => void, merge = ''): void {
    if (merge === '' || merge !== this.#merge) {
      this.#past.push(structuredClone(this.model));
      if (this.#past.length > MAX_PAST) this.#past.shift();
    }
    this.#merge = merge;
    this.#future = [];
    edit();
    this.#changed();
  }

  /** Ends a row of changes that are undone together. */
  endRow(): void {
    this.#merge = '';
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  undo(): void {
    const before = this.#past.pop();
    if (before === undefined) return;
    this.#future.push(this.model);
    this.#replace(before, this.words.undone);
  }

  redo(): void {
    const after = this.#future.pop();
    if (after === undefined) return;
    this.#past.push(this.model);
    this.#replace(after, this.words.redone);
  }

  #replace(model: EditorModel, said: string): void {
    const key = this.selected?.key;
    this.model = model;
    this.#merge = '';
    this.selected = model.people.flatMap(({ items }) => items).find((item) => item.key === key);
    this.person = Math.min(this.person, Math.max(0, model.people.length - 1));
    this.said = said;
    this.#changed();
  }

  /** Called after each change of the model. */
  onChange: () => void = () => {};

  #changed(): void {
    // What was corrected is no longer marked.
    const present = new Set(this.people);
    this.faults = this.faults.filter(({ person }) => person === undefined || present.has(person));
    this.onChange();
    this.needs.draw();
  }

  /** No longer marks an input. */
  corrected(input: string): void {
    this.faults = this.faults.filter((fault) => fault.input !== input);
    if (this.notice?.kind === 'bad') this.notice = undefined;
  }

  errorOf(input: string): string | undefined {
    const fault = this.faults.find((one) => one.input === input);
    return fault && this.words[fault.code];
  }

  /** Shows a step with the focus on its title. @param focus id of an input in its place */
  go(step: Step, focus = `step-${step}`): void {
    this.step = step;
    this.visited.add(step);
    this.needs.draw();
    focusOn(focus);
    if (focus.startsWith('step-')) window.scrollTo({ top: 0, behavior: 'instant' });
  }

  /** Marks the faults and focuses the first of them. @returns true if there are none */
  mark(faults: readonly Fault[]): boolean {
    this.faults = faults;
    const [first] = faults;
    if (first === undefined) return true;
    this.notice = undefined;
    if (first.item !== undefined) this.selected = first.item;
    this.go(first.step, first.input);
    return false;
  }

  nextStep(): Step | undefined {
    return STEPS[STEPS.indexOf(this.step) + 1];
  }

  nameOf(person: EditorPerson): string {
    return nameOf(this.people, person, this.words);
  }

  /** The label that the person reads. */
  labelOf(item: PlacedItem): string {
    const owner = this.ownerOf(item);
    if (item.kind === 'Signature' || item.kind === 'SignatureInitials') return this.words.kinds[item.kind];
    return (
      item.label.trim() ||
      (owner && madeLabels(this.people, owner, this.words).get(item)) ||
      this.words.kinds[item.kind]
    );
  }

  ownerOf(item: PlacedItem): EditorPerson | undefined {
    return this.people.find(({ items }) => items.includes(item));
  }

  /** A colour of tokens.css. */
  colourOf(person: EditorPerson | undefined): string {
    const index = person === undefined ? 0 : Math.max(0, this.people.indexOf(person));
    return `var(--who-${(index % COLOURS) + 1})`;
  }

  /** The person who gets the next field: the chosen one, or the first who acts. */
  get chosen(): EditorPerson | undefined {
    const chosen = this.people[this.person];
    return chosen !== undefined && acts(chosen) ? chosen : this.people.find(acts);
  }

  addPerson(role: PersonRole): void {
    const alike = this.people.filter((other) => acts(other) === (role !== 'Observer'));
    if (alike.length >= MAX_PEOPLE) {
      this.notice = { kind: 'bad', text: this.words.tooManyPeople };
      this.needs.draw();
      return;
    }
    const last = Math.max(0, ...this.people.filter(acts).map(({ step }) => step));
    this.change(() => this.model.people.push(newPerson(role, last + 1)));
    focusOn(`person-${this.people.length - 1}-name`);
  }

  removePerson(person: EditorPerson): void {
    this.change(() => {
      this.model.people = this.people.filter((other) => other !== person);
      if (this.selected !== undefined && person.items.includes(this.selected)) this.selected = undefined;
    });
    focusOn('add-person');
  }

  /** Exchanges a person with the one before or after, who takes the place in the order. */
  movePerson(index: number, by: -1 | 1): void {
    const one = this.people[index];
    const other = this.people[index + by];
    if (one === undefined || other === undefined) return;
    this.change(() => {
      this.model.people = this.people.map((person) =>
        person === one ? other : person === other ? one : person,
      );
      if (!acts(one) || !acts(other)) return;
      const { step } = one;
      one.step = other.step;
      other.step = step;
    });
    focusOn(`person-${index + by}-${by < 0 ? 'up' : 'down'}`, `person-${index + by}-name`);
  }

  removeItem(item: PlacedItem): void {
    const owner = this.ownerOf(item);
    if (owner === undefined) return;
    this.said = filled(this.words.removed, { field: this.labelOf(item) });
    this.change(() => {
      owner.items = owner.items.filter((other) => other !== item);
      if (this.selected === item) this.selected = undefined;
    });
  }

  /** Gives a field to another person. False: they cannot have it. */
  giveItem(item: PlacedItem, person: EditorPerson): void {
    const owner = this.ownerOf(item);
    if (owner === undefined || owner === person || !canHave(person, item.kind)) return;
    this.change(() => {
      owner.items = owner.items.filter((other) => other !== item);
      person.items.push(item);
    });
    this.corrected('item-person');
    this.needs.draw();
  }
}

/** Focuses the first of some elements that can have the focus, once the page is drawn. */
export function focusOn(...ids: readonly string[]): void {
  delay(0, () => {
    for (const id of ids) {
      const element = document.getElementById(id);
      if (element === null || (element instanceof HTMLButtonElement && element.disabled)) continue;
      element.focus();
      break;
    }
  });
}
