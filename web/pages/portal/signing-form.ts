/**
 * Forms of the signing page as HTML. The scripts in `client/` enable their buttons, which have no function before.
 */

import type { SigningPageView } from '../../../actors/portal/api.ts';
import { type Html, html } from '../../../contracts/texts/html.ts';
import { fieldsForm } from './fields-form.ts';
import { filled, type PageTexts } from './texts.ts';

type Action = NonNullable<SigningPageView['action']>;

/** The available actions, most likely first. `refusing`: offers refusing; `alone`: there is no other participant. */
export function actionForms(
  action: Action,
  words: PageTexts,
  { refusing, alone }: { readonly refusing: boolean; readonly alone: boolean },
): Html {
  const approves = action.type === 'Approver' || action.type === 'ApproverRule';
  const main = approves
    ? approvalForm(words)
    : html`${fieldsForm(action.fields ?? [], words)}${signingForms(action, words)}`;
  return refusing ? html`${main}\n${refusalForm(words, alone)}` : main;
}

function approvalForm({ signing }: PageTexts): Html {
  return html`<form id="approval" novalidate>
<p class="hint">${signing.approveHint}</p>
<button type="submit" class="main" data-primary disabled>${signing.approve}</button>
</form>`;
}

function signingForms(action: Action, words: PageTexts): Html {
  if (!action.allowElectronicSignature) return certificateForm(action, words, false);
  const { signing } = words;
  return html`<fieldset class="choice"><legend>${signing.how}</legend>
<label><input type="radio" name="how" value="electronic" checked> ${signing.byName}</label>
<label><input type="radio" name="how" value="certificate"> ${signing.byCertificate}</label>
</fieldset>
${electronicForm(action, words)}
${certificateForm(action, words, true)}`;
}

function electronicForm(action: Action, words: PageTexts): Html {
  const { signing } = words;
  return html`<form id="electronic" novalidate>
<label for="typed-name">${signing.name}</label>
<input id="typed-name" autocomplete="name" maxlength="200" required aria-describedby="typed-name-hint" value="${action.participant.name ?? ''}">
<p class="hint" id="typed-name-hint">${signing.nameHint}</p>
${lookFields(action, words)}
${action.needsEmailCode ? codeFields(action, words) : ''}${initialsField(action, words, 'electronic-initials')}
<label class="tick"><input type="checkbox" id="with-location"> ${signing.location}</label>
<p class="hint">${signing.signHint}</p>
<button type="submit"${action.needsEmailCode ? '' : html` class="main" data-primary`} disabled>${signing.sign}</button>
</form>`;
}

/** Names of the handwritings: packages of fonts. */
const HANDS = ['caveat', 'dancing-script', 'homemade-apple'];

function lookFields({ participant }: Action, { signing }: PageTexts): Html {
  const hands = HANDS.map((hand, index) => {
    const label = filled(signing.lookHand, { number: String(index + 1) });
    return html`<label><input type="radio" name="look" value="${hand}" aria-label="${label}"> <span class="hand" data-hand="${hand}">${participant.name ?? label}</span></label>\n`;
  });
  return html`<details id="look"><summary>${signing.look}</summary>
<fieldset class="choice"><legend>${signing.lookLegend}</legend>
<label><input type="radio" name="look" value="plain" checked> ${signing.lookPlain}</label>
${hands}<label><input type="radio" name="look" value="drawn"> ${signing.lookDrawn}</label>
<label><input type="radio" name="look" value="picture"> ${signing.lookPicture}</label>
</fieldset>
<div id="drawing" hidden>
<p class="hint" id="drawing-hint">${signing.drawHint}</p>
<canvas id="drawing-area" class="drawing" role="img" aria-label="${signing.drawArea}" aria-describedby="drawing-hint"></canvas>
<p class="ways"><button type="button" id="drawing-undo" disabled>${signing.undo}</button><button type="button" id="drawing-clear" disabled>${signing.clear}</button> <span id="drawing-state" role="status"></span></p>
</div>
<div id="picture" hidden>
<label for="picture-file">${signing.pictureFile}</label>
<input id="picture-file" type="file" accept="image/png,image/jpeg,image/webp">
</div>
<img id="look-preview" class="preview" alt="${signing.lookPreview}" hidden>
</details>`;
}

function codeFields(action: Action, { signing }: PageTexts): Html {
  const values = { email: action.maskedEmail ?? '' };
  return html`<fieldset><legend>${signing.confirm}</legend>
<p class="hint" id="code-hint">${filled(signing.codeHint, values)}</p>
<p><button type="button" id="send-code" class="main" data-primary disabled>${filled(signing.sendCode, values)}</button></p>
<label for="email-code">${signing.code}</label>
<input id="email-code" class="code" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required aria-describedby="code-hint">
</fieldset>
`;
}

function certificateForm(action: Action, words: PageTexts, hidden: boolean): Html {
  const { signing } = words;
  // The inputs have no names, so a browser without scripts cannot send them.
  return html`<form id="certificate" novalidate${hidden ? html` hidden` : ''}>
<label for="certificate-file">${signing.file}</label>
<input id="certificate-file" type="file" accept=".p12,.pfx,application/x-pkcs12" required aria-describedby="certificate-hint">
<label for="certificate-password">${signing.password}</label>
<input id="certificate-password" type="password" autocomplete="off" aria-describedby="certificate-hint">
<p class="hint" id="certificate-hint">${signing.staysHere}</p>
${initialsField(action, words, 'certificate-initials')}
<button type="submit" class="main" data-primary disabled>${signing.sign}</button>
</form>`;
}

function initialsField({ initialsMode }: Action, { signing }: PageTexts, id: string): Html {
  if (initialsMode === 'None') return html``;
  if (initialsMode === 'Required') return html`<p class="hint">${signing.initialsRequired}</p>`;
  return html`<label class="tick"><input type="checkbox" id="${id}"> ${signing.initials}</label>`;
}

function refusalForm({ signing }: PageTexts, alone: boolean): Html {
  return html`<details id="refusing"><summary>${signing.refuse}</summary>
<form id="refusal" novalidate>
<label for="reason">${signing.reason}</label>
<textarea id="reason" rows="3" maxlength="512" required aria-describedby="reason-hint"></textarea>
<p class="hint" id="reason-hint">${alone ? signing.refuseHintAlone : signing.refuseHint}</p>
<button type="submit" class="bad" disabled>${signing.refuseFinally}</button>
</form>
</details>`;
}
