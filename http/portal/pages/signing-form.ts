/**
 * What a participant can fill in on the signing page, as HTML. The scripts in `client/` make it work, and switch its
 * buttons on: pressed before, they could do nothing.
 */
import type { SigningPageView } from '../../../actors/portal/api.ts';
import { escapeHtml } from '../../html.ts';
import { filled, type PageWords } from './texts/words.ts';

type Action = NonNullable<SigningPageView['action']>;

/** Everything that can be done, in the order of likelihood. @param refusing whether refusing is offered */
export function actionForms(action: Action, words: PageWords, refusing: boolean): string {
  const approves = action.type === 'Approver' || action.type === 'ApproverRule';
  const main = approves ? approvalForm(words) : signingForms(action, words);
  return refusing ? `${main}\n${refusalForm(words)}` : main;
}

function approvalForm({ signing }: PageWords): string {
  return `<form id="approval" novalidate>
<p class="hint">${escapeHtml(signing.approveHint)}</p>
<button type="submit" class="main" disabled>${escapeHtml(signing.approve)}</button>
</form>`;
}

function signingForms(action: Action, words: PageWords): string {
  if (!action.allowElectronicSignature) return certificateForm(action, words, false);
  const { signing } = words;
  return `<fieldset class="choice"><legend>${escapeHtml(signing.how)}</legend>
<label><input type="radio" name="how" value="electronic" checked> ${escapeHtml(signing.byName)}</label>
<label><input type="radio" name="how" value="certificate"> ${escapeHtml(signing.byCertificate)}</label>
</fieldset>
${electronicForm(action, words)}
${certificateForm(action, words, true)}`;
}

function electronicForm(action: Action, words: PageWords): string {
  const { signing } = words;
  return `<form id="electronic" novalidate>
<label for="typed-name">${escapeHtml(signing.name)}</label>
<input id="typed-name" autocomplete="name" maxlength="200" required aria-describedby="typed-name-hint" value="${escapeHtml(action.participant.name ?? '')}">
<p class="hint" id="typed-name-hint">${escapeHtml(signing.nameHint)}</p>
<details id="drawing"><summary>${escapeHtml(signing.draw)}</summary>
<p class="hint" id="drawing-hint">${escapeHtml(signing.drawHint)}</p>
<canvas id="drawing-area" class="drawing" role="img" aria-label="${escapeHtml(signing.drawArea)}" aria-describedby="drawing-hint"></canvas>
<p><button type="button" id="drawing-clear" disabled>${escapeHtml(signing.clear)}</button> <span id="drawing-state" role="status"></span></p>
</details>
${action.needsEmailCode ? codeFields(action, words) : ''}${initialsField(action, words, 'electronic-initials')}
<label class="tick"><input type="checkbox" id="with-location"> ${escapeHtml(signing.location)}</label>
<p class="hint">${escapeHtml(signing.signHint)}</p>
<button type="submit" class="main" disabled>${escapeHtml(signing.sign)}</button>
</form>`;
}

function codeFields(action: Action, { signing }: PageWords): string {
  const values = { email: action.maskedEmail ?? '' };
  return `<fieldset><legend>${escapeHtml(signing.confirm)}</legend>
<p class="hint" id="code-hint">${escapeHtml(filled(signing.codeHint, values))}</p>
<p><button type="button" id="send-code" disabled>${escapeHtml(filled(signing.sendCode, values))}</button></p>
<label for="email-code">${escapeHtml(signing.code)}</label>
<input id="email-code" class="code" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required aria-describedby="code-hint">
</fieldset>
`;
}

function certificateForm(action: Action, words: PageWords, hidden: boolean): string {
  const { signing } = words;
  // The inputs have no names: not even a browser without scripts could send them anywhere.
  return `<form id="certificate" novalidate${hidden ? ' hidden' : ''}>
<label for="certificate-file">${escapeHtml(signing.file)}</label>
<input id="certificate-file" type="file" accept=".p12,.pfx,application/x-pkcs12" required aria-describedby="certificate-hint">
<label for="certificate-password">${escapeHtml(signing.password)}</label>
<input id="certificate-password" type="password" autocomplete="off" aria-describedby="certificate-hint">
<p class="hint" id="certificate-hint">${escapeHtml(signing.staysHere)}</p>
${initialsField(action, words, 'certificate-initials')}
<button type="submit" class="main" disabled>${escapeHtml(signing.sign)}</button>
</form>`;
}

function initialsField({ initialsMode }: Action, { signing }: PageWords, id: string): string {
  if (initialsMode === 'None') return '';
  if (initialsMode === 'Required') return `<p class="hint">${escapeHtml(signing.initialsRequired)}</p>`;
  return `<label class="tick"><input type="checkbox" id="${id}"> ${escapeHtml(signing.initials)}</label>`;
}

function refusalForm({ signing }: PageWords): string {
  return `<details id="refusing"><summary>${escapeHtml(signing.refuse)}</summary>
<form id="refusal" novalidate>
<label for="reason">${escapeHtml(signing.reason)}</label>
<textarea id="reason" rows="3" maxlength="512" required aria-describedby="reason-hint"></textarea>
<p class="hint" id="reason-hint">${escapeHtml(signing.refuseHint)}</p>
<button type="submit" class="bad" disabled>${escapeHtml(signing.refuseFinally)}</button>
</form>
</details>`;
}
