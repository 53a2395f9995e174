/** Names a browser and its system in words, by what the browser said of itself. */

/** The first one that the text has counts: most browsers name others, too. */
const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Version/', 'Safari'],
] as const;
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Macintosh', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** The text itself where it is of no known browser. */
export function deviceName(userAgent: string): string {
  const named = (list: readonly (readonly [part: string, name: string])[]) =>
    list.find(([part]) => userAgent.includes(part))?.[1];
  const browser = named(BROWSERS);
  const system = named(SYSTEMS);
  return browser === undefined || system === undefined ? userAgent : `${browser}, ${system}`;
}
