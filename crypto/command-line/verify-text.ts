/** A validation report as people read it on a terminal. Nothing from a file reaches the terminal unescaped. */
import {
  type Indication,
  type ListIssue,
  qualificationText,
  type SignatureQualification,
  type SignatureRecord,
  type TimestampRecord,
  type ValidationItem,
  type ValidationResults,
} from '../core/validation-report.ts';
import { policyName } from '../validation/icp-brasil.ts';
import { escapeControls, painter, type Terminal } from './terminal.ts';
import type { FileVerdict, Opinion, VerifyOptions } from './verify-verdict.ts';

type Paint = ReturnType<typeof painter>;

/** Width of the widest label; values start in one column. */
const LABEL = 11;

export function verdictText(verdict: FileVerdict, options: VerifyOptions, terminal: Terminal): string {
  const paint = painter(terminal);
  const { report, error, format, ok } = verdict;
  const file = paint.bold(escapeControls(verdict.file));
  const mark = ok ? paint.green('good') : paint.red('BAD ');
  if (report === null) {
    const why = `${escapeControls(error?.message ?? 'It failed.')} ${paint.dim(`(${error?.code ?? 'unknown'})`)}`;
    return `${mark}  ${file}  ${paint.dim(format)}\n  ${paint.red('FAIL')}  ${why}\n`;
  }
  const count = report.signatures.length;
  const counted = count === 1 ? '1 signature' : `${count} signatures`;
  const lines = [
    `${mark}  ${file}  ${paint.dim(`${format}, ${counted}`)}  ${indicationText(report, paint)}${revocationText(options)}`,
    ...failureLines(report.results, '  ', paint),
    ...report.signatures.flatMap((signature) => signatureLines(signature, '  ', paint)),
  ];
  if (verdict.independent !== undefined) lines.push(...agreementLines(verdict.independent, paint));
  if (!options.chain) {
    lines.push(`  ${paint.dim('note')}  --no-chain: whose certificate it is was not checked`);
  } else if (options.trust.length === 0 && count > 0) {
    const listed = options.trustLists === undefined ? [] : ['services of the trusted lists'];
    const names = [...(options.own?.names ?? []), ...listed];
    const trusted =
      names.length === 0
        ? 'nobody is trusted; --no-chain checks integrity alone'
        : `trusted: ${names.join(', ')}`;
    lines.push(`  ${paint.dim('note')}  no --trust given: ${escapeControls(trusted)}`);
  }
  return `${lines.join('\n')}\n`;
}

const AGREEMENTS = {
  agrees: 'an independent implementation agrees',
  disagrees: 'an independent implementation disagrees',
  'not-comparable': 'the independent implementation cannot judge all of it',
} as const;

function agreementLines({ verdict, details }: Opinion, paint: Paint): string[] {
  const mark = verdict === 'disagrees' ? paint.red('FAIL') : paint.dim('note');
  const more = details.length === 0 ? '' : `: ${escapeControls(details.join(' '))}`;
  return [`  ${mark}  ${AGREEMENTS[verdict]}${more}`];
}

/** States the limits of the verdict: the checks that were left out. */
function revocationText({ chain, online, revocation }: VerifyOptions): string {
  if (!chain) return '';
  if (revocation === 'none') return ', revocation not looked at';
  return online === true ? '' : ', revocation not asked outside the file';
}

function indicationText(
  { indication, subIndication }: { indication: Indication; subIndication?: string },
  paint: Paint,
): string {
  const text = subIndication === undefined ? indication : `${indication}: ${subIndication}`;
  return indication === 'TOTAL-PASSED'
    ? paint.green(text)
    : indication === 'INDETERMINATE'
      ? paint.yellow(text)
      : paint.red(text);
}

function signatureLines(signature: SignatureRecord, indent: string, paint: Paint): string[] {
  const { name, level, certificate, scope, results } = signature;
  const kind = signature.isTimestamp ? 'document time-stamp' : `level ${level ?? 'below B'}`;
  const inner = `${indent}  `;
  const line = (label: string, text: string) =>
    `${inner}${paint.dim(label.padEnd(LABEL))} ${escapeControls(text)}`;
  const lines = [
    `${indent}${paint.bold(escapeControls(name))}  ${indicationText(signature, paint)}  ${paint.dim(kind)}`,
  ];
  if (certificate !== undefined) {
    const { subjectName, companyName, identifier, emailAddress } = certificate;
    const known = [subjectName, companyName, identifier, emailAddress].filter((part) => part !== undefined);
    lines.push(line('signer', [...new Set(known)].join(', ')));
    lines.push(line('issued by', certificate.issuerName));
  }
  lines.push(line('time', timeText(signature)), line('covers', scope.description));
  for (const role of signature.claimedRoles ?? []) lines.push(line('claims', role));
  if (signature.reason !== undefined) lines.push(line('reason', signature.reason));
  if (signature.location !== undefined) lines.push(line('location', signature.location));
  if (signature.policy !== undefined) {
    const parts = [policyName(signature.policy), signature.policy].filter((part) => part !== undefined);
    lines.push(line('policy', parts.join(', ')));
  }
  if (signature.qualification !== undefined) lines.push(...qualificationLines(signature.qualification, line));
  const chain = chainText(results);
  if (chain !== undefined) lines.push(line('chain', chain));
  for (const timestamp of signature.timestamps) {
    lines.push(
      `${line('time-stamp', timestampText(timestamp))}, ${indicationText(timestamp, paint)}`,
      ...(timestamp.qualification?.reasons ?? []).map((reason) => line('', reason)),
      ...failureLines(timestamp.results, `${inner}  `, paint),
    );
  }
  for (const { revision, permitted, description } of signature.changes) {
    const word = permitted ? 'permitted' : 'NOT PERMITTED';
    lines.push(line('changed', `revision ${revision}: ${description} (${word})`));
  }
  lines.push(...failureLines(results, inner, paint));
  for (const counter of signature.counterSignatures) lines.push(...signatureLines(counter, inner, paint));
  return lines;
}

/** Lines about the qualification: its word, then why. */
function qualificationLines(
  qualification: SignatureQualification,
  line: (label: string, text: string) => string,
): string[] {
  const { provider, service, territory, list, reasons } = qualification;
  const parts = [service, provider, territory, list && issueText(list)];
  const listed = parts.filter((part) => part !== undefined).join(', ');
  const word = qualificationText(qualification);
  return [
    line('EU status', listed === '' ? word : `${word} (${listed})`),
    ...reasons.map((reason) => line('', reason)),
  ];
}

function timeText({ signingTime, bestTime, timestamps }: SignatureRecord): string {
  const claimed = signingTime === undefined ? 'none claimed' : `claimed ${date(signingTime)}`;
  const proven = timestamps.some(
    ({ kind, indication }) => kind !== 'content' && indication === 'TOTAL-PASSED',
  );
  return proven ? `${claimed}, proven ${date(bestTime)}` : `${claimed}, not proven`;
}

function timestampText({ kind, displayName, genTime, qualification }: TimestampRecord): string {
  const { list } = qualification ?? {};
  const listed =
    qualification === undefined
      ? ''
      : `, ${qualificationText(qualification)}${list === undefined ? '' : ` (${issueText(list)})`}`;
  return `${kind}, ${displayName}, ${genTime === undefined ? 'time unknown' : date(genTime)}${listed}`;
}

function issueText({ sequence, issued }: ListIssue): string {
  return `list ${sequence} of ${date(issued).slice(0, 10)}`;
}

/** Names from signer to root, where a path was found. */
function chainText(results: ValidationResults): string | undefined {
  const chain = [...results.passedChecks, ...results.errors].find(({ type }) => type === 'chain');
  return chain?.inner?.passedChecks.find(({ type }) => type === 'chain.path')?.detail;
}

function failureLines(results: ValidationResults, indent: string, paint: Paint): string[] {
  return [
    ...results.errors.flatMap((item) => itemLines(item, paint.red('FAIL'), indent, paint)),
    // A bad time-stamp or counter-signature is shown with its own reasons.
    ...results.warnings
      .filter(
        ({ type }) => !/^(timestamp\.(content|signature|archive|document)|counter-signature)$/.test(type),
      )
      .flatMap((item) => itemLines(item, paint.yellow('warn'), indent, paint)),
    ...results.passedChecks.flatMap(({ inner }) => innerWarnings(inner, indent, paint)),
  ];
}

/** Warnings about a valid chain, such as missing answers about revocation. */
function innerWarnings(inner: ValidationResults | undefined, indent: string, paint: Paint): string[] {
  return (inner?.warnings ?? []).flatMap((item) => itemLines(item, paint.yellow('warn'), indent, paint));
}

function itemLines(
  { message, detail, inner }: ValidationItem,
  mark: string,
  indent: string,
  paint: Paint,
): string[] {
  const more = detail === undefined ? '' : `  ${paint.dim(escapeControls(detail))}`;
  const [, ...others] = inner?.errors ?? [];
  return [
    `${indent}${mark}  ${escapeControls(message)}${more}`,
    // The first reason is in the message already.
    ...others.flatMap((item) => itemLines(item, paint.red('FAIL'), `${indent}  `, paint)),
  ];
}

function date(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}
