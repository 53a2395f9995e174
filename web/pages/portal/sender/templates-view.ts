/** Templates of the organization: their list, and the form that makes a document of one. Works without scripts. */

import type { CreateDocuments, SignedInUser } from '../../../../actors/portal/api.ts';
import type { NewField } from '../../../../contracts/portal/flow.ts';
import type { TemplateItem } from '../../../../contracts/portal/kept-requests/templates.ts';
import { type Html, html, lines } from '../../../../contracts/texts/html.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import {
  type AccountNotice,
  type AccountPage,
  accountPage,
  accountTable,
  addressFrom,
  form,
  noticePart,
  sureForm,
} from '../account-frame.ts';
import { filled, type SenderTexts } from '../texts.ts';
import { timeText } from './times.ts';

const PATH = '/account/templates';

export interface TemplatesPage {
  readonly q: string;
  readonly items: readonly TemplateItem[];
  /** Address of older templates; undefined: there are none. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  readonly notice: AccountNotice | undefined;
}

export function templatesPage(page: AccountPage, user: SignedInUser, shown: TemplatesPage): string {
  const texts = TEXTS[page.words.language].senders;
  const { list, templates } = texts;
  const rows = shown.items.map(
    ({ id, name, description, roles, version, updateDate }) => html`<tr>
<td><a href="${addressFrom(page, `${PATH}/${id}`)}"><bdi>${name}</bdi></a>${description === null ? '' : html`<br><span class="hint">${description}</span>`}</td>
<td>${roles.map((role) => roleText(templates, role)).join(', ')}</td>
<td>${version}</td>
<td>${timeText(page.words.language, updateDate)}</td>
</tr>`,
  );
  const heads = [templates.one, templates.roles, templates.version, list.changed];
  const language =
    page.culture === undefined ? '' : html`<input type="hidden" name="culture" value="${page.culture}">`;
  return accountPage(page, user, {
    title: templates.title,
    main: html`${noticePart(shown.notice)}<p>${templates.text}</p>
<p class="ways"><a class="button main" href="${addressFrom(page, `${PATH}/new`)}">${templates.create}</a></p>
<form method="get" action="${PATH}" class="filters" role="search">
${language}
<label>${templates.search} <input name="q" type="search" maxlength="200" value="${shown.q}"></label>
<button type="submit">${list.apply}</button>
</form>
${rows.length === 0 ? html`<p>${templates.none}</p>` : accountTable(templates.title, heads, rows)}
<p class="ways">${shown.isFirst ? '' : html`<a class="button" href="${addressFrom(page, PATH)}">${templates.first}</a>`}
${shown.next === undefined ? '' : html`<a class="button" href="${addressFrom(page, shown.next)}">${templates.next}</a>`}</p>`,
  });
}

export interface TemplatePage {
  /** The version that is used. */
  readonly template: TemplateItem;
  /** Newest first. */
  readonly versions: readonly TemplateItem[];
  readonly request: CreateDocuments;
  /** The same for each time the form is sent. */
  readonly key: string;
  /** Inputs of a refused form, by name. */
  readonly values: Readonly<Record<string, string>>;
  readonly notice: AccountNotice | undefined;
}

/** Fields that the sender can fill, each name once. */
export function senderFields({ flowActions }: Pick<CreateDocuments, 'flowActions'>): readonly NewField[] {
  const fields = flowActions.flatMap((action) => action.fields ?? []);
  const byName = new Map(fields.map((field) => [field.name.trim(), field]));
  return [...byName.values()].filter(
    ({ type, readOnly }) => type !== 'Attachment' && (type !== 'Initials' || readOnly === true),
  );
}

/** True when the request makes one document, which can get a title. */
export function hasOneName({ files, isEnvelope }: Pick<CreateDocuments, 'files' | 'isEnvelope'>): boolean {
  return files.length === 1 || isEnvelope === true;
}

export function templatePage(page: AccountPage, user: SignedInUser, shown: TemplatePage): string {
  const texts = TEXTS[page.words.language].senders;
  const { templates } = texts;
  const { template, versions, notice } = shown;
  const { id, version } = template;
  const newest = versions[0]?.version ?? version;
  const older =
    version === newest
      ? ''
      : html`<p class="hint">${filled(templates.notNewest, { version: String(version), newest: String(newest) })}</p>\n`;
  const main = html`${noticePart(notice)}<p><a href="${addressFrom(page, PATH)}">${templates.back}</a></p>
${template.description === null ? '' : html`<p>${template.description}</p>\n`}${older}${useForm(page, user, texts, shown)}
<h2>${templates.versions}</h2>
<ol class="rows" role="list">
${lines(versions.map((one) => versionLine(page, texts, one, version)))}
</ol>
<div class="ways"><a class="button" href="${addressFrom(page, `${PATH}/${id}/bulk`)}">${texts.bulk.open}</a>
<a class="button" href="${addressFrom(page, `${PATH}/${id}/edit`)}">${templates.edit}</a>
${sureForm(page, user, `${PATH}/${id}/removal`, { ask: templates.remove, sure: templates.removeSure })}</div>`;
  return accountPage(page, user, { title: template.name, main });
}

function versionLine(
  page: AccountPage,
  { templates }: SenderTexts,
  { id, version, updateDate, updatedBy }: TemplateItem,
  shown: number,
): Html {
  const time = timeText(page.words.language, updateDate);
  const text = filled(templates.versionLine, { version: String(version), time, name: updatedBy.name });
  const current = version === shown ? html` aria-current="true"` : '';
  const address = addressFrom(page, `${PATH}/${id}?version=${version}`);
  return html`<li><a href="${address}"${current}><bdi>${text}</bdi></a></li>`;
}

function useForm(
  page: AccountPage,
  user: SignedInUser,
  texts: SenderTexts,
  { template, request, key, values }: TemplatePage,
): Html {
  const { editor, templates } = texts;
  const { id, version, roles } = template;
  const shownValue = (name: string) => values[name] ?? '';
  const people = roles.map(
    (role, index) => html`<fieldset><legend><bdi>${roleText(templates, role)}</bdi></legend>
<label for="name-${index}">${editor.personName}</label>
<input id="name-${index}" name="name-${index}" required maxlength="200" value="${shownValue(`name-${index}`)}">
<label for="email-${index}">${editor.mail}</label>
<input id="email-${index}" name="email-${index}" type="email" required maxlength="254" spellcheck="false" value="${shownValue(`email-${index}`)}">
</fieldset>`,
  );
  const fields = senderFields(request);
  const inputs = fields.map((field, index) => valueInput(templates, field, `value-${index}`, values));
  const name = hasOneName(request)
    ? html`<label for="document-name">${templates.documentName}</label>
<input id="document-name" name="documentName" maxlength="250" value="${values['documentName'] ?? nameOf(request)}">\n`
    : '';
  const content = html`<input type="hidden" name="version" value="${version}">
<input type="hidden" name="key" value="${key}">
${people.length === 0 ? '' : html`<h2>${templates.people}</h2>\n${lines(people)}`}
${inputs.length === 0 ? '' : html`<h2>${templates.values}</h2>\n<p class="hint">${templates.valuesHint}</p>\n${lines(inputs)}`}
<h2>${editor.message}</h2>
${name}<label for="description">${editor.messageText}</label>
<textarea id="description" name="description" rows="4" maxlength="4000">${values['description'] ?? request.description ?? ''}</textarea>
<p class="ways"><button type="submit" class="main">${editor.send}</button></p>`;
  return form(page, user, `${PATH}/${id}/documents`, content);
}

function nameOf({ files, isEnvelope, envelopeName }: CreateDocuments): string {
  return (isEnvelope === true ? envelopeName : files[0]?.displayName) ?? '';
}

/** An input for a value of the sender. */
function valueInput(
  { required }: SenderTexts['templates'],
  { name, label, type, readOnly, value, options, maxLength, minimum, maximum }: NewField,
  id: string,
  values: Readonly<Record<string, string>>,
): Html {
  const given = values[id] ?? (value === null || value === undefined ? '' : String(value));
  const text = label?.trim() || name;
  // The participant could not fill it.
  const isNeeded = readOnly === true;
  const needed = isNeeded ? html` required` : '';
  if (type === 'Checkbox') {
    const checked = given === 'true' ? html` checked` : '';
    return html`<p><label class="tick"><input type="checkbox" name="${id}" value="true"${checked}> <bdi>${text}</bdi></label></p>`;
  }
  const title = html`<label for="${id}"><bdi>${text}</bdi>${isNeeded ? html` <span class="hint">(${required})</span>` : ''}</label>`;
  if (type === 'Choice') {
    const offered = (options ?? []).map((option) => {
      const chosen = option === given ? html` selected` : '';
      return html`<option${chosen}>${option}</option>`;
    });
    return html`${title}\n<select id="${id}" name="${id}"${needed}><option value=""></option>${offered}</select>`;
  }
  const kind = type === 'Number' ? 'number' : type === 'Date' ? 'date' : 'text';
  const least = kind === 'number' && typeof minimum === 'number' ? html` min="${String(minimum)}"` : '';
  const most = kind === 'number' && typeof maximum === 'number' ? html` max="${String(maximum)}"` : '';
  const step = kind === 'number' ? html` step="any"` : '';
  const length = kind === 'text' ? html` maxlength="${String(maxLength ?? 500)}"` : '';
  return html`${title}\n<input id="${id}" name="${id}" type="${kind}"${step}${least}${most}${length}${needed} value="${given}">`;
}

/** Name of a role: those that the service gave, such as `Signer 1`, in the language of the page. */
function roleText({ roleNames }: SenderTexts['templates'], role: string): string {
  const [, type, number] = /^(Signer|Approver) (\d{1,4})$/.exec(role) ?? [];
  return type === 'Signer' || type === 'Approver' ? `${roleNames[type]} ${number}` : role;
}
