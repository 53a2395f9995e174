// The search of the documentation: loads its script with the first letter.
const field = document.getElementById('search');
const list = document.getElementById('found');
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

field.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    field.value = '';
    list.replaceChildren();
  }
});

function show() {
  const found = field.value.trim() === '' ? [] : globalThis.find(field.value);
  const items = found.map(({ to, page, heading }) => {
    const link = document.createElement('a');
    link.href = `${home}/${to}`;
    link.textContent = heading === '' ? page : `${page}: ${heading}`;
    const item = document.createElement('li');
    item.append(link);
    return item;
  });
  if (items.length === 0 && field.value.trim() !== '') {
    const item = document.createElement('li');
    item.textContent = 'Nothing found.';
    items.push(item);
  }
  list.replaceChildren(...items);
}
