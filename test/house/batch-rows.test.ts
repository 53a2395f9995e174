import { readFileSync } from 'node:fs';
import test from 'ava';

const PAGE = 'docs/batch-rows.md';

interface RowOfPage {
  readonly row: string;
  readonly file: string;
  readonly words: string;
}

function rowsOf(text: string): readonly RowOfPage[] {
  return text.split('\n').flatMap((line) => {
    const [, row, file, words] = /^\| (.+) \| `([\w/-]+)` \| (.+) \|$/.exec(line) ?? [];
    return row === undefined || file === undefined || words === undefined ? [] : [{ row, file, words }];
  });
}

/** Words as a source may hold them: quotes inside a string are escaped. */
function isIn(source: string, words: string): boolean {
  return source.includes(words) || source.includes(words.replaceAll("'", "\\'"));
}

test('every row of the batch service is proven by a test that there is', (t) => {
  const text = readFileSync(PAGE, 'utf8');
  const rows = rowsOf(text);
  const lines = text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| row '));
  t.is(rows.length, lines.length, 'each line of a table is a row');
  t.true(rows.length > 150);
  for (const { row, file, words } of rows) {
    const source = readFileSync(`test/${file}.test.ts`, 'utf8');
    t.true(isIn(source, words), `${row}: test/${file}.test.ts has no test with the words "${words}"`);
  }
  t.false(isIn(readFileSync('test/http/jobs.test.ts', 'utf8'), 'no test says this'), 'it would be noticed');
});
