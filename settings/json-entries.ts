/** Reads configuration files: JSON with comments and trailing commas, flattened to keys. Parsed by jsonc-parser. */
import jsonc from 'jsonc-parser';

/**
 * Position and reason of a syntax error. Lines and columns count from 1. It never repeats the text around the position,
 * which may be a password.
 */
export class JsonFault extends Error {
  constructor(reason: string, line: number, character: number) {
    super(`${reason} at line ${line + 1}, column ${character + 1}`);
    this.name = 'JsonFault';
  }
}

/** A value of the file. Its key has the names and indexes on the way to it, joined by colons. */
interface JsonEntry {
  readonly key: string;
  /** Numbers and booleans as text; undefined for `null`; empty for an empty list. */
  readonly text: string | undefined;
  /** True when the value replaces everything below the key: `null` and the empty list. */
  readonly whole: boolean;
}

/** Nesting limit. The parser is recursive; deeper files would overflow the stack. */
const MAX_DEPTH = 64;

const REASONS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'Not a value',
  InvalidNumberFormat: 'Not a number',
  PropertyNameExpected: 'A member name in double quotes is expected',
  ValueExpected: 'A value is expected',
  ColonExpected: 'A colon is expected after the member name',
  CommaExpected: 'A comma or a closing bracket is expected',
  CloseBraceExpected: 'A closing brace is expected',
  CloseBracketExpected: 'A closing bracket is expected',
  EndOfFileExpected: 'More text after the end',
  InvalidCommentToken: 'A comment is not closed',
  UnexpectedEndOfComment: 'A comment is not closed',
  UnexpectedEndOfString: 'A string is not closed on its line',
  UnexpectedEndOfNumber: 'Not a number',
  InvalidUnicode: 'Four hexadecimal digits are expected',
  InvalidEscapeCharacter: 'An unknown escape',
  InvalidCharacter: 'A control character must be written as an escape',
};

/**
 * Returns the values of a file in their order; of members with one name, the last one counts.
 * @throws JsonFault, also when the file does not contain an object
 */
export function readJsonEntries(text: string): readonly JsonEntry[] {
  const entries: JsonEntry[] = [];
  let depth = 0;
  /** Key of a list that has no entry yet. */
  let emptyList: string | undefined;
  const enter = (line: number, character: number) => {
    emptyList = undefined;
    depth += 1;
    if (depth > MAX_DEPTH) throw new JsonFault('Nested too deeply', line, character);
  };
  const member = (line: number, character: number) => {
    if (depth === 0)
      throw new JsonFault('The file must contain one JSON object, not another value', line, character);
  };
  // Some editors begin a file with a byte order mark.
  jsonc.visit(
    text.replace(/^\ufeff/, ''),
    {
      onObjectBegin: (_offset, _length, line, character) => enter(line, character),
      onObjectEnd: () => {
        depth -= 1;
      },
      // biome-ignore lint/complexity/useMaxParams: the library's
      onArrayBegin(_offset, _length, line, character, path) {
        member(line, character);
        enter(line, character);
        emptyList = path().join(':');
      },
      onArrayEnd() {
        depth -= 1;
        if (emptyList !== undefined) entries.push({ key: emptyList, text: '', whole: true });
        emptyList = undefined;
      },
      // biome-ignore lint/complexity/useMaxParams: the library's
      onLiteralValue(value: unknown, _offset, _length, line, character, path) {
        member(line, character);
        emptyList = undefined;
        const isNull = value === null;
        entries.push({ key: path().join(':'), text: isNull ? undefined : String(value), whole: isNull });
      },
      // biome-ignore lint/complexity/useMaxParams: the library's
      onError(code, _offset, _length, line, character) {
        throw new JsonFault(REASONS[jsonc.printParseErrorCode(code)] ?? 'Not JSON', line, character);
      },
    },
    { allowTrailingComma: true },
  );
  return entries;
}
