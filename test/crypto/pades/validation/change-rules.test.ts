/** The closed rule on changes after signing: each entry of its tables, at each level, with a lock of the field and without. */
import test from 'ava';
import { WorkBudget } from '#crypto/core/work-budget.js';
import { decisionOn } from '#crypto/pades/validation/change-policy.js';
import {
  CHANGE_KINDS,
  type ChangeKind,
  type Decision,
  ENTRY_RULES,
  type Level,
} from '#crypto/pades/validation/change-rules.js';
import { differencesBetween } from '#crypto/pades/validation/differences.js';
import { DocumentState, SharedReferences } from '#crypto/pades/validation/document-state.js';
import { ObjectComparison } from '#crypto/pades/validation/object-comparison.js';
import { bufferSource } from '#crypto/pdf/index.js';
import { reportOn, signed } from './attack-files.ts';
import {
  type ChangeCase,
  changeCases,
  FORM_DATA,
  JUDGED,
  OTHER_FORM_DATA,
  otherDocument,
  ruledDocument,
  UNNAMED,
  unnamed,
} from './change-cases.ts';

const LEVELS: readonly Level[] = ['none', 1, 2, 3];

/** The decisions once more, as none, 1, 2, 3 and under a lock, to be changed by hand. */
const DECISIONS = `
forbidden           refuse     refuse  refuse     refuse
continuation        permit     permit  permit     permit
upkeep              permit     permit  permit     permit
tagging             permit     refuse  permit     permit
evidence            permit     permit  permit     permit
evidence-lost       warn       warn    warn       warn
timestamp           permit     permit  permit     permit
trace               permit     permit  permit     permit
metadata            permit     refuse  permit     permit
noticed             warn       refuse  warn       warn
padding             warn       undecided  warn    warn
stray               undecided  undecided  undecided  undecided
setting             permit     refuse  permit     permit
unlisted            warn       refuse  warn       warn
entry               permit     refuse  permit     permit     locked
fill                permit     refuse  permit     permit     locked
redrawn             warn       refuse  warn       warn
fill-open           undecided  refuse  undecided  undecided  locked
form-data           warn       refuse  warn       warn
form-data-open      undecided  refuse  undecided  undecided
signature           permit     refuse  permit     permit     locked
signature-over      warn       refuse  warn       warn       locked
new-signature       warn       refuse  refuse     refuse     locked
new-signature-over  warn       refuse  refuse     refuse     locked
signature-over-look  undecided  refuse  refuse    refuse     locked
signature-hides     refuse     refuse  refuse     refuse     locked
comment             warn       refuse  refuse     permit
comment-drawn       warn       refuse  refuse     warn
comment-changed     warn       refuse  refuse     warn
comment-window      warn       refuse  refuse     warn
comment-file        warn       refuse  refuse     warn
comment-open        undecided  refuse  refuse     undecided
`;

test('each kind of change is decided by level and lock as written here too', (t) => {
  const rows = Object.entries(CHANGE_KINDS).map(([kind, rule]) =>
    [kind, ...rule.decisions, ...('isLocked' in rule ? ['locked'] : [])].join(' '),
  );
  const written = DECISIONS.trim()
    .split('\n')
    .map((line) => line.replace(/ +/g, ' '));
  t.deepEqual(rows, written);
});

/** The decision that the tables give. */
function decided(kind: ChangeKind, level: Level, isLocked: boolean): Decision {
  const rule = CHANGE_KINDS[kind];
  if (isLocked && 'isLocked' in rule) return 'refuse';
  return rule.decisions[LEVELS.indexOf(level)] ?? 'refuse';
}

const RANKS: readonly Decision[] = ['permit', 'warn', 'undecided', 'refuse'];

interface Judged {
  readonly decision: Decision;
  /** True when the change is in the report. */
  readonly isListed: boolean;
}

/** Decides on a file by its report. */
function reported(pdf: Buffer): Judged {
  const { signatures } = reportOn(pdf);
  const record = signatures.find(({ name }) => name === JUDGED) ?? signatures[0];
  const isListed = (record?.changes.length ?? 0) > 0;
  if (record?.indication === 'TOTAL-FAILED') return { decision: 'refuse', isListed };
  if (record?.indication !== 'TOTAL-PASSED') return { decision: 'undecided', isListed };
  const isWarned = record.results.warnings.some(({ type }) => /^pdf\.(?!signer)/.test(type));
  return { decision: isWarned ? 'warn' : 'permit', isListed };
}

/** Decides on an update by its changes alone, where no signature can be made. */
function classified(before: Buffer, after: Buffer, level: Level, isLocked: boolean): Judged {
  const shared = new SharedReferences(new WorkBudget({ limit: 1_000_000 }));
  const [old, now] = [before, after].map(
    (bytes) => new DocumentState(bufferSource(after), bytes.length, shared),
  );
  if (old === undefined || now === undefined) throw new Error('no state');
  const changes = differencesBetween(new ObjectComparison(old, now));
  const policy = { level, certifies: level !== 'none', isUnknown: false, locks: () => isLocked };
  const decisions = changes.map((change) => decisionOn(change, policy).decision);
  const worst = decisions.toSorted((one, other) => RANKS.indexOf(other) - RANKS.indexOf(one))[0];
  return { decision: worst ?? 'refuse', isListed: changes.length > 0 };
}

const bases = new Map<string, Buffer>();

/** A document whose judged signature has a level and a lock. */
function base(level: Level, isLocked: boolean): Buffer {
  const name = `${level} ${isLocked}`;
  const known =
    bases.get(name) ??
    signed(ruledDocument(isLocked), {
      fieldName: JUDGED,
      ...(level === 'none' ? {} : { certification: level }),
    });
  bases.set(name, known);
  return known;
}

function judge({ update, isUnsigned, document }: ChangeCase, level: Level, isLocked: boolean): Judged {
  const before = document === undefined ? base(level, isLocked) : otherDocument(document);
  const after = update(before);
  return isUnsigned === true || document !== undefined
    ? classified(before, after, level, isLocked)
    : reported(after);
}

const CELLS = LEVELS.flatMap((level) => [false, true].map((isLocked) => ({ level, isLocked })));
const cases = changeCases();
const places = [...new Set(ENTRY_RULES.map(({ place }) => place))];

test('the signed documents pass as they are', (t) => {
  for (const { level, isLocked } of CELLS)
    t.deepEqual(reported(base(level, isLocked)), { decision: 'permit', isListed: false });
});

test('each entry that the rule names has an honest case and a forged one', (t) => {
  const named = ENTRY_RULES.flatMap(({ place, keys }) => keys.map((key) => `${place}/${key}`));
  t.is(new Set(named).size, named.length, 'an entry has one row');
  t.deepEqual(Object.keys(cases).toSorted(), named.toSorted());
  t.is(Object.keys(cases).length * CELLS.length * 2, 2 * 8 * named.length);
});

for (const place of places) {
  test(`${place}: every entry is listed and decided at each level, with a lock and without`, (t) => {
    const wrong: string[] = [];
    let count = 0;
    for (const [name, { honest, forged }] of Object.entries(cases)) {
      if (!name.startsWith(`${place}/`)) continue;
      for (const { level, isLocked } of CELLS) {
        for (const [which, one] of [
          ['honest', honest],
          ['forged', forged],
        ] as const) {
          const { decision, isListed } = judge(one, level, isLocked);
          const wanted = decided(one.kind, level, isLocked);
          count++;
          if (decision !== wanted || !isListed)
            wrong.push(
              `${which} ${name} at ${level}${isLocked ? ', locked' : ''}: ${decision}, not ${wanted}`,
            );
        }
      }
    }
    const keys = ENTRY_RULES.filter((rule) => rule.place === place).flatMap((rule) => rule.keys);
    t.is(count, keys.length * CELLS.length * 2);
    t.deepEqual(wrong, []);
  });
}

for (const [name, one] of Object.entries({ ...FORM_DATA, ...OTHER_FORM_DATA }))
  test(`XFA data with ${name}`, (t) => {
    for (const { level, isLocked } of CELLS) {
      const wanted = decided(one.kind, level, isLocked);
      t.deepEqual(judge(one, level, isLocked), { decision: wanted, isListed: true }, `at ${level}`);
    }
  });

for (const [place, number, keys] of UNNAMED) {
  test(`${place}: an entry that the rule does not name fails`, (t) => {
    const pdf = base(3, false);
    for (const key of keys.split(' ')) {
      t.false(
        ENTRY_RULES.some((rule) => rule.place === place && rule.keys.includes(key)),
        key,
      );
      t.deepEqual(reported(unnamed(pdf, number, key)), { decision: 'refuse', isListed: true }, key);
    }
  });
}
