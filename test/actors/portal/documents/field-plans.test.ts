import test from 'ava';
import { assertFieldFiles, planFields } from '../../../../actors/portal/documents/field-plans.ts';
import type { NewField } from '../../../../contracts/portal/flow.ts';

const FIRST = '7d444840-9dc0-11d1-b245-5ffdce74fad2';
const SECOND = '8d444840-9dc0-11d1-b245-5ffdce74fad2';
const PLACE = { topLeftX: 1, topLeftY: 2, width: 30, height: 10, pageNumber: 1 };
const FIELDS: readonly NewField[] = [
  { name: 'city', uploadId: FIRST, ...PLACE },
  { name: 'date', uploadId: SECOND.toUpperCase(), ...PLACE },
  { name: 'everywhere', ...PLACE },
];
const ids = { uuid: () => 'id' };

function namesOn(uploadId: string): readonly string[] {
  const file = { uploadId, pagesBefore: 0, pages: undefined, lastPage: 1 };
  return planFields(FIELDS, [file], { ids }).map(({ name }) => name);
}

test('a field that names a file is in the document of this file alone', (t) => {
  t.deepEqual(namesOn(FIRST), ['city', 'everywhere']);
  t.deepEqual(namesOn(SECOND), ['date', 'everywhere']);
  t.is(planFields(FIELDS, [], { ids }).length, 3, 'checked before the files are known');
});

test('a field of a file that is not in the call is refused', (t) => {
  t.notThrows(() => assertFieldFiles([{ fields: FIELDS }], [{ id: FIRST.toUpperCase() }, { id: SECOND }]));
  t.throws(() => assertFieldFiles([{ fields: FIELDS }], [{ id: FIRST }]), { code: 'InvalidFlowAction' });
});

test('a read-only field needs a value other than spaces', (t) => {
  for (const value of [undefined, '', '  ', '\u200b'])
    t.throws(() => planFields([{ name: 'rent', ...PLACE, value, readOnly: true }], [], { ids }), {
      code: 'InvalidFieldValue',
    });
  const [field] = planFields([{ name: 'rent', ...PLACE, value: ' ', readOnly: false }], [], { ids });
  t.is(field?.presetValue, undefined);
});
