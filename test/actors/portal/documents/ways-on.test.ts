import test from 'ava';
import type { DocumentActor } from '../../../../actors/portal/document-records/document-index.ts';
import { cannotCancel, wrongStatus } from '../../../../actors/portal/document-records/document-messages.ts';
import { PORTAL_REFUSALS } from '../../../../contracts/portal/refusals.ts';

test('a refusal names the status of the document and the possible actions', (t) => {
  const plain = PORTAL_REFUSALS.InvalidDocumentStatus.title;
  for (const [state, words] of [
    ['Pending', /flow actions/],
    ['FlowConcluded', /being concluded/],
    ['Concluded', /concluded/],
    ['Refused', /send a new version/],
    ['Canceled', /create another/],
    ['Expired', /create another/],
  ] as const) {
    const { code, message } = wrongStatus({ state });
    t.is(code, 'InvalidDocumentStatus');
    t.true(message.startsWith(plain) && /^[ -~]*$/.test(message), message);
    t.regex(message.slice(plain.length), words);
  }
  t.is(cannotCancel({ state: 'Expired' } as DocumentActor), 'CannotCancelExpiredDocument');
  t.regex(PORTAL_REFUSALS.CannotCancelExpiredDocument.title, /need not be/);
});
