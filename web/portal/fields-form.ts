/** The fields that the participant fills in, as HTML; the same for both ways to sign. */
import type { DocumentField } from '../../machines/portal/field-values.ts';
import { type Html, html, lines } from '../html.ts';
import type { PageTexts } from './texts/page-texts.ts';

/** A text of more characters gets several lines. */
const LONG_TEXT = 200;

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
  const needed = isRequired ? html` required` : '';
  if (type === 'Checkbox')
    return html`<label class="tick"><input type="checkbox" id="${id}"${needed}> ${label}${mark(isRequired, required)}</label>`;
  return html`<label for="${id}">${label}${mark(isRequired, required)}</label>
${control(field, id, needed)}`;
}

function mark(isRequired: boolean, required: string): Html {
  return isRequired ? html` <span class="hint">(${required})</span>` : html``;
}

function control(
  { type, format, maxLength, minimum, maximum, options }: DocumentField,
  id: string,
  needed: Html | '',
): Html {
  switch (type) {
    case 'Choice':
      return html`<select id="${id}"${needed}><option value=""></option>${options.map(
        (option) => html`<option>${option}</option>`,
      )}</select>`;
    case 'Date':
      return html`<input id="${id}" type="date"${needed}>`;
    case 'Number': {
      const least = minimum === null ? '' : html` min="${String(minimum)}"`;
      const most = maximum === null ? '' : html` max="${String(maximum)}"`;
      return html`<input id="${id}" type="number" step="any"${least}${most}${needed}>`;
    }
    default: {
      if (type === 'Text' && format === null && maxLength > LONG_TEXT && maxLength !== DEFAULT_LENGTH)
        return html`<textarea id="${id}" rows="3" maxlength="${String(maxLength)}"${needed}></textarea>`;
      const kind = format === 'Email' ? 'email' : format === 'Phone' ? 'tel' : 'text';
      const digits = format === 'Digits' ? html` inputmode="numeric" pattern="[0-9]*"` : '';
      return html`<input id="${id}" type="${kind}" maxlength="${String(maxLength)}"${digits}${needed}>`;
    }
  }
}

/** Length of a field whose sender gave none. */
const DEFAULT_LENGTH = 500;
