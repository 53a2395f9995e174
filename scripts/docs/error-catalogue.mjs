/** Renders docs/errors.md from the code tables of both APIs. */
import { JOB_REMEDIES } from '../../dist/machines/batch/job-remedies.js';
import { BATCH_REMEDIES, PORTAL_REMEDIES } from './error-remedies.mjs';

const HEAD = `# Error codes

This page is made from the code tables (\`node scripts/write-docs.mjs\`); a test compares them.
Programs decide by the code. Codes are never renamed; texts may change.
`;

/**
 * @param batch code → { status, title } of the batch service; status null: recorded, never answered
 * @param portal code → { status, title } of the portal
 * @throws when a code has no remedy, or a remedy no code
 */
export function errorCatalogue(batch, portal) {
  const recorded = Object.entries(batch).filter(([, { status }]) => status === null);
  const titles = Object.fromEntries(recorded.map(([code, { title }]) => [code, title]));
  const answered = Object.entries(batch).filter(([, { status }]) => status !== null);
  requireSameKeys('BATCH_REMEDIES', Object.fromEntries(answered), BATCH_REMEDIES);
  requireSameKeys('PORTAL_REMEDIES', portal, PORTAL_REMEDIES);
  return `${HEAD}
## Batch service

Errors are problem bodies (RFC 9457, \`application/problem+json\`) with the members \`type\`, \`title\`, \`status\`, \`code\`, \`traceId\` and
\`requestId\`. With status 400, \`errors\` names the members of the request. Outside Production, \`detail\` says what happened this time.

${table(answered.map(([code, { status, title }]) => [code, status, title, BATCH_REMEDIES[code]]))}
## Portal

Status 400 has the members \`code\`, \`message\` and \`errors\`; 404 has \`message\`, \`resourceName\` and \`resourceId\`; all others have \`code\`,
\`message\` and \`details\`. The message of an answer may be more exact than the one below.

${table(Object.entries(portal).map(([code, { status, title }]) => [code, status, title, PORTAL_REMEDIES[code]]))}
## Failed jobs

These codes are recorded as \`errorCode\` of a job (\`GET /api/jobs/{id}\`). A retry takes the original file again.

| Code | Cause and remedy |
|---|---|
${Object.entries({ ...titles, ...JOB_REMEDIES })
  .map(([code, text]) => [code, code in titles ? `${titles[code]} ${text}` : text])
  .map(([code, text]) => `| \`${code}\` | ${text} |`)
  .join('\n')}
`;
}

function table(rows) {
  const lines = rows.map(
    ([code, status, title, remedy]) =>
      `| \`${code}\` | ${status} | ${title.replace(/(?<!\.)$/, '.')} ${remedy} |`,
  );
  return `| Code | Status | Meaning, and what to do |\n|---|---|---|\n${lines.join('\n')}\n`;
}

function requireSameKeys(name, codes, remedies) {
  const missing = Object.keys(codes).filter((code) => !Object.hasOwn(remedies, code));
  const unknown = Object.keys(remedies).filter((code) => !Object.hasOwn(codes, code));
  if (missing.length + unknown.length > 0) {
    throw new Error(
      `scripts/docs/error-remedies.mjs, ${name}: no remedy for ${missing.join(', ') || 'none'}; no such code: ${unknown.join(', ') || 'none'}`,
    );
  }
}
