import { PORTAL_REFUSALS, type PortalRefusalCode } from '../../contracts/portal/refusals.ts';

/** The caller's doing: answered with the status of its code, changes nothing. Matched on `code`, not on its class. */
export class PortalRefusal extends Error {
  readonly code: PortalRefusalCode;
  /** Flat; for status 422 and others. */
  readonly details: Readonly<Record<string, string>> | undefined;
  /** Request member → what is wrong with it. Answers have it with status 400; pages show it beside the field. */
  readonly errors: Readonly<Record<string, readonly string[]>> | undefined;
  /** Whole seconds to wait before trying again; sent as Retry-After. */
  readonly retryAfterSeconds: number | undefined;
  /** @param message ASCII. @default that of the table */
  constructor(
    code: PortalRefusalCode,
    message: string = PORTAL_REFUSALS[code].title,
    more: {
      readonly details?: Readonly<Record<string, string>>;
      readonly errors?: Readonly<Record<string, readonly string[]>>;
      readonly retryAfterSeconds?: number;
    } = {},
  ) {
    super(message);
    this.name = 'PortalRefusal';
    this.code = code;
    this.details = more.details;
    this.errors = more.errors;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

/** The refusal of a request for one of its members. */
export function badMember(member: string, message: string): PortalRefusal {
  return new PortalRefusal('BadRequest', message, { errors: { [member]: [message] } });
}

/** As `badMember`. @param fault of the member, such as `is required` */
export function badField(member: string, fault: string): PortalRefusal {
  return badMember(member, `The ${member} field ${fault}.`);
}

/** Runs all checks, and refuses with the members at fault of all of them, so that a person corrects them at once. */
export function checkTogether(checks: readonly (() => unknown)[]): void {
  const refusals: PortalRefusal[] = [];
  for (const check of checks) {
    try {
      check();
    } catch (error) {
      if (!(error instanceof PortalRefusal) || error.errors === undefined) throw error;
      refusals.push(error);
    }
  }
  const [first] = refusals;
  if (first === undefined) return;
  const errors = Object.assign({}, ...refusals.map((refusal) => refusal.errors));
  throw new PortalRefusal(first.code, first.message, { errors });
}

/** Of a participant, a field or a mark. */
export function invalidAction(message: string): PortalRefusal {
  return new PortalRefusal('InvalidFlowAction', message);
}

export function tooMany(what: string, most: number): PortalRefusal {
  return new PortalRefusal('LimitExceeded', `There may be at most ${most} ${what}.`);
}
