import test from 'ava';
import {
  isBlank,
  isolated,
  plainLine,
  plainText,
  shownFileName,
  visibleText,
} from '../../contracts/plain-text.ts';

test('invisible characters are removed from user texts, and visible ones kept', (t) => {
  for (const hidden of [0x202a, 0x202e, 0x2066, 0x2069, 0x200e, 0x200f, 0x61c, 0x200b, 0x2060, 0xfeff, 0xad])
    t.is(plainLine(`a${String.fromCodePoint(hidden)}b`), 'ab', hidden.toString(16));
  for (const filler of [0x3164, 0xffa0, 0x115f, 0x180e, 0xfff9, 0xe0041])
    t.is(plainLine(`a${String.fromCodePoint(filler)}b`), 'ab', filler.toString(16));
  t.is(plainLine('a\u2028b\tc\r\nd\ud800'), 'a b c d');
  t.is(plainText(' a\r\nb\u2029c\n'), 'a\nb c');
  t.is(plainLine('An\u200ca\u200d'), 'Ana', 'joiners between letters that do not join');
  t.is(visibleText('Cafe\u0301\n'), 'Café\n');
  t.is(visibleText('Cafe\u200b\u0301'), 'Café', 'one spelling, also of what something unseen kept apart');
  // Persian and Sinhala words, a family, a heart in red.
  for (const kept of ['می\u200cخواهم', 'ශ්\u200dරී', '👩\u200d👧', '❤\ufe0f', 'Łódź', '東京'])
    t.is(plainLine(kept), kept);
});

test('a right-to-left name is isolated from the surrounding words', (t) => {
  t.is(isolated('Ana'), 'Ana');
  t.is(isolated('דנה\u2069 (\u202e'), '\u2068דנה (\u2069', 'and cannot end that itself');
});

test('a text is blank when nothing of it is seen', (t) => {
  for (const blank of [
    '',
    ' \t\n',
    '\u200b',
    '\u00a0\u3000',
    '\u200d',
    '\ufe0f',
    '\u2800',
    '\u3164',
    '\ud800',
    '\u{e0041}',
  ])
    t.true(isBlank(blank), JSON.stringify(blank));
  for (const seen of ['0', '\u200bA', '\u2800\u2801', '👩\u200d👧', '.'])
    t.false(isBlank(seen), JSON.stringify(seen));
});

test('the name of a file cannot reorder or end its line, and is otherwise kept', (t) => {
  t.is(shownFileName('annex\u202efdp.exe'), 'annex_fdp.exe');
  t.is(shownFileName('a\nb\u0085\u2028\u2066c\u2069.pdf'), 'a_b___c_.pdf');
  for (const kept of ['cafe\u0301.pdf', '\u0646\u200c\u0647.pdf', '\u05d0\u200f 1.pdf'])
    t.is(shownFileName(kept), kept);
});
