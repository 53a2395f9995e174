/** Refusals in the form of the protocol. Source: RFC 7644 §3.12. */

export type ScimErrorType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness';

export class ScimRefusal extends Error {
  /** @param message for people */
  constructor(
    readonly status: 400 | 404 | 409 | 412,
    message: string,
    readonly scimType?: ScimErrorType,
  ) {
    super(message);
    this.name = 'ScimRefusal';
  }
}

export function invalid(scimType: ScimErrorType, message: string): ScimRefusal {
  return new ScimRefusal(scimType === 'uniqueness' ? 409 : 400, message, scimType);
}
