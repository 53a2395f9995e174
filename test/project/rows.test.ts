import { readFileSync } from 'node:fs';
import test from 'ava';

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

for (const { of, page, atLeast } of [
  { of: 'batch service', page: 'test/requirements/batch.md', atLeast: 150 },
  { of: 'portal over HTTP', page: 'test/requirements/portal.md', atLeast: 70 },
]) {
  test(`every row of the ${of} names an existing test`, (t) => {
    const text = readFileSync(page, 'utf8');
    const rows = rowsOf(text);
    const lines = text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| row '));
    t.is(rows.length, lines.length, 'each line of a table is a row');
    t.true(rows.length > atLeast);
    for (const { row, file, words } of rows) {
      const source = readFileSync(`test/${file}.test.ts`, 'utf8');
      t.true(isIn(source, words), `${row}: test/${file}.test.ts has no test with the words "${words}"`);
    }
    t.false(
      isIn(readFileSync('test/http/batch/jobs.test.ts', 'utf8'), 'no test says this'),
      'it would be noticed',
    );
  });
}
