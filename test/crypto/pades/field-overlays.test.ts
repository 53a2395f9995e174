/** Text fields filled in after signing: the appearance may show the value, and nothing else. */
import test from 'ava';
import { roundsOf } from '../../project/rounds.ts';
import { appendRevision, stream } from '../pdf/build.ts';
import { type FilledField, forgedFillings, honestFillings } from './field-overlays.ts';
import {
  contract,
  edited,
  PAGE,
  reportOn,
  signed,
  TEXT_FIELD,
  textField,
} from './validation/attack-files.ts';

/** Root of the page tree. */
const PAGES = 2;

/** Of so many updates one is looked at, of each of the six kinds; a release looks at all. */
const STRIDE = roundsOf(5, 1);

function outcome(pdf: Buffer): 'passed' | 'undecided' | 'failed' {
  const [signature] = reportOn(pdf).signatures;
  if (signature?.indication === 'TOTAL-PASSED') return 'passed';
  return signature?.indication === 'INDETERMINATE' ? 'undecided' : 'failed';
}

function* everyNth(fillings: Iterable<FilledField>): Generator<FilledField> {
  let count = 0;
  for (const filling of fillings) if (count++ % STRIDE === 0) yield filling;
}

test('a field that differs from its value, or hides the page, never passes', (t) => {
  const outcomes = { passed: 0, undecided: 0, failed: 0 };
  const accepted: string[] = [];
  for (const { pdf, description } of everyNth(forgedFillings())) {
    const found = outcome(pdf);
    outcomes[found]++;
    if (found === 'passed') accepted.push(description);
  }
  const { passed, undecided, failed } = outcomes;
  t.log(`false accepts ${passed} of ${passed + undecided + failed} generated; ${undecided} undecided`);
  t.deepEqual(accepted, []);
});

test('a field that shows its value passes in the output of any form filler', (t) => {
  const refused: string[] = [];
  let count = 0;
  for (const { pdf, description } of everyNth(honestFillings())) {
    count++;
    const found = outcome(pdf);
    if (found !== 'passed') refused.push(`${found}: ${description}`);
  }
  t.log(`${count} generated`);
  t.deepEqual(refused, []);
});

test('changes after signing are listed in the results of the signature', (t) => {
  const [honest] = honestFillings();
  const [signature] = reportOn(honest?.pdf ?? Buffer.alloc(0)).signatures;
  const listed = signature?.results.passedChecks.find(({ type }) => type === 'pdf.changes');
  t.regex(listed?.detail ?? '', /filled in the field Name/);
});

/** The outcome of a white fill with the value, after a document is changed before it is signed. */
function filledWhite(change: (objects: Map<number, string>) => void): string {
  const pdf = signed(contract(change));
  const white = stream(
    '/Type /XObject /Subtype /Form /BBox [0 0 180 30] /Resources << /Font << /F1 3 0 R >> >>',
    '1 g 0 0 180 30 re f 0 g BT /F1 9 Tf 2 4 Td (100) Tj ET',
  );
  const update = [edited(pdf, TEXT_FIELD, '(x)', '(100)'), [31, white]] as const;
  return outcome(appendRevision(pdf, new Map(update)));
}

const placed = (objects: Map<number, string>, rectangle: string): void => {
  objects.set(TEXT_FIELD, textField('(x)', 31).replace('[20 20 90 40]', rectangle));
};
const BLANK = '[10 130 190 160]';
const TEXT = '[10 90 190 120]';

test('a field in the inherited annotations of a page may not hide the content', (t) => {
  const written = (rectangle: string) =>
    filledWhite((objects) => {
      placed(objects, rectangle);
      objects.set(PAGES, (objects.get(PAGES) ?? '').replace(`${PAGE} 0 R`, objects.get(PAGE) ?? ''));
    });
  t.is(written(BLANK), 'passed');
  t.is(written(TEXT), 'failed');
});

test('a field that two pages list may hide the content of neither', (t) => {
  const listed = (rectangle: string) =>
    filledWhite((objects) => {
      placed(objects, rectangle);
      const page = objects.get(PAGE) ?? '';
      objects.set(90, page.replace(/\/Contents \d+ 0 R/, ''));
      objects.set(PAGES, (objects.get(PAGES) ?? '').replace(`${PAGE} 0 R`, `90 0 R ${PAGE} 0 R`));
    });
  t.is(listed(BLANK), 'passed');
  t.is(listed(TEXT), 'failed');
});

test('a field that no page lists leaves the signature undecided', (t) => {
  const unlisted = (rectangle: string) =>
    filledWhite((objects) => {
      placed(objects, rectangle);
      objects.set(PAGE, (objects.get(PAGE) ?? '').replace(`${TEXT_FIELD} 0 R`, ''));
    });
  t.is(
    filledWhite((objects) => placed(objects, BLANK)),
    'passed',
  );
  t.is(unlisted(TEXT), 'undecided');
});
