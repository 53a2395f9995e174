/** The fields that the participant fills in, as HTML; the same for both ways to sign. */

import { type Html, html, lines } from '../../../contracts/texts/html.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import type { ConditionalField } from '../../../machines/portal/conditions.ts';
import type { DocumentField } from '../../../machines/portal/field-values.ts';
import type { PageTexts } from './texts.ts';

/** A text of more characters gets several lines. */
const LONG_TEXT = 200;

/** Name of a field that a sender placed without a label, as the editor makes it. */
const MADE_NAME = /^person-\d+-field-\d+$/;

/**
 * The fields with labels for people. One without a label has its name as label: a program's `tax_number` is shown as "Tax
 * number", a name that the editor made as the kind of the field.
 */
export function labelledFields(
  fields: readonly DocumentField[],
  { language }: PageTexts,
): readonly DocumentField[] {
  const kinds: { readonly [kind: string]: string } = TEXTS[language].senders.editor.script.kinds;
  const isMade = ({ name, label }: DocumentField) => label === name && MADE_NAME.test(name);
  return fields.map((field) => {
    const { name, label, type } = field;
    if (label !== name) return field;
    const words = name.replaceAll(/[\s_-]+/g, ' ').trim();
    const alike = fields.filter((other) => isMade(other) && other.type === type);
    const number = alike.length > 1 ? ` ${alike.indexOf(field) + 1}` : '';
    const readable = isMade(field)
      ? `${kinds[type] ?? words}${number}`
      : words.charAt(0).toLocaleUpperCase(language) + words.slice(1);
    return { ...field, label: readable || label };
  });
}

export function isConditional({ shownWhen, requiredWhen }: DocumentField): boolean {
  return shownWhen !== undefined || requiredWhen !== undefined;
}

/** Returns what decides about a field. */
export function conditionalPart(field: DocumentField): ConditionalField {
  const { name, type, isRequired, shownWhen, requiredWhen } = field;
  return { name, type, isRequired, ...(shownWhen && { shownWhen }), ...(requiredWhen && { requiredWhen }) };
}

/** @returns nothing for a participant without fields */
export function fieldsForm(fields: readonly DocumentField[], { signing }: PageTexts): Html {
  if (fields.length === 0) return html``;
  const entries = fields.map((field, index) => entry(field, `field-${index}`, signing.required));
  return html`<fieldset id="document-fields"><legend>${signing.fields}</legend>
${lines(entries)}
</fieldset>
`;
}

function entry(field: DocumentField, id: string, required: string): Html {
  const { label, type, isRequired } = field;
  const needed = isRequired ? html` required` : html``;
  if (type === 'Checkbox')
    return html`<label class="tick"><input type="checkbox" id="${id}"${needed}${checked(field)}> ${label}${mark(field, required)}</label>`;
  return html`<label for="${id}">${label}${mark(field, required)}</label>
${control(field, id, needed)}`;
}

/** With a condition a script shows it. */
function mark({ isRequired, requiredWhen }: DocumentField, required: string): Html {
  if (!isRequired && requiredWhen === undefined) return html``;
  const hidden = isRequired ? html`` : html` hidden`;
  return html` <span class="hint"${hidden}>(${required})</span>`;
}

/** A box or choice that the sender has fixed offers its state only. */
function checked({ presetValue, isReadOnly }: DocumentField): Html {
  const is = presetValue === 'true' ? html` checked` : html``;
  return isReadOnly === true ? html`${is} disabled` : is;
}

function control(field: DocumentField, id: string, needed: Html): Html {
  const { type, format, maxLength, minimum, maximum, options, presetValue, isReadOnly } = field;
  const value = presetValue === undefined ? html`` : html` value="${presetValue}"`;
  const preset = isReadOnly === true ? html`${value} readonly` : value;
  switch (type) {
    case 'Choice': {
      const offered = isReadOnly === true ? options.filter((option) => option === presetValue) : options;
      const none = isReadOnly === true ? html`` : html`<option value=""></option>`;
      return html`<select id="${id}"${needed}>${none}${offered.map((option) =>
        option === presetValue ? html`<option selected>${option}</option>` : html`<option>${option}</option>`,
      )}</select>`;
    }
    case 'Attachment':
      return html`<input id="${id}" type="file" accept="application/pdf,image/png,image/jpeg"${needed}>`;
    case 'Date':
      return html`<input id="${id}" type="date"${preset}${needed}>`;
    case 'Number': {
      const least = minimum === null ? '' : html` min="${String(minimum)}"`;
      const most = maximum === null ? '' : html` max="${String(maximum)}"`;
      return html`<input id="${id}" type="number" step="any"${least}${most}${preset}${needed}>`;
    }
    default: {
      if (type === 'Text' && format === null && maxLength > LONG_TEXT && maxLength !== DEFAULT_LENGTH)
        return html`<textarea id="${id}" rows="3" maxlength="${String(maxLength)}"${isReadOnly === true ? html` readonly` : html``}${needed}>${presetValue ?? ''}</textarea>`;
      const kind = format === 'Email' ? 'email' : format === 'Phone' ? 'tel' : 'text';
      const digits = format === 'Digits' ? html` inputmode="numeric" pattern="[0-9]*"` : '';
      return html`<input id="${id}" type="${kind}" maxlength="${String(maxLength)}"${digits}${preset}${needed}>`;
    }
  }
}

/** Length of a field whose sender gave none. */
const DEFAULT_LENGTH = 500;
