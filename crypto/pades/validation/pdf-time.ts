/**
 * Parses a date (ISO 32000-2, 7.9.4) to milliseconds since the epoch; undefined for anything else. UTC without a
 * zone.
 */
export function readPdfTime(text: string | undefined): number | undefined {
  const parts = FORM.exec(text ?? '');
  if (parts === null) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const at = Date.UTC(year, month - 1, day, hour, minute, second);
  if (new Date(at).getUTCDate() !== day || month > 12 || hour > 23 || minute > 59 || second > 59)
    return undefined;
  const [sign, hours = 0, minutes = 0] = [parts[7], Number(parts[8] ?? 0), Number(parts[9] ?? 0)];
  if (hours > 23 || minutes > 59) return undefined;
  const offset = (hours * 60 + minutes) * 60_000;
  return sign === '+' ? at - offset : sign === '-' ? at + offset : at;
}

const FORM =
  /^D:(\d{4})(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d)(?:(\d\d))?)?)?)?)?(?:Z(?:00'?(?:00'?)?)?|([+-])(\d\d)'?(?:(\d\d)'?)?)?$/;
