/**
 * Finds functions, constants and classes that are exported, and that no file imports by their name or re-exports.
 */

/** Files whose exports programs of others load. */
const LOADED_BY_OTHERS = /^clients\/n8n\//;
const DECLARATIONS = ['function', 'const', 'class'];

/**
 * Returns a line for each of them.
 * @param {{ path: string, list: import('./scan.mjs').Token[] }[]} files all files of the project
 */
export function exportFindings(files) {
  const imported = new Set(files.flatMap(({ list }) => importedNames(list)));
  return files
    .filter(({ path }) => !LOADED_BY_OTHERS.test(path))
    .flatMap(({ path, list }) =>
      exported(list)
        .filter(({ text }) => !imported.has(text))
        .map(
          ({ text, line }) =>
            `${path}:${line}: nothing imports ${text}; remove the export, or what it exports`,
        ),
    );
}

/** Names between the braces of imports and re-exports; every word of a file that imports a whole module. */
function importedNames(list) {
  const takesAll = list.some(
    ({ text, kind }, index) =>
      kind === 'word' && text === 'import' && ['(', '*'].includes(list[index + 1]?.text),
  );
  let isInside = false;
  return list.flatMap(({ kind, text }, index) => {
    const before = list[index - 1]?.text;
    if (text === '{' && ['import', 'export', 'type'].includes(before)) isInside = true;
    if (text === '}') isInside = false;
    return kind === 'word' && (isInside || (takesAll && !DECLARATIONS.includes(before))) ? [text] : [];
  });
}

function exported(list) {
  return list.flatMap(({ kind, text }, index) => {
    if (kind !== 'word' || text !== 'export') return [];
    const at = list[index + 1]?.text === 'async' ? index + 2 : index + 1;
    const name = list[list[at + 1]?.text === '*' ? at + 2 : at + 1];
    return DECLARATIONS.includes(list[at]?.text) && name?.kind === 'word' ? [name] : [];
  });
}
