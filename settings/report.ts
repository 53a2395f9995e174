/** What a start is told about its configuration: faults that refuse it, warnings that do not. */

export interface Fault {
  /** Key or file it is about. */
  readonly key: string;
  /** The rule that was broken, as the rest of a sentence that begins with the key. */
  readonly rule: string;
  /** The value found and where; absent for secrets and where nothing was found. */
  readonly found?: string;
}

export interface Warning {
  readonly key: string;
  /** The rest of a sentence that begins with the key. */
  readonly text: string;
}

/** One line for people. */
export function faultLine(fault: Fault): string {
  return `${fault.key} ${fault.rule}${fault.found === undefined ? '' : ` (${fault.found})`}.`;
}

/** One line for people. */
export function warningLine(warning: Warning): string {
  return `${warning.key} ${warning.text}.`;
}
