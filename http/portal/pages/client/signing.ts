/** Starts the signing page: shows the document, and makes the forms that are on the page work. */

import { showAfterwards } from './afterwards.ts';
import { showDocument } from './document-view.ts';
import { maybe, type Part, part } from './dom.ts';
import type { PageSize } from './initials.ts';
import { attempt, finish, lacking } from './outcome.ts';
import { pageData, type SigningData } from './page-data.ts';
import { tellParent } from './parent-window.ts';
import { post } from './requests.ts';

const data = pageData<SigningData>();
const { words } = data;

const showing = maybe('#document') === undefined ? undefined : showDocument(data).catch(() => undefined);

/** Also where the preview is hidden; none for files without pages. */
async function pageSizes(): Promise<readonly PageSize[]> {
  const shown = await showing;
  if (shown !== undefined) return shown.pageSizes();
  if (data.mimeType !== 'application/pdf') return [];
  const { pageSizesOf } = await import('./pdf-library.ts');
  return pageSizesOf(data.content);
}

/** The participant has acted: says so here and to the page around. */
function done(text: string, type: 'documentSigned' | 'documentApproved' | 'documentRefused'): void {
  finish(text);
  tellParent({ type, id: data.documentId }, data.embedOrigins);
  void showAfterwards(data);
}

function signed(text: string): void {
  done(text, 'documentSigned');
}

/** From now on the form does something. */
function switchOn(form: Part | undefined): void {
  for (const button of form?.querySelectorAll('button') ?? []) button.disabled = false;
}

const approval = maybe('#approval');
approval?.addEventListener('submit', (event) => {
  event.preventDefault();
  void attempt(approval, data, async () => {
    await post(data, 'approval', { disableNotifications: data.disableNotifications });
    done(words.approved, 'documentApproved');
  });
});
switchOn(approval);

const refusal = maybe('#refusal');
refusal?.addEventListener('submit', (event) => {
  event.preventDefault();
  const field = part('#reason');
  const reason = field.value.trim();
  if (reason === '') return lacking(field, words.reasonNeeded);
  void attempt(refusal, data, async () => {
    await post(data, 'participant-refusal', { reason });
    done(words.refused, 'documentRefused');
  });
});
switchOn(refusal);

const electronic = maybe('#electronic');
const certificate = maybe('#certificate');
for (const choice of [...part('body').querySelectorAll('input[name="how"]')]) {
  choice.addEventListener('change', () => {
    if (electronic !== undefined) electronic.hidden = choice.value !== 'electronic';
    if (certificate !== undefined) certificate.hidden = choice.value !== 'certificate';
  });
}
if (electronic !== undefined) {
  const { startElectronic } = await import('./electronic.ts');
  startElectronic(electronic, data, pageSizes, () => signed(words.signed));
  switchOn(electronic);
}
if (certificate !== undefined) {
  const { startCertificate } = await import('./certificate.ts');
  startCertificate(certificate, data, pageSizes, signed);
  switchOn(certificate);
}
