import test from 'ava';
import { html, lines, raw } from '../../contracts/texts/html.ts';
import { HOSTILE, hostilePages } from './hostile-pages.ts';

test('the html tag escapes text, keeps nested templates and raw HTML, and joins lists', (t) => {
  const name = `<b title="'&'">`;
  t.is(html`<p>${name}</p>`.text, '<p>&lt;b title=&quot;&#39;&amp;&#39;&quot;&gt;</p>');
  t.is(
    html`<p title="${name}">${1}${undefined}${html`<i>${name}</i>`}${raw('<hr>')}</p>`.text,
    [
      '<p title="&lt;b title=&quot;&#39;&amp;&#39;&quot;&gt;">1',
      '<i>&lt;b title=&quot;&#39;&amp;&#39;&quot;&gt;</i><hr></p>',
    ].join(''),
  );
  t.is(html`${['<', html`<br>`]}`.text, '&lt;<br>');
  t.is(lines([html`<br>`, '<']).text, '<br>\n&lt;');
});

test('a hostile name is escaped on every page', (t) => {
  for (const [name, page] of hostilePages()) {
    t.false(page.includes('<script>alert'), name);
    t.false(page.includes(HOSTILE), name);
    // Escaped twice would show the escapes to people; the text itself contains one.
    t.false(/&amp;(?:lt|gt|quot|#39);/.test(page), name);
    t.regex(page, /^<!doctype html>\n<html lang="en"/, name);
  }
});
