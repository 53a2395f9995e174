/** Faults of the page tree, which programs mend in ways of their own: each of the table is named, before and after signing. */
import test from 'ava';
import { TREE_FAULTS } from '#crypto/pdf/document/page-tree.js';
import { contract, PAGE, reportOn, signed, verdicts } from './validation/attack-files.ts';

const PAGES = 2;
const SECOND = 12;

type Objects = Map<number, string>;
const body = (objects: Objects, number: number): string => objects.get(number) ?? '';
const kids =
  (list: string, count: number) =>
  (objects: Objects): void => {
    objects.set(PAGES, `<< /Type /Pages /Count ${count} /Kids [${list}] >>`);
  };

/** Makers of each fault, and where it is. */
const MAKERS: {
  readonly [fault in keyof typeof TREE_FAULTS]: readonly (readonly [number, (objects: Objects) => void])[];
} = {
  again: [
    [2, kids(`${PAGE} 0 R ${PAGE} 0 R ${SECOND} 0 R`, 3)],
    [3, kids(`${PAGE} 0 R ${SECOND} 0 R ${PAGES} 0 R`, 2)],
  ],
  direct: [
    [
      3,
      (objects) =>
        kids(
          `${PAGE} 0 R ${SECOND} 0 R ${body(objects, PAGE).replace(/\/Annots *\[[^\]]*\]/, '')}`,
          3,
        )(objects),
    ],
  ],
  missing: [
    [3, kids(`${PAGE} 0 R ${SECOND} 0 R 140 0 R`, 2)],
    [1, kids(`null ${PAGE} 0 R ${SECOND} 0 R`, 2)],
  ],
  kind: [
    [2, (objects) => objects.set(SECOND, body(objects, SECOND).replace('/Type /Page', '/Type /Template'))],
  ],
  parent: [
    [
      2,
      (objects) => {
        objects.set(SECOND, body(objects, SECOND).replace(`/Parent ${PAGES} 0 R`, '/Parent 140 0 R'));
        objects.set(140, '<< /Type /Pages /Count 0 /Kids [] /MediaBox [0 0 10 10] >>');
      },
    ],
  ],
  count: [[1, kids(`${PAGE} 0 R ${SECOND} 0 R`, 1)]],
};

for (const [fault, makers] of Object.entries(MAKERS)) {
  test(`a signed page tree with a fault of the kind "${fault}" passes with a warning that names it`, (t) => {
    for (const [page, change] of makers) {
      const pdf = signed(contract(change));
      t.deepEqual(verdicts(pdf), ['TOTAL-PASSED']);
      const [warning, ...more] = reportOn(pdf).results.warnings.filter(({ type }) => type === 'pdf.pages');
      t.deepEqual(more, []);
      const text = TREE_FAULTS[fault as keyof typeof TREE_FAULTS];
      t.true(warning?.detail?.includes(`page ${page} ${text}`), `${fault}: ${warning?.detail}`);
    }
  });
}

test('a page tree without a fault has no warning', (t) => {
  t.deepEqual(reportOn(signed(contract())).results.warnings, []);
});
