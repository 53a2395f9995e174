import { systemIds } from '@sealwright/runtime';
import test from 'ava';
import { MAX_TEXT_TAGS, withTextTags } from '../../../../actors/portal/documents/text-tags.ts';
import type { NewFlowAction } from '../../../../contracts/portal/flow.ts';
import type { ActionPlan } from '../../../../machines/portal/portal-types.ts';
import { plan } from '../../../machines/portal/document-harness.ts';

test('the names of actions are read once for all tags of a file', (t) => {
  let reads = 0;
  const input = {
    get title() {
      reads += 1;
      return 'Buyer';
    },
    user: { name: 'Ana', email: 'ana@example.org' },
    confirmations: [],
  } as unknown as NewFlowAction;
  const place = { topLeftX: 10, topLeftY: 10, width: 80, height: 12, pageNumber: 1 };
  const tags = Array.from({ length: MAX_TEXT_TAGS / 5 }, (_, index) => ({
    ...{ text: `text:buyer:field ${index}`, place, cover: place },
  }));
  const plans: readonly ActionPlan[] = [plan('a1', { allowElectronicSignature: true })];
  const { actions } = withTextTags(plans, [input], tags, { ids: systemIds, uploadId: undefined });
  t.is(actions[0]?.fields?.length, tags.length);
  t.true(reads <= 2, `${reads} reads`);
});
