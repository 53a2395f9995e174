import test from 'ava';
import { CONDITION_OPERATORS, FIELD_TYPES, type FieldType } from '../../../contracts/portal/words.ts';
import { type FieldCondition, OPERATORS_OF, shownFields } from '../../../machines/portal/conditions.ts';
import { actionsReleased, initialAction } from '../../../machines/portal/documents/document-flow.ts';
import { conditionFault } from '../../../machines/portal/documents/flow-conditions.ts';
import { excessOf } from '../../../machines/portal/documents/flow-limits.ts';
import { checkFieldValues, type DocumentField } from '../../../machines/portal/field-values.ts';
import { person, plan } from './document-harness.ts';

function field(name: string, given: Partial<DocumentField> = {}): DocumentField {
  return {
    id: `id-${name}`,
    name,
    type: 'Text',
    label: name,
    isRequired: false,
    place: null,
    formField: name,
    maxLength: 500,
    format: null,
    minimum: null,
    maximum: null,
    options: given.type === 'Choice' ? ['Basic', 'Full'] : [],
    ...given,
  };
}

const when = (...all: NonNullable<FieldCondition['all']>): FieldCondition => ({ all });

/** Values below, equal to and above the one that a condition names. */
const VALUES: { readonly [type in FieldType]: readonly [less: string, equal: string, more: string] } = {
  Text: ['a', 'b', 'c'],
  Number: ['9', '10', '10.0000000001'],
  Date: ['2029-12-31', '2030-01-01', '2030-01-02'],
  Checkbox: ['false', 'true', 'true'],
  Choice: ['Basic', 'Full', 'Full'],
  Initials: ['A', 'B', 'C'],
  Attachment: ['a.pdf', 'b.pdf', 'c.pdf'],
};
/** Results for a value that is empty, less, equal, more. */
const EXPECTED = {
  Equals: [false, false, true, false],
  NotEquals: [true, true, false, true],
  Above: [false, false, false, true],
  AtLeast: [false, false, true, true],
  Below: [false, true, false, false],
  AtMost: [false, true, true, false],
  IsFilled: [false, true, true, true],
  IsEmpty: [true, false, false, false],
} as const;

for (const type of FIELD_TYPES) {
  for (const operator of CONDITION_OPERATORS) {
    const [less, equal, more] = VALUES[type];
    const isOfType = OPERATORS_OF[type].includes(operator);
    const takes = operator !== 'IsFilled' && operator !== 'IsEmpty';
    const shownWhen = when({ field: 'tested', operator, ...(takes && { value: equal }) });
    const fields = [field('tested', { type }), field('asked', { shownWhen })];
    test(`${type} ${isOfType ? 'has' : 'has not'} ${operator}`, (t) => {
      const fault = conditionFault([{ step: 0, fields }]);
      if (!isOfType) t.regex(fault ?? '', new RegExp(`cannot have ${operator} for tested`));
      else t.is(fault, undefined);
      if (!isOfType) return;
      for (const [index, value] of ['', less, equal, more].entries()) {
        // A box without a value is not checked.
        const isSame = (type === 'Checkbox' || type === 'Choice') && value === equal;
        const wanted = EXPECTED[operator][type === 'Checkbox' && index === 0 ? 1 : isSame ? 2 : index];
        const shown = shownFields(fields, ({ name }) => (name === 'tested' ? value : ''), new Map());
        t.is(shown.has('asked'), wanted ?? false, `${value || 'empty'} ${operator} ${equal}`);
        const known = new Map([['tested', { type, value }]]);
        t.is(shownFields(fields.slice(1), () => '', known).has('asked'), wanted ?? false);
      }
    });
  }
}

test('numbers are compared exactly', (t) => {
  const equals = (value: string, other: string) => {
    const fields = [
      field('n', { type: 'Number' }),
      field('x', { shownWhen: when({ field: 'n', operator: 'Equals', value: other }) }),
    ];
    return shownFields(fields, ({ name }) => (name === 'n' ? value : ''), new Map()).has('x');
  };
  t.true(equals('1.10', '1.1'));
  t.true(equals('-0', '0'));
  t.true(equals('-0.5', '-0.50'));
  t.false(equals('999999999999999.0000000001', '999999999999999'));
  t.false(equals('0.1', '0.10000000001'));
  t.false(equals('1e1', '10'));
});

test('all of all and one of any must hold, and a hidden field counts as empty', (t) => {
  const fields = [
    field('plan', { type: 'Choice' }),
    field('rent', { type: 'Number', shownWhen: when({ field: 'plan', operator: 'Equals', value: 'Full' }) }),
    field('bank', {
      shownWhen: {
        all: [{ field: 'rent', operator: 'Above', value: '100' }],
        any: [
          { field: 'city', operator: 'Equals', value: 'Braga' },
          { field: 'city', operator: 'IsEmpty' },
        ],
      },
    }),
    field('city'),
  ];
  const shown = (values: Record<string, string>) => [
    ...shownFields(fields, ({ name }) => values[name] ?? '', new Map()).keys(),
  ];
  t.deepEqual(shown({}), ['plan', 'city']);
  t.deepEqual(shown({ plan: 'Full' }), ['plan', 'rent', 'city']);
  t.deepEqual(shown({ plan: 'Full', rent: '101' }), ['plan', 'rent', 'bank', 'city']);
  t.deepEqual(shown({ plan: 'Full', rent: '101', city: 'Faro' }), ['plan', 'rent', 'city']);
  t.deepEqual(shown({ plan: 'Basic', rent: '101' }), ['plan', 'city']);
});

test('one of two fields can be required', (t) => {
  const empty = (name: string) => when({ field: name, operator: 'IsEmpty' });
  const fields = [
    field('phone', { requiredWhen: empty('mail') }),
    field('mail', { requiredWhen: empty('phone') }),
  ];
  t.is(conditionFault([{ step: 0, fields }]), undefined);
  t.deepEqual([...checkFieldValues(fields, {}).faults.keys()], ['phone', 'mail']);
  t.is(checkFieldValues(fields, { mail: 'a@b.pt' }).faults.size, 0);
});

test('a value for a hidden field is refused, and that of the sender is left out', (t) => {
  const shownWhen = when({ field: 'married', operator: 'Equals', value: 'true' });
  const fields = [
    field('married', { type: 'Checkbox' }),
    field('spouse', { shownWhen, isRequired: true, presetValue: 'Bo' }),
    field('since', { shownWhen, presetValue: '2030', isReadOnly: true }),
    field('both', { shownWhen, type: 'Checkbox', isRequired: true }),
  ];
  const hidden = checkFieldValues(fields, { spouse: '', both: false });
  t.is(hidden.faults.size, 0);
  t.deepEqual(
    hidden.values.map(({ name }) => name),
    ['married'],
  );
  for (const [name, value] of [
    ['spouse', 'Cy'],
    ['spouse', 'false'],
    ['spouse', 7],
    ['since', '2030'],
    ['both', true],
    ['both', 'yes'],
    ['spouse', { toString: 'x' }],
  ] as const)
    t.deepEqual(
      [...checkFieldValues(fields, { [name]: value }).faults],
      [[name, 'The condition of this field hides it.']],
    );
  const shown = checkFieldValues(fields, { married: true, spouse: 'Cy', both: true });
  t.is(shown.faults.size, 0);
  t.deepEqual(
    shown.values.map(({ value }) => value),
    ['true', 'Cy', '2030', 'true'],
  );
});

const asks = (tested: string, more: Partial<DocumentField> = {}) =>
  field('asked', { shownWhen: when({ field: tested, operator: 'IsFilled' }), ...more });
const withValue = (
  value: string | undefined,
  tested: Partial<DocumentField>,
  operator = 'Equals' as const,
) => [
  {
    step: 0,
    fields: [
      field('tested', tested),
      field('asked', {
        shownWhen: when({ field: 'tested', operator, ...(value !== undefined && { value }) }),
      }),
    ],
  },
];
for (const [what, actions, fault] of [
  [
    'a field of an earlier step',
    [
      { step: 0, fields: [field('a')] },
      { step: 1, fields: [asks('a')] },
    ],
    undefined,
  ],
  [
    'no field of the document',
    [{ step: 0, fields: [asks('a')] }],
    /names a, which is no field of the document/,
  ],
  [
    'a field of the same step',
    [
      { step: 1, fields: [field('a')] },
      { step: 1, fields: [asks('a')] },
    ],
    /another participant fills in at the same time or later/,
  ],
  [
    'a field of a later step',
    [
      { step: 2, fields: [field('a')] },
      { step: 1, fields: [asks('a')] },
    ],
    /another participant fills in at the same time or later/,
  ],
  ['the field itself', [{ step: 0, fields: [asks('asked')] }], /^The fields asked, asked are each shown/],
  [
    'a cycle',
    [
      {
        step: 0,
        fields: [
          field('a', { shownWhen: when({ field: 'b', operator: 'IsFilled' }) }),
          field('b', { shownWhen: { any: [{ field: 'c', operator: 'IsFilled' }] } }),
          field('c', { shownWhen: when({ field: 'a', operator: 'IsEmpty' }) }),
        ],
      },
    ],
    /^The fields a, b, c, a are each shown by a condition on the next/,
  ],
  [
    'no option',
    withValue('None', { type: 'Choice' }),
    /has no good value for tested: The value must be one of/,
  ],
  ['no number', withValue('ten', { type: 'Number' }), /has no good value for tested/],
  ['no day', withValue('2030-02-30', { type: 'Date' }), /has no good value for tested/],
  ['no box', withValue('yes', { type: 'Checkbox' }), /has no good value for tested/],
  ['an open box', withValue('false', { type: 'Checkbox', isRequired: true }), undefined],
  ['nothing', withValue(undefined, {}), /has Equals for tested without a value/],
] as const)
  test(`a condition on ${what} is ${fault === undefined ? 'taken' : 'refused'}`, (t) => {
    const found = conditionFault(actions);
    if (fault === undefined) t.is(found, undefined);
    else t.regex(found ?? '', fault);
  });

test('a document has at most a thousand tests, and a long chain of fields is decided at once', (t) => {
  const chain = Array.from({ length: 100 }, (_, index) =>
    field(
      `f${index}`,
      index === 0 ? {} : { shownWhen: when({ field: `f${index - 1}`, operator: 'IsFilled' }) },
    ),
  );
  t.is(conditionFault([{ step: 0, fields: chain.toReversed() }]), undefined);
  const shown = shownFields(chain.toReversed(), () => 'x', new Map());
  t.is(shown.size, 100);
  const tests = Array.from({ length: 1001 }, () => ({ field: 'f0', operator: 'IsFilled' as const }));
  const action = { type: 'Signer' as const, user: null, ruleUsers: [] };
  const fields = [field('f0'), field('f1', { shownWhen: { all: tests } })];
  t.like(excessOf([{ ...action, fields }]), { most: 1000 });
});

const amountAbove = (value: string) => when({ field: 'amount', operator: 'Above', value });
const amounts = field('amount', { type: 'Number' });

test('an action takes part if its condition holds when its step begins', (t) => {
  const flow = [
    plan('clerk', { fields: [amounts] }),
    plan('chief', { step: 1, takesPartWhen: amountAbove('100') }),
    plan('director', { step: 2, takesPartWhen: amountAbove('1000') }),
    plan('archive', { step: 3 }),
  ].map((one) => ({ ...initialAction(one, 1), user: person(one.id) }));
  t.is(conditionFault(flow), undefined);
  const statuses = (amount: string) => {
    const done = flow.map((one) => (one.step === 0 ? { ...one, status: 'Completed' as const } : one));
    const made = [{ values: [{ fieldId: amounts.id, name: 'amount', value: amount }] }];
    const { actions, skipped } = actionsReleased(done, 2, made);
    t.is(skipped.length, actions.filter(({ status }) => status === 'Skipped').length);
    return actions.slice(1).map(({ status }) => status);
  };
  t.deepEqual(statuses('100'), ['Skipped', 'Skipped', 'Pending']);
  t.deepEqual(statuses('100.01'), ['Pending', 'Created', 'Created']);
  t.deepEqual(statuses('1001'), ['Pending', 'Created', 'Created']);
  t.deepEqual(statuses(''), ['Skipped', 'Skipped', 'Pending']);
  const own = [{ step: 0, fields: [amounts], takesPartWhen: amountAbove('1') }];
  t.regex(conditionFault(own) ?? '', /an action of step 0 names amount, which another participant/);
});

test('fields of a cycle would be hidden, and the decision ends', (t) => {
  const fields = [
    field('a', { shownWhen: when({ field: 'b', operator: 'IsFilled' }) }),
    field('b', { shownWhen: when({ field: 'a', operator: 'IsFilled' }) }),
  ];
  t.is(shownFields(fields, () => 'x', new Map()).size, 0);
});
