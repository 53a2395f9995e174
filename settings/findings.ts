/** Result of checking the configuration: faults, which refuse it, and warnings. */

export interface Fault {
  /** The key or file. */
  readonly key: string;
  /** The broken rule, as the rest of a sentence that begins with the key. */
  readonly rule: string;
  /** The value found and where; absent for secrets and where nothing was found. */
  readonly found?: string;
}

export interface Warning {
  readonly key: string;
  /** The rest of a sentence that begins with the key. */
  readonly text: string;
}

/** Formats a fault as one line. */
export function faultLine(fault: Fault): string {
  return `${fault.key} ${fault.rule}${fault.found === undefined ? '' : ` (${fault.found})`}.`;
}

/** Formats a warning as one line. */
export function warningLine(warning: Warning): string {
  return `${warning.key} ${warning.text}.`;
}
