/** Branding of an organization: logo, colors, page after signing, and texts of mails with a preview. */

import type { SignedInUser } from '../../../actors/portal/api.ts';
import {
  BRANDED_MAILS,
  type BrandedMail,
  MAX_INTRODUCTION,
  MAX_REDIRECT_URL,
  MAX_SUBJECT,
  type MailPreview,
} from '../../../contracts/portal/branding.ts';
import { type Html, html, lines } from '../../../contracts/texts/html.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import type { BrandingContext } from '../../../machines/portal/branding.ts';
import {
  type AccountNotice,
  type AccountPage,
  accountPage,
  addressFrom,
  form,
  noticePart,
  sureForm,
} from './account-frame.ts';
import { entriesOf } from './entered-form.ts';
import { BRANDING } from './page-frame.tsx';

const PATH = '/organization/branding';
export interface BrandingPage {
  readonly branding: BrandingContext;
  /** The mail whose texts are edited. */
  readonly kind: BrandedMail;
  readonly preview: MailPreview;
  readonly placeholders: readonly string[];
  readonly notice: AccountNotice | undefined;
}

export function brandingPage(page: AccountPage, user: SignedInUser, shown: BrandingPage): string {
  const { branding: texts } = page.texts;
  const { id } = user.tenant.organization;
  return accountPage(page, user, {
    title: texts.title,
    main: html`${noticePart(shown.notice)}<p>${texts.text}</p>
${logoPart(page, user, shown)}
${looksPart(page, user, shown)}
${mailPart(page, user, shown)}`,
    script: 'branding.js',
    data: {
      formToken: user.formToken,
      organization: id,
      kind: shown.kind,
      language: page.words.language,
      words: { ...TEXTS[page.words.language].senders.editor.script, noLogo: texts.noLogo },
    },
  });
}

function logoPart(page: AccountPage, user: SignedInUser, { branding: { logo } }: BrandingPage): Html {
  const { branding: texts } = page.texts;
  const { id, name } = user.tenant.organization;
  const shown =
    logo === null
      ? html`<p>${texts.logoNone}</p>`
      : html`<p><img src="${BRANDING}/${id}/logo?v=${logo.digest}" alt="${name}" width="${logo.width}" height="${logo.height}" class="logo"></p>
${sureForm(page, user, `${PATH}/logo-removal`, { ask: texts.logoRemove, sure: texts.logoRemoveSure })}`;
  return html`<section aria-labelledby="logo-title"><h2 id="logo-title">${texts.logo}</h2>
${shown}
<noscript><p class="trouble">${texts.needsScript}</p></noscript>
<p><label for="logo-file">${texts.logoFile}</label>
<input type="file" id="logo-file" accept="image/png,image/jpeg"></p>
<p class="ways"><button type="button" id="logo-upload">${texts.logoUpload}</button></p>
<div id="outcome" class="outcome" role="status" aria-live="polite" tabindex="-1"></div>
</section>`;
}

function looksPart(page: AccountPage, user: SignedInUser, { branding, notice }: BrandingPage): Html {
  const { branding: texts } = page.texts;
  const entries = entriesOf(notice, `${PATH}/looks`);
  const colour = (
    name: 'primaryColor' | 'headerColor',
    label: string,
  ) => html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" maxlength="7" pattern="#[0-9a-fA-F]{6}" placeholder="#1b5fb4" spellcheck="false" value="${entries.value(name, branding[name] ?? '')}"${entries.marks(name)}>
${entries.fault(name)}`;
  const content = html`${colour('primaryColor', texts.primaryColor)}
${colour('headerColor', texts.headerColor)}
<label for="redirect-origins">${texts.redirectOrigins}</label>
<textarea id="redirect-origins" name="redirectOrigins" rows="3" maxlength="6019" spellcheck="false"${entries.marks('redirectOrigins')}>${entries.value('redirectOrigins', branding.redirectOrigins.join('\n'))}</textarea>
${entries.fault('redirectOrigins')}<label for="redirect-url">${texts.redirectUrl}</label>
<input id="redirect-url" name="redirectUrl" type="url" maxlength="${MAX_REDIRECT_URL}" spellcheck="false" value="${entries.value('redirectUrl', branding.redirectUrl ?? '')}"${entries.marks('redirectUrl')}>
${entries.fault('redirectUrl')}<p class="ways"><button type="submit">${texts.save}</button></p>`;
  return html`<section aria-labelledby="looks-title"><h2 id="looks-title">${texts.looks}</h2>
${form(page, user, `${PATH}/looks`, content)}
</section>`;
}

function mailPart(
  page: AccountPage,
  user: SignedInUser,
  { branding, kind, preview, placeholders, notice }: BrandingPage,
): Html {
  const { branding: texts } = page.texts;
  const entries = entriesOf(notice, `${PATH}/mail`);
  const own = branding.mailTexts[kind];
  const kinds = BRANDED_MAILS.map((one) => {
    const chosen = one === kind ? html` selected` : '';
    return html`<option value="${one}"${chosen}>${texts.kinds[one]}</option>`;
  });
  const language =
    page.culture === undefined ? '' : html`<input type="hidden" name="culture" value="${page.culture}">`;
  const named = lines(placeholders.map((name) => html`<code>{${name}}</code>`));
  const content = html`<input type="hidden" name="kind" value="${kind}">
<label for="subject">${texts.subject}</label>
<input id="subject" name="subject" maxlength="${MAX_SUBJECT}" value="${entries.value('subject', own?.subject ?? '')}"${entries.marks('subject', 'words-hint')}>
${entries.fault('subject')}<label for="introduction">${texts.introduction}</label>
<textarea id="introduction" name="introduction" rows="5" maxlength="${MAX_INTRODUCTION}"${entries.marks('introduction', 'words-hint')}>${entries.value('introduction', own?.introduction ?? '')}</textarea>
${entries.fault('introduction')}<p class="hint" id="words-hint">${texts.hint} ${named}</p>
<p class="ways"><button type="submit">${texts.saveMail}</button></p>`;
  return html`<section aria-labelledby="mail-title"><h2 id="mail-title">${texts.mails}</h2>
<form method="get" action="${PATH}#mail-title" class="filter">${language}
<div><label for="kind">${texts.kind}</label>
<select id="kind" name="kind">${kinds}</select></div>
<button type="submit">${texts.show}</button>
</form>
${form(page, user, `${PATH}/mail`, content, html` enctype="multipart/form-data"`)}
<h3 id="preview-title">${texts.preview}</h3>
<p id="preview-state" class="hint" role="status" aria-live="polite"></p>
<div role="group" aria-labelledby="preview-title"><p><strong id="preview-subject"><bdi>${preview.subject}</bdi></strong></p>
<pre id="preview-text">${preview.text}</pre></div>
<p class="ways"><a class="button" href="${addressFrom(page, `${PATH}/preview?kind=${kind}`)}" target="_blank" rel="noopener">${texts.asMail}</a></p>
</section>`;
}
