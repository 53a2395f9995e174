// Before the first paint: the reader's choice of a theme. Without a choice it is that of the system.
try {
  const chosen = localStorage.getItem('theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // A page from a folder may have no storage.
}
