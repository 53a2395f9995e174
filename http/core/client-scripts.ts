/** Serves the compiled scripts of `web/` to browsers: all files of a page below one prefix. */

/** Scripts that both services serve; the others belong to one service. */
const SHARED = new Set(['dom.js']);
const SHARED_FOLDER = /(["'])\.\.\/\.\.\/client\//g;
/** The source map comment; source maps are not served. */
const SOURCE_MAP = /\n\/\/# sourceMappingURL=\S+\s*$/;

/** Location of a compiled script. @param name known file name, never a client's text */
export function clientScriptUrl(service: 'batch' | 'portal', name: string): URL {
  const folder = SHARED.has(name) ? 'client' : `${service}/client`;
  return new URL(`../../web/${folder}/${name}`, import.meta.url);
}

/** Rewrites imports of shared scripts to the prefix of the page, and removes the source map comment. */
export function servedScript(text: string): string {
  return text.replace(SHARED_FOLDER, '$1./').replace(SOURCE_MAP, '\n');
}
