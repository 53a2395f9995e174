/** Puts the name of a test file before the titles of its tests, for files that share a process. */
export function named(test, file) {
  const declare =
    (one) =>
    (title, ...rest) =>
      typeof title === 'string'
        ? one(`${file} › ${title}`, ...rest)
        : one(`${file} › ${titleOf(title, rest)}`, title, ...rest);
  // A macro brings its own title.
  const titleOf = (macro, rest) => macro.title?.(undefined, ...rest) ?? '';
  const wrap = (one) =>
    new Proxy(declare(one), {
      get: (_, name) => (['serial', 'failing', 'skip', 'only'].includes(name) ? wrap(one[name]) : one[name]),
    });
  return wrap(test);
}
