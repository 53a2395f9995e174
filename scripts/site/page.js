// Search, theme, contents on a phone, and copy buttons of the documentation. Without it all pages can be read.
const field = document.getElementById('search');
const list = document.getElementById('found');
const count = document.getElementById('found-count');
const home = document.body.dataset.home;
let loading;

field.addEventListener('input', () => {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${home}/search.js`;
    script.addEventListener('load', resolve);
    script.addEventListener('error', reject);
    document.head.append(script);
  });
  loading.then(show);
});

document.addEventListener('keydown', (event) => {
  const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === 'Escape' && field.parentElement.contains(event.target)) {
    field.value = '';
    show();
    field.focus();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const stops = [field, ...list.querySelectorAll('a')];
    const at = stops.indexOf(event.target);
    const next = at === -1 ? undefined : stops[at + (event.key === 'ArrowDown' ? 1 : -1)];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  }
});

field.addEventListener('keydown', (event) => {
  const [first] = list.querySelectorAll('a');
  if (event.key === 'Enter' && first !== undefined) first.click();
});

function show() {
  const isAsked = field.value.trim() !== '';
  const found = isAsked ? globalThis.find(field.value) : [];
  const items = found.map(({ to, page, heading }) => {
    const link = document.createElement('a');
    link.href = `${home}/${to}`;
    link.textContent = heading === '' ? page : heading;
    if (heading !== '') {
      const from = document.createElement('small');
      from.textContent = page;
      link.append(' ', from);
    }
    const item = document.createElement('li');
    item.append(link);
    return item;
  });
  list.replaceChildren(...items);
  count.textContent = !isAsked ? '' : items.length === 0 ? 'Nothing found.' : `${items.length} found`;
}

const root = document.documentElement;
const theme = document.getElementById('theme');
theme.hidden = false;
theme.addEventListener('click', () => {
  const isDark =
    root.dataset.theme === 'dark' ||
    (root.dataset.theme === undefined && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset.theme = isDark ? 'light' : 'dark';
  nameTheme();
  try {
    localStorage.setItem('theme', root.dataset.theme);
  } catch {
    // The choice is then that of this page.
  }
});
function nameTheme() {
  const isDark =
    root.dataset.theme === 'dark' ||
    (root.dataset.theme === undefined && matchMedia('(prefers-color-scheme: dark)').matches);
  theme.textContent = isDark ? 'Light' : 'Dark';
  theme.setAttribute('aria-label', isDark ? 'Light theme' : 'Dark theme');
}
nameTheme();

const menu = document.getElementById('menu');
menu.hidden = false;
document.body.classList.add('scripted');
menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('open');
  menu.setAttribute('aria-expanded', String(isOpen));
});

for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = 'Press Ctrl+C';
    }
    button.addEventListener('blur', () => (button.textContent = 'Copy'), { once: true });
  });
  const frame = document.createElement('div');
  frame.className = 'code';
  block.replaceWith(frame);
  frame.append(block, button);
}
