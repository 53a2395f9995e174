/** Refused forms: they show again what was entered, and beside the field at fault what is wrong with it. */
import { type Html, html } from '../../../contracts/texts/html.ts';
import type { AccountNotice } from './account-frame.ts';

/** Content of a form, for its template. */
export interface FormEntries {
  readonly isRefused: boolean;
  /** @param otherwise value of a form that was not refused */
  value(name: string, otherwise?: string): string;
  /** Attribute of a box. */
  checked(name: string, otherwise?: boolean): Html;
  /** Attribute of an option. */
  selected(name: string, option: string, otherwise?: string): Html;
  /** Attributes that mark the field at fault, and move the focus there. @param hint id of a text that describes the field */
  marks(name: string, hint?: string): Html;
  /** Says what is wrong with a field; follows the field. */
  fault(name: string): Html;
}

/** @param action path to which the form posts */
export function entriesOf(notice: AccountNotice | undefined, action: string): FormEntries {
  const refused = notice?.form?.action === action ? notice.form : undefined;
  const value = (name: string, otherwise = '') =>
    refused === undefined ? otherwise : (refused.values[name] ?? '');
  const isWrong = (name: string) => refused !== undefined && refused.field === name;
  const when = (condition: boolean, attribute: Html) => (condition ? attribute : html``);
  return {
    isRefused: refused !== undefined,
    value,
    checked: (name, otherwise = false) => when(value(name, otherwise ? 'yes' : '') !== '', html` checked`),
    selected: (name, option, otherwise) => when(value(name, otherwise) === option, html` selected`),
    marks(name, hint) {
      const described = [...(hint === undefined ? [] : [hint]), ...(isWrong(name) ? [`fault-${name}`] : [])];
      const description = when(described.length > 0, html` aria-describedby="${described.join(' ')}"`);
      return isWrong(name) ? html`${description} aria-invalid="true" autofocus` : description;
    },
    fault: (name) =>
      when(isWrong(name), html`<p class="fault" id="fault-${name}" role="alert">${notice?.text ?? ''}</p>\n`),
  };
}
