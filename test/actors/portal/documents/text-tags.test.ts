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
    text: `text:buyer:field ${index}`,
    place,
    cover: place,
  }));
  const plans: readonly ActionPlan[] = [plan('a1', { allowElectronicSignature: true })];
  const { actions } = withTextTags(plans, [input], tags, { ids: systemIds, uploadId: undefined });
  t.is(actions[0]?.fields?.length, tags.length);
  t.true(reads <= 2, `${reads} reads`);
});

test('a field that waits for a tag in another file may name that file in capitals, and its own file in capitals is its own', (t) => {
  const own = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
  const field = (uploadId: string) =>
    ({
      confirmations: [],
      user: { name: 'Ana' },
      fields: [{ type: 'Text', name: 'city', uploadId }],
    }) as never;
  const plans: readonly ActionPlan[] = [plan('a1', { allowElectronicSignature: true })];
  const withField = (uploadId: string) => () =>
    withTextTags(plans, [field(uploadId)], [], { ids: systemIds, uploadId: own });
  t.throws(withField(own), { code: 'InvalidTextTag' });
  t.throws(withField(own.toUpperCase()), { code: 'InvalidTextTag' }, 'the same file');
  t.notThrows(withField(own.replace('3', '4').toUpperCase()));
});
