/**
 * Serves the compiled scripts of `web/` to browsers: all files of a page below one prefix.
 *
 * Source: docs/decisions/0150-short-scripts-without-a-minifier.md.
 */

/** Scripts that both services serve; the others belong to one service. */
const SHARED = new Set(['dom.js']);
/** Folder of a script among those of its service, by name; the others lie directly in `client/`. */
const SENDER = [
  'branding.js',
  'editor.js',
  'editor-files.js',
  'editor-faults.js',
  'editor-model.js',
  'pasted-members.js',
  'editor-people.js',
  'editor-places.js',
  'new-version.js',
  'sender-requests.js',
  'session-editor.js',
  'upload-progress.js',
];
/** Folder of a script that the server uses too, by name. */
const BASE: { readonly [name: string]: string } = {
  'algorithm.js': 'asn1',
  'asn1-error.js': 'asn1',
  'ber-header.js': 'asn1',
  'ber-reader.js': 'asn1',
  'tags.js': 'asn1',
  'password-derivation.js': 'pkcs12',
  'password-encryption.js': 'pkcs12',
  'pkcs12-reader.js': 'pkcs12',
};
/** Beginning of an import from another folder, which all are served from one. */
const OTHER_FOLDER = /(["'])(?:\.\.\/){1,3}(?:client\/|(?:base\/)?(?:asn1|pkcs12)\/)?(?=[\w-]+\.js["'])/g;
/** The source map comment; source maps are not served. */
const SOURCE_MAP = /\n\/\/# sourceMappingURL=\S+\s*$/;
/** Indentation, a sixth of a compiled script. No template literal of the scripts spans lines, which a test checks. */
const INDENTATION = /^ +/gm;

/** Location of a compiled script. @param name known file name, never a client's text */
export function clientScriptUrl(service: 'batch' | 'portal', name: string): URL {
  const base = service === 'portal' ? BASE[name] : undefined;
  if (base !== undefined) return new URL(`../../base/${base}/${name}`, import.meta.url);
  const own = SENDER.includes(name) ? `${service}/client/sender` : `${service}/client`;
  const folder = SHARED.has(name) ? 'client' : own;
  return new URL(`../../web/${folder}/${name}`, import.meta.url);
}

/** Rewrites imports from other folders to the prefix of the page; removes indentation and the source map comment. */
export function servedScript(text: string): string {
  return text.replace(OTHER_FOLDER, '$1./').replace(SOURCE_MAP, '\n').replace(INDENTATION, '');
}
