/**
 * Content negotiation between HTML and JSON.
 *
 * Source: RFC 9110 §12.5.1, "Accept".
 */

/** True when a browser requests a page: the path is outside the API, and `Accept` prefers HTML. */
export function isPagePath(path: string, accept: string): boolean {
  return !/^\/api(\/|$)/.test(path) && prefersHtml(accept);
}

/** True when an `Accept` header prefers HTML to JSON; false without a preference. */
export function prefersHtml(accept: string): boolean {
  const weights = weightsOf(accept);
  const weightOf = (type: string) =>
    weights.get(type) ?? weights.get(`${type.split('/')[0]}/*`) ?? weights.get('*/*') ?? 0;
  const json = Math.max(weightOf('application/json'), weightOf('application/problem+json'));
  return weightOf('text/html') > json;
}

/** True when an `Accept` header names JSON, and does not name XML with the same or a higher weight. */
export function asksForJson(accept: string): boolean {
  const weights = weightsOf(accept);
  const xml = Math.max(weights.get('application/xml') ?? 0, weights.get('text/xml') ?? 0);
  return (weights.get('application/json') ?? 0) > xml;
}

/** The weight of each range, as written. */
function weightsOf(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const weight = quality === undefined ? 1 : Number(quality.slice(quality.indexOf('=') + 1));
    weights.set(type, Math.max(weights.get(type) ?? 0, Number.isFinite(weight) ? weight : 0));
  }
  return weights;
}
